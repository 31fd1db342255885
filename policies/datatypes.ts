// The built-in datatypes of XML Schema 1.1 (part 2): their lexical forms, and the values of dates and times. Pure.

export const XSD = 'http://www.w3.org/2001/XMLSchema#'

/** The name of an XML Schema type by its IRI; empty for other datatypes. */
export const typeNamed = (iri: string): string => (iri.startsWith(XSD) ? iri.slice(XSD.length) : '')

/** The least and the greatest value of each integer type. */
export const INTEGERS: Readonly<Record<string, readonly [least?: bigint, greatest?: bigint]>> = {
  integer: [],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-(2n ** 15n), 2n ** 15n - 1n],
  byte: [-128n, 127n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65_535n],
  unsignedByte: [0n, 255n],
  nonNegativeInteger: [0n],
  positiveInteger: [1n],
  nonPositiveInteger: [undefined, 0n],
  negativeInteger: [undefined, -1n],
}

const ZONE = '(?<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))'
const YEAR = '(?<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))'
const MONTH = '(?<month>0[1-9]|1[0-2])'
const DAY = '(?<day>0[1-9]|[12][0-9]|3[01])'
const TIME =
  '(?:(?<hour>[01][0-9]|2[0-3]):(?<minute>[0-5][0-9]):(?<second>[0-5][0-9](?:\\.[0-9]+)?)|(?<end>24:00:00(?:\\.0+)?))'
const TIMES: Readonly<Record<string, RegExp>> = Object.fromEntries(
  Object.entries({
    dateTime: `${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}?`,
    dateTimeStamp: `${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}`,
    date: `${YEAR}-${MONTH}-${DAY}${ZONE}?`,
    time: `${TIME}${ZONE}?`,
    gYear: `${YEAR}${ZONE}?`,
    gYearMonth: `${YEAR}-${MONTH}${ZONE}?`,
    gMonthDay: `--${MONTH}-${DAY}${ZONE}?`,
    gMonth: `--${MONTH}${ZONE}?`,
    gDay: `---${DAY}${ZONE}?`,
  }).map(([type, form]) => [type, new RegExp(`^${form}$`)]),
)

/** A finite number. */
export const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const DOUBLE = new RegExp(`${NUMBER.source}|^(?:[+-]?INF|NaN)$`)
export const DURATION =
  /^(?<minus>-)?P(?=.)(?:(?<years>\d+)Y)?(?:(?<months>\d+)M)?(?:(?<days>\d+)D)?(?:T(?=.)(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+(?:\.\d+)?)S)?)?$/
const FORMS: Readonly<Record<string, RegExp>> = {
  boolean: /^(?:true|false|1|0)$/,
  decimal: /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/,
  double: DOUBLE,
  float: DOUBLE,
  hexBinary: /^(?:[0-9A-Fa-f]{2})*$/,
  base64Binary: /^(?:[A-Za-z0-9+/] ?)*(?:= ?){0,2}$/,
  language: /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/,
  duration: DURATION,
  dayTimeDuration: new RegExp(`^(?=-?P[^YM]*(?:T|$))${DURATION.source}`),
  yearMonthDuration: new RegExp(`^(?=-?P[^DT]*$)${DURATION.source}`),
}

export const isTimeType = (type: string): boolean => Object.hasOwn(TIMES, type)

/** `text` must not have surrounding white space. Undefined for types whose forms are not defined here. */
export function isLexical(text: string, type: string): boolean | undefined {
  if (Object.hasOwn(INTEGERS, type)) return /^[+-]?\d+$/.test(text) && isWithin(text, INTEGERS[type]!)
  if (isTimeType(type)) return timeOf(text, type) !== undefined
  return Object.hasOwn(FORMS, type) ? FORMS[type]!.test(text) : undefined
}

/** Parsing a BigInt takes quadratic time, so longer numbers are refused first: no bound has more than 20 digits. */
function isWithin(text: string, [least, greatest]: readonly [least?: bigint, greatest?: bigint]): boolean {
  const digits = text.replace(/^[+-]?0*/, '')
  const isNegative = text.startsWith('-') && digits !== ''
  if (digits.length > 20) return (isNegative ? least : greatest) === undefined
  const number = isNegative ? -BigInt(digits) : BigInt(digits || '0')
  return (least === undefined || number >= least) && (greatest === undefined || number <= greatest)
}

/**
 * Seconds since 1970; without a zone, UTC is assumed. Undefined for forms that the type does not allow, and for days
 * that do not exist.
 */
export function timeOf(
  text: string,
  type: string,
): { readonly seconds: number; readonly hasZone: boolean } | undefined {
  const groups = isTimeType(type) ? TIMES[type]!.exec(text)?.groups : undefined
  if (!groups) return undefined
  const { year = '2000', month = '01', day = '01', hour = '00', minute = '00', second = '00', end, zone } = groups
  const [y, m, d] = [Number(year), Number(month), Number(day)]
  if (d > daysOf(y, m)) return undefined
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone ?? '') ?? []
  const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60)
  const ofDay = end === undefined ? Number(hour) * 3600 + Number(minute) * 60 + Number(second) : 86_400
  // The calendar repeats every 400 years, but Date ends in the year 275760.
  const cycles = Math.floor(y / 400)
  const days = Date.UTC(2000 + y - cycles * 400, m - 1, d) / 86_400_000 + (cycles - 5) * DAYS_IN_400_YEARS
  return { seconds: days * 86_400 + ofDay - offset, hasZone: zone !== undefined }
}

const DAYS_IN_400_YEARS = 146_097

/** XML Schema 1.1 §3.3.7: the year 0 exists and is a leap year. */
export const daysOf = (year: number, month: number): number =>
  month === 2 ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31 // prettier-ignore
