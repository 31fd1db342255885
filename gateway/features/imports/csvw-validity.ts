// Checks that make CSV on the Web metadata invalid as a whole (W3C tabular-metadata §5 and §6): names of objects,
// common properties, references. Pure.
import { baseOf } from './csvw-datatypes.js'
import { isObject, objectsIn, type Json } from './csvw-json.js'
import { TEMPLATE_PREFIXES } from './uri-template.js'

/** A property that the specification does not define has a prefix, or is a URL. */
const isCommon = (key: string): boolean => {
  const [, prefix, rest] = /^([a-z][\w.+-]*):(.*)$/is.exec(key) ?? []
  return prefix !== undefined && (Object.hasOwn(TEMPLATE_PREFIXES, prefix) || /^\/\/./.test(rest!) || prefix === 'urn')
}

const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : `no text`)

/** The deepest nesting of common properties. */
const DEEPEST = 32

/** §5.1.1 to 5.1.3, §5.8: the mistake in an object and its common properties; undefined if they are valid. */
export function csvwFlawOf(object: Json, type: string): string | undefined {
  if (typeof object['@id'] === 'string' && object['@id'].startsWith('_:')) return `the @id of a ${type} is a blank node`
  if ('@type' in object && object['@type'] !== type) return `the @type of a ${type} is ${shown(object['@type'])}`
  for (const key of Object.keys(object)) {
    const flaw = isCommon(key) ? flawOfCommon(object[key], 0) : undefined
    if (flaw) return `${key.slice(0, 100)}: ${flaw}`
    if (key.startsWith('@') && !['@context', '@id', '@type'].includes(key)) return `${key.slice(0, 100)} is not allowed`
  }
  return undefined
}

/** §6.1: checks the allowed part of JSON-LD. */
function flawOfCommon(value: unknown, depth: number): string | undefined {
  if (depth > DEEPEST) return 'it is nested too deeply'
  if (Array.isArray(value)) return firstOf(value, (one) => flawOfCommon(one, depth + 1))
  if (!isObject(value)) return undefined
  const { '@id': id, '@type': type, '@value': own, '@language': language } = value
  if ('@value' in value) {
    const others = Object.keys(value).filter((key) => key !== '@value')
    if (others.some((key) => !['@type', '@language'].includes(key)) || others.length > 1 || isObject(own))
      return 'an object with @value has other properties than @type or @language'
  } else if ('@language' in value) return '@language without @value'
  if (language !== undefined && !/^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/i.test(String(language))) return '@language is wrong'
  if ('@id' in value && (typeof id !== 'string' || id.startsWith('_:'))) return 'an @id is a blank node'
  const wrongType = firstOf([type ?? []].flat(), (one) => (isTypeName(one) ? undefined : `the @type ${shown(one)}`)) // prettier-ignore
  if (wrongType) return wrongType
  return firstOf(Object.keys(value), (key) => {
    if (['@id', '@type', '@value', '@language'].includes(key)) return undefined
    return key.startsWith('@') ? `${key.slice(0, 100)} is not allowed` : flawOfCommon(value[key], depth + 1)
  })
}

const isTypeName = (name: unknown): boolean =>
  typeof name === 'string' &&
  !name.startsWith('_:') &&
  (isCommon(name) || TERMS.has(name) || baseOf(name) !== undefined)

/** Terms in the context of CSV on the Web that are not datatypes. */
const TERMS: ReadonlySet<string> = new Set(
  'Cell Column Datatype Dialect Direction ForeignKey JSON NumericFormat Row Schema Table TableGroup TableReference Template Transformation'.split(
    ' ',
  ),
)

function firstOf<T>(all: Iterable<T>, flaw: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = flaw(one)
    if (found) return found
  }
  return undefined
}

/** §5.6: names are unique, and virtual columns come last. */
export function flawOfColumns(columns: readonly Json[]): string | undefined {
  const names = new Set<unknown>()
  let isVirtual = false
  return firstOf(columns, (column) => {
    const { name } = column
    if (typeof name === 'string' && names.has(name))
      return `two columns are named ${JSON.stringify(name.slice(0, 100))}`
    names.add(name)
    if (isVirtual && column['virtual'] !== true) return 'a column follows a virtual one'
    isVirtual ||= column['virtual'] === true
    return csvwFlawOf(column, 'Column')
  })
}

const columnsOf = (table: Json): readonly Json[] | undefined => {
  const schema = table['tableSchema']
  return isObject(schema) ? objectsIn(schema['columns']) : undefined
}
const namesIn = (value: unknown): readonly unknown[] => [value ?? []].flat()
const lacks = (table: Json | undefined, reference: unknown): boolean => {
  const columns = table && columnsOf(table)
  return columns !== undefined && !namesIn(reference).every((name) => columns.some((column) => column['name'] === name))
}

/** §5.5.2.1: foreign keys name columns of this table, and of another one of the group. */
export function flawOfForeignKeys(
  table: Json,
  tables: readonly Json[],
  urlOf: (table: Json) => unknown,
): string | undefined {
  const schema = isObject(table['tableSchema']) ? table['tableSchema'] : {}
  return firstOf(objectsIn(schema['foreignKeys']), (key) => {
    const { columnReference, reference } = key
    const isKnown = (object: Json, ...known: string[]): boolean =>
      Object.keys(object).every((one) => known.includes(one))
    if (!isObject(reference)) return 'a foreign key has no reference'
    if (
      !isKnown(key, 'columnReference', 'reference') ||
      !isKnown(reference, 'resource', 'schemaReference', 'columnReference')
    )
      return 'a foreign key has unknown properties'
    if (namesIn(columnReference).length === 0 || lacks(table, columnReference)) return 'a foreign key names a column that does not exist' // prettier-ignore
    const { resource, schemaReference } = reference
    const target = tables.find((one) =>
      resource === undefined
        ? isObject(one['tableSchema']) && one['tableSchema']['@id'] === schemaReference
        : urlOf(one) === urlOf({ url: resource }),
    )
    if (!target && (resource !== undefined || schemaReference !== undefined) && tables.every((one) => columnsOf(one)))
      return 'a foreign key names a table that does not exist'
    return lacks(target, reference['columnReference']) ? 'a foreign key names a column that does not exist in its table' : undefined // prettier-ignore
  })
}
