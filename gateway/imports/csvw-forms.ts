// In charge of the lexical forms of the built-in datatypes of CSV on the Web (W3C tabular-metadata §5.11.1, XML Schema 1.1 part 2), and
// of readers for formats of them. Pure.
import { instantOf, isCalendarType, isOnCalendar } from './calendar.js'
import { dateReader } from './csvw-dates.js'
import { numberReader, type NumberFormat } from './csvw-numbers.js'

export type Kind = 'text' | 'number' | 'calendar' | 'boolean' | 'duration' | 'binary' | 'other'

const INTEGER = /^[+-]?\d{1,400}$/
const DECIMAL = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})$/
const DOUBLE = /^(?:[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?|-?INF|NaN)$/
const ANY = /^[^]*$/
const DAYS = '(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?'
const NAME = /^[\p{L}_][\p{L}\p{N}\p{M}._-]*$/u

const sameFor = <T>(names: string, value: T): Record<string, T> =>
  Object.fromEntries(names.split(' ').map((name) => [name, value]))

const CALENDAR = 'date time dateTime dateTimeStamp gYear gYearMonth gMonth gDay gMonthDay'
const TEXTS = 'string normalizedString token anyAtomicType xml html json language Name NMTOKEN'

/** All but those of the calendar. */
const FORMS: Readonly<Record<string, RegExp>> = {
  ...sameFor('string normalizedString token anyAtomicType xml html json', ANY),
  ...sameFor('integer long int short byte', INTEGER),
  ...sameFor(
    'nonNegativeInteger positiveInteger unsignedLong unsignedInt unsignedShort unsignedByte',
    /^\+?\d{1,400}$/,
  ),
  ...{ nonPositiveInteger: /^(?:-\d{1,400}|\+?0+)$/, negativeInteger: /^-\d{1,400}$/, decimal: DECIMAL },
  ...{ double: DOUBLE, float: DOUBLE, boolean: /^(?:true|false|1|0)$/ },
  // As for IRIs: what a store would refuse is no URI here either.
  ...{ anyURI: /^(?:[^\s<>"{}|\\^`%#]|%[0-9a-f]{2})*(?:#(?:[^\s<>"{}|\\^`%#]|%[0-9a-f]{2})*)?$/i },
  ...{ duration: new RegExp(`^-?P(?=[\\dT])(?:\\d+Y)?(?:\\d+M)?${DAYS}$`), dayTimeDuration: new RegExp(`^-?P(?=[\\dT])${DAYS}$`) }, // prettier-ignore
  ...{ yearMonthDuration: /^-?P(?=\d)(?:\d+Y)?(?:\d+M)?$/, hexBinary: /^(?:[0-9a-f]{2})*$/i },
  ...{ base64Binary: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/ },
  ...{ QName: /^(?:[\p{L}_][\p{L}\p{N}\p{M}._-]*:)?[\p{L}_][\p{L}\p{N}\p{M}._-]*$/u, Name: NAME },
  ...{ NMTOKEN: /^[\p{L}\p{N}\p{M}._:-]+$/u, language: /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/i },
}
/** The greatest number of each kind; the least of signed ones is one further. */
const MOST: Readonly<Record<string, bigint>> = { long: 2n ** 63n, int: 2n ** 31n, short: 2n ** 15n, byte: 2n ** 7n, unsignedLong: 2n ** 64n, unsignedInt: 2n ** 32n, unsignedShort: 2n ** 16n, unsignedByte: 2n ** 8n } // prettier-ignore

const KINDS: Readonly<Record<string, Kind>> = {
  ...sameFor(TEXTS, 'text' as const),
  ...sameFor(CALENDAR, 'calendar' as const),
  ...sameFor('duration dayTimeDuration yearMonthDuration', 'duration' as const),
  ...sameFor('base64Binary hexBinary', 'binary' as const),
  boolean: 'boolean',
  ...sameFor('QName anyURI', 'other' as const),
}

export const isForm = (base: string): boolean => Object.hasOwn(FORMS, base) || isCalendarType(base)
export const kindOf = (base: string): Kind => (Object.hasOwn(KINDS, base) ? KINDS[base]! : 'number')

/** True of a lexical form whose value the datatype has. */
export function isValid(lexical: string, base: string): boolean {
  if (isCalendarType(base)) return isOnCalendar(lexical, base)
  return FORMS[base]!.test(lexical) && (kindOf(base) !== 'number' || isInRange(lexical, base))
}

function isInRange(lexical: string, base: string): boolean {
  const most = MOST[base]
  if (most === undefined) return (base !== 'positiveInteger' && base !== 'negativeInteger') || /[1-9]/.test(lexical)
  if (lexical.length > 40) return false
  const number = BigInt(lexical.replace('+', ''))
  return number < most && number >= (base.startsWith('unsigned') ? 0n : -most)
}

/** A number that orders the values of numbers and of the calendar; NaN of others. */
export function orderOf(lexical: string, base: string): number {
  if (isCalendarType(base)) return isOnCalendar(lexical, base) ? instantOf(lexical) : NaN
  return Number(lexical.replace('INF', 'Infinity'))
}

/** From the text of a cell to the lexical form of the datatype. */
type Read = (text: string) => string | undefined

/** Without a format: numbers have percent signs and no groups, 1 and 0 are booleans. */
export function plainReader(base: string): Read {
  const kind = kindOf(base)
  if (kind === 'number') return formatReader(base, {})!
  return kind === 'boolean' ? (text) => ({ 1: 'true', 0: 'false' })[text] ?? text : (text) => text
}

/** Undefined if the format is not understood. */
export function formatReader(base: string, format: unknown): Read | undefined {
  const kind = kindOf(base)
  if (kind === 'boolean') return typeof format === 'string' ? booleanReader(format) : undefined
  if (kind === 'calendar') return typeof format === 'string' ? dateReader(format, base) : undefined
  // Of other datatypes it is a regular expression, whose time nothing bounds.
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
