// The lexical forms in which a store keeps literals. Some stores keep the value of a number, a date or a boolean:
// "1.50" comes back as "1.5". The gateway converts literals to the store's form before it compares, deletes or records
// them. Pure.
import { daysOf, INTEGERS, typeNamed } from '../../policies/datatypes.js'
import { isOfRdf12, literal, namedNode, quad, type Graph, type Quad } from './graph.js'
import { XSD } from './vocabulary.js'

/** Groups of datatypes that a store treats alike. */
export type Family = 'integer' | 'decimal' | 'double' | 'float' | 'boolean' | 'dateTime' | 'date'

/** How a store keeps literals (stores/literal-probe.ts). */
export interface LiteralForms {
  /** The datatypes that it keeps by value, in the forms of `storedForm`. */
  readonly byValue: readonly Family[]
  /** The store's forms are unknown, so a document is read again after a write. */
  readonly isUnclear: boolean
  /**
   * The store shows both 1.5 and 1.50 as 1.5, but deletes each only in the form in which it was written (TDB2 of Jena
   * 5). If others write to the store, such a decimal is removed for certain only with the whole graph.
   */
  readonly hidesZeros: boolean
  /**
   * The store writes language tags as RFC 5646 §2.1.1 recommends (`en-GB`), as Jena does. Other stores keep the lower
   * case in which the gateway writes them.
   */
  readonly formatsTags: boolean
}

export const AS_WRITTEN: LiteralForms = { byValue: [], isUnclear: false, hidesZeros: false, formatsTags: false }
export const UNCLEAR: LiteralForms = { ...AS_WRITTEN, isUnclear: true }

/** A lexical form, and the name of a datatype of XML Schema. */
export type TypedLiteral = readonly [form: string, type: string]

export const familyOf = (type: string): Family | undefined =>
  Object.hasOwn(INTEGERS, type) ? 'integer' : type === 'dateTimeStamp' ? 'dateTime' : FAMILIES.get(type)
const FAMILIES = new Map(
  (['decimal', 'double', 'float', 'boolean', 'dateTime', 'date'] as const).map((family) => [family as string, family]),
)

/** Longer forms are rare. */
const LONGEST = 60

/**
 * The form in which a store that keeps values returns the literal, as Jena's TDB2 does. Ill-typed literals stay as
 * written. Undefined if versions of Jena and Java differ: for values that do not fit into TDB2's 56 bits, and numbers
 * of many digits.
 */
export function storedForm([form, type]: TypedLiteral): TypedLiteral | undefined {
  const family = familyOf(type)
  if (family === undefined) return [form, type]
  if (form.length > LONGEST) return undefined
  // XML Schema 1.1 Datatypes §4.3.6: white space around the value is ignored.
  const text = trimmed(form)
  switch (family) {
    case 'integer':
      return typed(integerForm(text, form, type), type)
    case 'decimal':
      return typed(decimalForm(text, form), type)
    case 'double':
    case 'float':
      return typed(floatForm(text, form, family), type)
    case 'boolean':
      return [BOOLEANS.get(text) ?? form, type]
    case 'dateTime':
    case 'date':
      return dateForm(text, [form, type])
  }
}

const isBlank = (character: string | undefined): boolean => character !== undefined && ' \t\r\n'.includes(character)

