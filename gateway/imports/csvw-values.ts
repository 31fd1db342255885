// In charge of the values of cells by CSV on the Web metadata (W3C tabular-data-model §6.4): null, default and several values, numbers,
// booleans and dates in the formats that the metadata names. Pure.
import { RDF, XSD } from '../rdf/vocabulary.js'
import { literal, nTriplesTerm, text, typed } from '../rdf/graph.js'

export interface CellFormat {
  readonly datatype: string
  readonly format?: unknown
  /** Texts that stand for no value. */
  readonly nulls: readonly string[]
  readonly default: string
  readonly separator?: string
  readonly lang?: string
}

const INTEGER = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
const DOUBLE = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-?INF|NaN)$/
const ZONE = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))'
const DAY = '-?\\d{4,9}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])'
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?'
const ANY = /^[^]*$/
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`)

/** The lexical forms of the datatypes that are known. */
const FORMS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(['string', 'normalizedString', 'token', 'anyAtomicType', 'any', 'xml', 'html', 'json'].map((name) => [name, ANY])), // prettier-ignore
  ...Object.fromEntries(['integer', 'long', 'int', 'short', 'byte'].map((name) => [name, INTEGER])),
  ...Object.fromEntries(['nonNegativeInteger', 'positiveInteger', 'unsignedLong', 'unsignedInt', 'unsignedShort', 'unsignedByte'].map((name) => [name, /^\+?\d+$/])), // prettier-ignore
  ...{ nonPositiveInteger: /^(?:-\d+|0+)$/, negativeInteger: /^-\d+$/, decimal: DECIMAL },
  ...{ double: DOUBLE, float: DOUBLE, number: DOUBLE, boolean: /^(?:true|false|1|0)$/ },
  ...{ date: whole(`${DAY}${ZONE}?`), time: whole(`${TIME}${ZONE}?`) },
  ...{ dateTime: whole(`${DAY}T${TIME}${ZONE}?`), datetime: whole(`${DAY}T${TIME}${ZONE}?`) },
  ...{ dateTimeStamp: whole(`${DAY}T${TIME}${ZONE}`), anyURI: /^[^\s<>"{}|\\^`]*$/ },
  ...{ gYear: /^-?\d{4,9}$/, gYearMonth: /^-?\d{4,9}-(?:0[1-9]|1[0-2])$/ },
  duration: /^-?P(?=[\dT])(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/,
}
/** The greatest number of each kind; the least of signed ones is one further. */
const MOST: Readonly<Record<string, bigint>> = { long: 2n ** 63n, int: 2n ** 31n, short: 2n ** 15n, byte: 2n ** 7n, unsignedLong: 2n ** 64n, unsignedInt: 2n ** 32n, unsignedShort: 2n ** 16n, unsignedByte: 2n ** 8n } // prettier-ignore
const OTHER_IRIS: Readonly<Record<string, string>> = {
  any: XSD('anyAtomicType'),
  xml: RDF('XMLLiteral'),
  html: RDF('HTML'),
  json: 'http://www.w3.org/ns/csvw#JSON',
  number: XSD('double'),
  datetime: XSD('dateTime'),
}
const DATES = ['date', 'time', 'dateTime', 'datetime', 'dateTimeStamp']
const isNumeric = (base: string): boolean => FORMS[base] === DOUBLE || FORMS[base] === DECIMAL || INTEGER === FORMS[base] || /Integer$|^unsigned/.test(base) // prettier-ignore

export const isDatatype = (base: string): boolean => Object.hasOwn(FORMS, base)

/** True where cells of this format can be read. */
export function isFormat(base: string, format: unknown): boolean {
  if (base === 'boolean') return typeof format === 'string' && /^[^|]+\|[^|]+$/.test(format)
  if (DATES.includes(base)) return typeof format === 'string' && dateForm(format) !== undefined
  return isNumeric(base) && isNumberFormat(format)
}

/** A pattern would have to be checked; its characters alone say how numbers are written. */
const isNumberFormat = (format: unknown): format is NumberFormat =>
  typeof format === 'object' &&
  format !== null &&
  Object.entries(format).every(([key, value]) => ['decimalChar', 'groupChar'].includes(key) && typeof value === 'string' && value.length === 1) // prettier-ignore

type NumberFormat = Readonly<Record<'decimalChar' | 'groupChar', string | undefined>>

export interface CellValue {
  /** As metadata means it: dates and numbers in the form of their datatype. */
  readonly lexical: string
  /** False where it does not have the form of its datatype: then it is plain text. */
  readonly isValid: boolean
}

/** Trimmed cells have no value, one, or with a separator several. */
export function valuesOf(cell: string, column: CellFormat): CellValue[] {
  const { separator, nulls } = column
  const given = cell === '' ? column.default : cell
  if (separator !== undefined && (given === '' || nulls.includes(given))) return []
  const parts = separator === undefined ? [given] : given.split(separator).map((one) => one.trim())
  return parts.map((part) => (part === '' ? column.default : part)).flatMap((part) => (nulls.includes(part) ? [] : [valueOf(part, column)])) // prettier-ignore
}

