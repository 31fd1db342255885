// The lexical forms of the built-in datatypes of CSV on the Web (W3C tabular-metadata §5.11.1), and the readers for
// their formats. Pure.
import { comparedDecimals } from '../../../policies/constraints/order.js'
import { isLexical, isTimeType, timeOf } from '../../../policies/datatypes.js'
import { dateReader } from './csvw-dates.js'
import { numberReader, type NumberFormat } from './csvw-numbers.js'

export type FormKind = 'text' | 'number' | 'calendar' | 'boolean' | 'duration' | 'binary' | 'other'

const ANY = /^[^]*$/
const NAME = /^[\p{L}_][\p{L}\p{N}\p{M}._-]*$/u

const sameFor = <T>(names: string, value: T): Record<string, T> =>
  Object.fromEntries(names.split(' ').map((name) => [name, value]))

const TEXTS = 'string normalizedString token anyAtomicType xml html json language Name NMTOKEN'

/** Forms that are stricter than in XML Schema, or not defined there. */
const FORMS: Readonly<Record<string, RegExp>> = {
  ...sameFor('string normalizedString token anyAtomicType xml html json', ANY),
  // As for IRIs: text that a store would refuse is not a URI here either.
  anyURI: /^(?:[^\s<>"{}|\\^`%#]|%[0-9a-f]{2})*(?:#(?:[^\s<>"{}|\\^`%#]|%[0-9a-f]{2})*)?$/i,
  base64Binary: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  QName: /^(?:[\p{L}_][\p{L}\p{N}\p{M}._-]*:)?[\p{L}_][\p{L}\p{N}\p{M}._-]*$/u,
  Name: NAME,
  NMTOKEN: /^[\p{L}\p{N}\p{M}._:-]+$/u,
}

const KINDS: Readonly<Record<string, FormKind>> = {
  ...sameFor(TEXTS, 'text' as const),
  ...sameFor('duration dayTimeDuration yearMonthDuration', 'duration' as const),
  ...sameFor('base64Binary hexBinary', 'binary' as const),
  boolean: 'boolean',
  ...sameFor('QName anyURI', 'other' as const),
}

export const isForm = (base: string): boolean => Object.hasOwn(FORMS, base) || isLexical('', base) !== undefined
export const formKindOf = (base: string): FormKind =>
  isTimeType(base) ? 'calendar' : Object.hasOwn(KINDS, base) ? KINDS[base]! : 'number'

/** No store reads longer numbers and times. */
const TOO_LONG = { number: /\d{401}|e[+-]?\d{5}/i, calendar: /^-?\d{10}|\.\d{19}/ }
/** XML Schema 1.0 has no such year, and stores read it in different ways. */
const YEAR_0 = /^-?0000/

/** True if the form is valid for the datatype. */
export function isValid(lexical: string, base: string): boolean {
  const kind = formKindOf(base)
  if ((kind === 'number' || kind === 'calendar') && TOO_LONG[kind].test(lexical)) return false
  if (kind === 'calendar' && YEAR_0.test(lexical)) return false
  return Object.hasOwn(FORMS, base) ? FORMS[base]!.test(lexical) : isLexical(lexical, base)!
}

/** Negative if value `a` is less than `b`, 0 if they are equal, NaN if they cannot be compared. */
export function fieldsCompared(a: string, b: string, base: string): number {
  // Exact, unless the values of the datatype are doubles themselves.
  const isExact = formKindOf(base) === 'number' && !['double', 'float'].includes(base)
  if (isExact && isValid(a, 'decimal') && isValid(b, 'decimal')) return comparedDecimals(a, b)
  const [x, y] = [fieldOrderOf(a, base), fieldOrderOf(b, base)]
  return x === y ? 0 : x < y ? -1 : x > y ? 1 : NaN
}

/** A number for ordering the values of numbers, dates and times; NaN for others. */
export function fieldOrderOf(lexical: string, base: string): number {
  if (isTimeType(base)) return isValid(lexical, base) ? timeOf(lexical, base)!.seconds : NaN
  return Number(lexical.replace('INF', 'Infinity'))
}

/** Converts the text of a cell to the lexical form of the datatype. */
type Read = (text: string) => string | undefined

/** Without a format: numbers may have percent signs but no groups; 1 and 0 are booleans. */
export function plainReader(base: string): Read {
  const kind = formKindOf(base)
  if (kind === 'number') return formatReader(base, {})!
  return kind === 'boolean' ? (text) => ({ 1: 'true', 0: 'false' })[text] ?? text : (text) => text
}

/** Undefined if the format is not understood. */
export function formatReader(base: string, format: unknown): Read | undefined {
  const kind = formKindOf(base)
  if (kind === 'boolean') return typeof format === 'string' ? booleanReader(format) : undefined
  if (kind === 'calendar') return typeof format === 'string' ? dateReader(format, base) : undefined
  // For other datatypes a format is a regular expression, whose running time is unbounded.
  if (kind !== 'number') return undefined
  const described = typeof format === 'string' ? { pattern: format } : format
  return isNumberFormat(described) ? numberReader(described, base === 'double' || base === 'float') : undefined
}

function booleanReader(format: string): Read | undefined {
  const [yes, no, more] = format.split('|')
  if (!yes || !no || yes === no || more !== undefined) return undefined
  return (text) => (text === yes ? 'true' : text === no ? 'false' : undefined)
}

const LONGEST_PATTERN = 100

const isNumberFormat = (format: unknown): format is NumberFormat =>
  typeof format === 'object' &&
  format !== null &&
  Object.entries(format).every(([key, value]) => typeof value === 'string' && (key === 'pattern' ? value.length <= LONGEST_PATTERN : ['decimalChar', 'groupChar'].includes(key) && value.length === 1)) // prettier-ignore