function trimmed(text: string): string {
  let [start, end] = [0, text.length]
  while (isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

function withoutEndingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
const withoutZeros = (digits: string): string => digits.replace(/^0+/, '')

const typed = (form: string | undefined, type: string): TypedLiteral | undefined =>
  form === undefined ? form : [form, type]

const BOOLEANS = new Map([
  ['1', 'true'],
  ['true', 'true'],
  ['0', 'false'],
  ['false', 'false'],
])

const MOST_INTEGER = 2n ** 55n
const LONGEST_INTEGER = 19

function integerForm(text: string, form: string, type: string): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return form
  if (form.length > LONGEST_INTEGER) return undefined
  const value = BigInt(text.replace('+', ''))
  const [least, most] = INTEGERS[type]!
  if ((least !== undefined && value < least) || (most !== undefined && value > most)) return form
  return value < MOST_INTEGER && value >= -MOST_INTEGER ? String(value) : undefined
}

/** Digits that always fit into TDB2's 48 bits, including a zero after the point. */
const MOST_DIGITS = 14

function decimalForm(text: string, form: string): string | undefined {
  const [, sign, whole = '', part = ''] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (sign === undefined || whole + part === '') return form
  const fraction = withoutEndingZeros(part) || '0'
  const isLong = [whole + part, whole + fraction].some((digits) => withoutZeros(digits).length > MOST_DIGITS)
  if (isLong) return undefined
  const number = `${withoutZeros(whole) || '0'}.${fraction}`
  return number === '0.0' || sign !== '-' ? number : `-${number}`
}

const INFINITE = new Map([
  ['INF', 'INF'],
  ['+INF', 'INF'],
  ['-INF', '-INF'],
  ['NaN', 'NaN'],
])
/** Within these bounds, every version of Java writes the same digits as JavaScript. */
const SURE = { double: { digits: 15, least: 1e-5, beyond: 1e15 }, float: { digits: 6, least: 1e-3, beyond: 1e7 } }

function floatForm(text: string, form: string, type: 'double' | 'float'): string | undefined {
  const infinite = INFINITE.get(text)
  if (infinite !== undefined) return infinite
  const [, digits] = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.exec(text) ?? []
  if (digits === undefined) return form
  const value = Number(text)
  if (value === 0) return `${Object.is(value, -0) ? '-' : ''}0.0${type === 'double' ? 'e0' : ''}`
  const { digits: most, least, beyond } = SURE[type]
  const isSure = Math.abs(value) >= least && Math.abs(value) < beyond
  return isSure && withoutZeros(digits.replace('.', '')).length <= most ? javaForm(value, type) : undefined
}

/** As Java's Double.toString; Jena appends "e0" if there is no exponent. */
function javaForm(value: number, type: 'double' | 'float'): string {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const size = Math.abs(value)
  if (size < 1e-3 || size >= 1e7) return `${withPoint(mantissa)}E${Number(exponent)}`
  return withPoint(String(value)) + (type === 'double' ? 'e0' : '')
}

const withPoint = (number: string): string => (number.includes('.') ? number : `${number}.0`)

const DATE = '(\\d{4})-(\\d\\d)-(\\d\\d)'
const ZONE = '(Z|[+-]\\d\\d:\\d\\d)?'
const DATE_TIME = new RegExp(`^${DATE}T(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d+))?${ZONE}$`)
const ONLY_DATE = new RegExp(`^${DATE}${ZONE}$`)
/** TDB2 stores earlier years only by value. */
const LATE_YEAR = 8000

function dateForm(text: string, written: TypedLiteral): TypedLiteral | undefined {
  const [, type] = written
  const [, year, month, day, ...rest] = (type === 'date' ? ONLY_DATE : DATE_TIME).exec(text) ?? []
  if (year === undefined || Number(year) >= LATE_YEAR || !isDay(Number(year), Number(month), Number(day)))
    return written
  const zone = zoneForm(rest.at(-1) ?? '')
  if (zone === undefined) return written
  if (type === 'date') return [`${year}-${month}-${day}${zone}`, type]
  const [hours, minutes, seconds, part = ''] = rest as [string, string, string, string?]
  if (Number(hours) === 24) return minutes + seconds === '0000' && part === '' ? written : undefined
  if (Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 59) return written
  const fraction = withoutEndingZeros(part)
  if (fraction.length > 3) return written
  const form = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}${fraction && `.${fraction}`}${zone}`
  // A dateTimeStamp without a zone is ill-typed: TDB2 keeps it as a dateTime.
  return zone === '' && rest.at(-1) !== undefined && type === 'dateTimeStamp'
    ? undefined
    : [form, zone === '' ? 'dateTime' : type]
}

const isDay = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)

/** TDB2 counts quarters of an hour; two of the numbers mean Z and no zone. Undefined if the zone does not fit. */
function zoneForm(zone: string): string | undefined {
  if (zone === '' || zone === 'Z') return zone
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))]
  if (minutes % 15 !== 0 || minutes > 59 || 60 * hours + minutes > 14 * 60) return undefined
  return ODD_ZONES.get(zone) ?? zone
}
const ODD_ZONES = new Map([
  ['-00:00', '+00:00'],
  ['-00:15', 'Z'],
  ['-00:30', ''],
])

/** The type of a datatype that the store keeps by value. */
function keptType(datatype: string, { byValue }: LiteralForms): string | undefined {
  const type = typeNamed(datatype)
  const family = familyOf(type)
  return family && byValue.includes(family) ? type : undefined
}

/** A literal that the store keeps in another form: that form and its datatype. */
export function otherForm(form: string, datatype: string, forms: LiteralForms): TypedLiteral | undefined {
  const type = keptType(datatype, forms)
  const stored = type === undefined ? undefined : storedForm([form, type])
  return !stored || (stored[0] === form && stored[1] === type) ? undefined : [stored[0], XSD(stored[1])]
}

/** The triples as the store will have them. Triple terms are kept as they were written. */
export const inForms = (triples: readonly Quad[], forms: LiteralForms): readonly Quad[] =>
  forms.byValue.length === 0 ? triples : triples.map((triple) => inForm(triple, forms))

function inForm(triple: Quad, forms: LiteralForms): Quad {
  const { subject, predicate, object } = triple
  const other = object.termType === 'Literal' ? otherForm(object.value, object.datatype.value, forms) : undefined
  return other ? quad(subject, predicate, literal(other[0], namedNode(other[1]))) : triple
}

// Datatypes that stores keep by value (integers, decimals, floats, booleans, dates and times), and their canonical
// forms (XML Schema 1.1 Datatypes): a literal in another spelling may come back in that form.
const BY_VALUE =
  /^(?:(?:non)?(?:positive|negative)?integer|(?:unsigned)?(?:long|int|short|byte)|decimal|double|float|boolean|dateTime(?:Stamp)?|date|time|g\w+|\w*[dD]uration)$/i
const CANONICAL = /^(?:0|-?[1-9]\d{0,14}|true|false|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d*[1-9])?Z)?)$/

/** True if a store may return a literal of this graph in another form. */
export const mayBeRewritten = ({ triples }: Pick<Graph, 'triples'>, forms: LiteralForms): boolean =>
  triples.some(({ object }) => {
    if (isOfRdf12(object)) return true
    if (object.termType !== 'Literal') return false
    const { value, datatype } = object
    if (forms.isUnclear) return BY_VALUE.test(typeNamed(datatype.value)) && !CANONICAL.test(value)
    const type = keptType(datatype.value, forms)
    return type !== undefined && storedForm([value, type]) === undefined
  })

const LITERAL_OF_LINE = /(?<= )"((?:[^"\\]|\\[tnr]){0,60})"\^\^<(http:\/\/www\.w3\.org\/2001\/XMLSchema#\w+)> \.$/
const ESCAPED: Readonly<Record<string, string>> = { '\\t': '\t', '\\n': '\n', '\\r': '\r' }

/** A line of canonical N-Triples, with its literal in the form in which the store keeps it. */
export function lineInForm(line: string, forms: LiteralForms): string {
  const found = forms.byValue.length === 0 ? null : LITERAL_OF_LINE.exec(line)
  if (!found) return line
  const [, escaped, datatype] = found as unknown as [string, string, string]
  const form = escaped.replace(/\\[tnr]/g, (escape) => ESCAPED[escape]!)
  const other = otherForm(form, datatype, forms)
  return other ? `${line.slice(0, found.index)}"${other[0]}"^^<${other[1]}> .` : line
}