function valueOf(part: string, { datatype, format }: CellFormat): CellValue {
  const lexical = written(part, datatype, format)
  const isValid = lexical !== undefined && FORMS[datatype]!.test(lexical) && isInRange(lexical, datatype) && isDay(lexical, datatype) // prettier-ignore
  return isValid ? { lexical, isValid } : { lexical: part, isValid: false }
}

function isInRange(lexical: string, datatype: string): boolean {
  const most = MOST[datatype]
  if (most === undefined) return datatype !== 'positiveInteger' || /[1-9]/.test(lexical)
  if (lexical.length > 40) return false
  const number = BigInt(lexical.replace('+', ''))
  return number < most && number >= (datatype.startsWith('unsigned') ? 0n : -most)
}

const DATED = ['date', 'dateTime', 'datetime', 'dateTimeStamp']

/** False of a date that no calendar has. */
function isDay(lexical: string, datatype: string): boolean {
  const [, year, month, day] = (DATED.includes(datatype) && /^(-?\d+)-(\d\d)-(\d\d)/.exec(lexical)) || []
  if (day === undefined) return true
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0)
  const days = month === '02' ? (isLeap ? 29 : 28) : ['04', '06', '09', '11'].includes(month!) ? 30 : 31
  return Number(day) <= days
}

/** In the form of the datatype. */
function written(part: string, datatype: string, format: unknown): string | undefined {
  if (format === undefined) return part
  if (typeof format === 'string' && datatype === 'boolean') {
    const at = format.split('|').indexOf(part)
    return at < 0 ? undefined : String(at === 0)
  }
  if (typeof format === 'string') return dateForm(format)?.(part)
  const { groupChar, decimalChar = '.' } = format as NumberFormat
  const ungrouped = groupChar === undefined ? part : part.replaceAll(groupChar, '')
  return decimalChar !== '.' && ungrouped.includes('.') ? undefined : ungrouped.replace(decimalChar, '.')
}

/** What stands for a part of a date (UAX #35, as far as tabular-data-model §6.4.4 names it). */
const PARTS: Readonly<Record<string, readonly [part: string, pattern: string]>> = {
  yyyy: ['year', '\\d{4}'],
  MM: ['month', '\\d\\d'],
  M: ['month', '\\d{1,2}'],
  dd: ['day', '\\d\\d'],
  d: ['day', '\\d{1,2}'],
  HH: ['hour', '\\d\\d'],
  mm: ['minute', '\\d\\d'],
  ss: ['second', '\\d\\d'],
  X: ['zone', 'Z|[+-]\\d\\d(?:\\d\\d)?'],
  XX: ['zone', 'Z|[+-]\\d{4}'],
  XXX: ['zone', 'Z|[+-]\\d\\d:\\d\\d'],
}
/** Of a format: a longer one becomes a pattern that no engine compiles. */
const LONGEST_FORMAT = 100
const forms = new Map<string, ReturnType<typeof makeDateForm>>()

function dateForm(format: string): ReturnType<typeof makeDateForm> {
  if (format.length > LONGEST_FORMAT) return undefined
  if (forms.size >= 1000) forms.clear()
  if (!forms.has(format)) forms.set(format, makeDateForm(format))
  return forms.get(format)
}

/** Gives dates and times of a format as XML Schema writes them. */
function makeDateForm(format: string): ((part: string) => string | undefined) | undefined {
  const tokens = format.match(/yyyy|M+|d+|H+|m+|s+(?:\.S+)?|X+|[^]/g) ?? []
  const pattern = tokens.map((token) => {
    const [name, digits] = PARTS[token.replace(/\.S+$/, '')] ?? []
    if (name !== undefined)
      return `(?<${name}>${digits}${token.includes('.S') ? `(?:\\.\\d{1,${token.length - 3}})?` : ''})`
    return /^[-/. :T]$/.test(token) ? `\\x${token.charCodeAt(0).toString(16).padStart(2, '0')}` : undefined
  })
  const names = pattern.flatMap((one) => /\?<(\w+)>/.exec(one ?? '')?.[1] ?? [])
  if (pattern.includes(undefined) || new Set(names).size < names.length || names.length === 0) return undefined
  const form = new RegExp(`^${pattern.join('')}$`)
  return (part) => {
    const found = form.exec(part)?.groups
    if (!found) return undefined
    const { year, month = '', day = '', hour, minute = '00', second = '00', zone = '' } = found
    const date = year === undefined ? '' : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    const time = hour === undefined ? '' : `${hour}:${minute}:${second}`
    return `${date}${date && time && 'T'}${time}${zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)}` // prettier-ignore
  }
}

/** The value in N-Triples. */
export function termOf({ lexical, isValid }: CellValue, { datatype, lang }: CellFormat): string {
  if (!isValid) return nTriplesTerm(text(lexical))
  if (datatype === 'string')
    return nTriplesTerm(lang === undefined ? text(lexical) : literal(lexical, lang.toLowerCase()))
  return nTriplesTerm(typed(lexical, OTHER_IRIS[datatype] ?? XSD(datatype)))
}
