// Datatypes in CSV on the Web metadata (W3C tabular-metadata §5.11): recognises them, and validates their descriptions.
// Pure.
import { typeNamed } from '../../../policies/datatypes.js'
import { isDatatype } from '../../rdf/graph.js'
import { isObject, type Json } from './csvw-json.js'
import { formatReader, isForm, formKindOf, fieldOrderOf, fieldsCompared } from './csvw-forms.js'

export interface CsvwDatatype {
  /** The name of a built-in datatype of XML Schema, or xml, html, json. */
  readonly base: string
  /** The datatype of the values, if it is another one. */
  readonly iri?: string
  readonly format?: unknown
  readonly bounds?: Bounds
}

export type Bounds = Partial<Record<'length' | 'minLength' | 'maxLength', number>> &
  Partial<Record<'minInclusive' | 'minExclusive' | 'maxInclusive' | 'maxExclusive', string>>

export const STRING: CsvwDatatype = { base: 'string' }

const ALIASES: Readonly<Record<string, string>> = {
  any: 'anyAtomicType',
  binary: 'base64Binary',
  datetime: 'dateTime',
  number: 'double',
}
const LENGTHS = ['length', 'minLength', 'maxLength'] as const
const LIMITS = ['minInclusive', 'minExclusive', 'maxInclusive', 'maxExclusive'] as const
const LIMIT_NAMES: Readonly<Record<string, string>> = { minimum: 'minInclusive', maximum: 'maxInclusive' }
const COMMON = /^[a-z][\w.+-]*:/i
/** In characters. */
const LONGEST = 1000

/** @param report receives unused properties @param refuse receives the reason why the metadata is invalid */
export function datatypeOf(
  value: unknown,
  report: (what: string) => void,
  refuse: (why: string) => void,
): CsvwDatatype | undefined {
  if (typeof value === 'string') {
    const base = baseOf(value)
    if (base === undefined) report(`the datatype ${value.slice(0, 100)}`)
    return base === undefined ? undefined : { base }
  }
  if (!isObject(value)) {
    report('the datatype')
    return undefined
  }
  const { '@id': id, base: named = 'string', format } = value
  if (typeof id === 'string' && (id.startsWith('_:') || isBuiltIn(id))) refuse('the @id of a datatype is a blank node or a built-in datatype') // prettier-ignore
  const base = typeof named === 'string' ? baseOf(named) : undefined
  if (base === undefined) {
    report(`the base ${String(named).slice(0, 100)} of the datatype`)
    return undefined
  }
  for (const key of Object.keys(value))
    if (!KNOWN.has(key) && !COMMON.test(key)) report(`${key.slice(0, 100)} of the datatype`)
  const isReadable = format === undefined || formatReader(base, format) !== undefined
  if (!isReadable) report(`the format of the datatype ${base}`)
  const iri = typeof id === 'string' && id.length <= LONGEST && isDatatype(id) ? id : undefined
  if (id !== undefined && iri === undefined) report('the @id of the datatype')
  return {
    base,
    ...(iri !== undefined && { iri }),
    ...(format !== undefined && isReadable && { format }),
    ...boundsOf(value, base, report, refuse),
  }
}

const KNOWN: ReadonlySet<string> = new Set(['@id', '@type', 'base', 'format', ...LENGTHS, ...LIMITS, ...Object.keys(LIMIT_NAMES)]) // prettier-ignore

const isBuiltIn = (id: string): boolean => isForm(typeNamed(id))

export function baseOf(name: string): string | undefined {
  const base = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name
  return isForm(base) ? base : undefined
}

/** W3C tabular-metadata §5.11.2. */
function boundsOf(
  described: Json,
  base: string,
  report: (what: string) => void,
  refuse: (why: string) => void,
): { readonly bounds?: Bounds } {
  const bounds: Record<string, number | string> = {}
  for (const key of LENGTHS) {
    const value = described[key]
    if (value === undefined) continue
    if (!Number.isSafeInteger(value) || (value as number) < 0) report(`${key} of the datatype`)
    else bounds[key] = value as number
  }
  const kind = formKindOf(base)
  if (Object.keys(bounds).length > 0 && kind !== 'text' && kind !== 'binary') refuse(`a ${base} has no length`)
  const { length, minLength, maxLength } = bounds as Bounds
  if ((minLength ?? 0) > (maxLength ?? length ?? Infinity) || (length ?? 0) > (maxLength ?? Infinity))
    refuse('the lengths of a datatype contradict each other')
  for (const key of [...LIMITS, ...Object.keys(LIMIT_NAMES)]) {
    const value = described[key]
    if (value === undefined) continue
    if (kind !== 'number' && kind !== 'calendar') refuse(`a ${base} has no ${key}`)
    const lexical = typeof value === 'number' ? String(value) : value
    if (typeof lexical !== 'string' || lexical.length > LONGEST || Number.isNaN(fieldOrderOf(lexical, base)))
      report(`${key} of the datatype`) // prettier-ignore
    else bounds[LIMIT_NAMES[key] ?? key] = lexical
  }
  const wrong = contradictionIn(bounds, base)
  if (wrong) refuse(wrong)
  return Object.keys(bounds).length === 0 ? {} : { bounds: bounds }
}

function contradictionIn({ minInclusive, minExclusive, maxInclusive, maxExclusive }: Bounds, base: string) {
  if (minInclusive !== undefined && minExclusive !== undefined) return 'a datatype has two minimums'
  if (maxInclusive !== undefined && maxExclusive !== undefined) return 'a datatype has two maximums'
  const [least, most] = [minInclusive ?? minExclusive, maxInclusive ?? maxExclusive]
  if (least === undefined || most === undefined) return undefined
  const order = fieldsCompared(least, most, base)
  const isOpen = minExclusive === undefined ? maxExclusive !== undefined : maxExclusive === undefined
  return order > 0 || (order === 0 && isOpen) ? 'the minimum of a datatype exceeds its maximum' : undefined
}
