// In charge of literals: whether one is well-formed (SHACL §4.1.2), and which of two is less (SPARQL 1.1 §17.3). Pure.
import type { Literal, Term } from '@rdfjs/types'
import { LANG_STRING, XSD } from './graph.js'

const INTEGERS: Readonly<Record<string, readonly [least: bigint | undefined, most: bigint | undefined]>> = {
  integer: [undefined, undefined],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-(2n ** 15n), 2n ** 15n - 1n],
  byte: [-128n, 127n],
  nonNegativeInteger: [0n, undefined],
  positiveInteger: [1n, undefined],
  nonPositiveInteger: [undefined, 0n],
  negativeInteger: [undefined, -1n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65535n],
  unsignedByte: [0n, 255n],
}

const ZONE = '(?<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?'
const YEAR = '(?<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))'
const MONTH = '(?<month>0[1-9]|1[0-2])'
const DAY = '(?<day>0[1-9]|[12][0-9]|3[01])'
const TIME =
  '(?:(?<hour>[01][0-9]|2[0-3]):(?<minute>[0-5][0-9]):(?<second>[0-5][0-9](?:\\.[0-9]+)?)|(?<end>24:00:00(?:\\.0+)?))'
const TIMES: Readonly<Record<string, RegExp>> = Object.fromEntries(
  Object.entries({
    dateTime: `${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}`,
    date: `${YEAR}-${MONTH}-${DAY}${ZONE}`,
    time: TIME + ZONE,
    gYear: YEAR + ZONE,
    gYearMonth: `${YEAR}-${MONTH}${ZONE}`,
    gMonthDay: `--${MONTH}-${DAY}${ZONE}`,
    gMonth: `--${MONTH}${ZONE}`,
    gDay: `---${DAY}${ZONE}`,
  }).map(([name, form]) => [name, new RegExp(`^${form}$`)]),
)
const DURATION =
  /^(?<minus>-)?P(?=.)(?:(?<years>\d+)Y)?(?:(?<months>\d+)M)?(?:(?<days>\d+)D)?(?:T(?=.)(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+(?:\.\d+)?)S)?)?$/
const FORMS: Readonly<Record<string, RegExp>> = {
  boolean: /^(?:true|false|1|0)$/,
  decimal: /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/,
  double: /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?INF|NaN)$/,
  hexBinary: /^(?:[0-9A-Fa-f]{2})*$/,
  base64Binary: /^(?:[A-Za-z0-9+/] ?)*(?:= ?){0,2}$/,
  language: /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/,
  duration: DURATION,
  dayTimeDuration: /^-?P[^YM]*(?:T|$)/,
  yearMonthDuration: /^-?P[^DT]*$/,
}
const KIND: Readonly<Record<string, string>> = { float: 'double', dateTimeStamp: 'dateTime' }

const nameOf = (datatype: string): string => (datatype.startsWith(XSD) ? datatype.slice(XSD.length) : '')
const kindOf = (name: string): string => (name in INTEGERS ? 'decimal' : (KIND[name] ?? name))

/** RDF 1.1 Concepts §5.1: with the forms of XSD, without white space around them. Of other datatypes nothing is known. */
export function isWellFormed({ value: text, datatype, language }: Literal): boolean {
  const name = nameOf(datatype.value)
  if (datatype.value === LANG_STRING) return language !== ''
  const bounds = INTEGERS[name]
  if (bounds) return /^[+-]?\d+$/.test(text) && isWithin(text, bounds)
  if (name === 'dateTimeStamp' && !/(?:Z|[+-]\d\d:\d\d)$/.test(text)) return false
  const kind = kindOf(name)
  if (TIMES[kind]) return timeOf(kind, text) !== undefined
  if (kind.endsWith('Duration') && !DURATION.test(text)) return false
  return FORMS[kind]?.test(text) ?? true
}

/** Digits that are too many for each of the bounds are not turned into a number: that takes quadratic time. */
function isWithin(text: string, [least, most]: readonly [bigint | undefined, bigint | undefined]): boolean {
  const digits = text.replace(/^[+-]?0*/, '')
  const isNegative = text.startsWith('-') && digits !== ''
  if (digits.length > 20) return (isNegative ? least : most) === undefined
  const number = isNegative ? -BigInt(digits) : BigInt(digits || '0')
  return (least === undefined || number >= least) && (most === undefined || number <= most)
}

/** Negative where `a` is less, 0 where both are equal; undefined where they cannot be compared. */
export function compared(a: Term, b: Term): number | undefined {
  if (a.termType !== 'Literal' || b.termType !== 'Literal') return undefined
  if (!isWellFormed(a) || !isWellFormed(b)) return undefined
  const [one, other] = [kindOf(nameOf(a.datatype.value)), kindOf(nameOf(b.datatype.value))]
  const [x, y] = [a.value, b.value]
  const numbers = ['decimal', 'double']
  if (numbers.includes(one) && numbers.includes(other))
    return one === 'decimal' && other === 'decimal' ? comparedDecimals(x, y) : order(numberOf(x), numberOf(y))
  if (one !== other && !(one.endsWith('uration') && other.endsWith('uration'))) return undefined
  if (one === 'string') return comparedText(x, y)
  if (one === 'boolean') return order(Number(/^(?:true|1)$/.test(x)), Number(/^(?:true|1)$/.test(y)))
  if (one.endsWith('uration')) return comparedDurations(x, y)
  const [s, t] = [timeOf(one, x), timeOf(other, y)]
  // Without a time zone the instant is not known.
  return s && t && s.hasZone === t.hasZone ? order(s.seconds, t.seconds) : undefined
}

const order = (a: number, b: number): number | undefined => (a < b ? -1 : a > b ? 1 : a === b ? 0 : undefined)

const numberOf = (text: string): number => Number(text.replace('INF', 'Infinity'))

/** By code points: surrogates stand above all other characters. */
function comparedText(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === a.length || at === b.length) return a.length - b.length
  const start = /[\udc00-\udfff]/.test(a[at]!) && at > 0 ? at - 1 : at
  return a.codePointAt(start)! - b.codePointAt(start)!
}

/** Exact, however many digits there are. */
function comparedDecimals(a: string, b: string): number {
  const [x, y] = [partsOf(a), partsOf(b)]
  if (x.sign !== y.sign) return x.sign - y.sign
  const length = Math.max(x.fraction.length, y.fraction.length)
  const [p, q] = [x, y].map(({ fraction }) => fraction.padEnd(length, '0')) as [string, string]
  const size = x.whole.length - y.whole.length || comparedText(x.whole + p, y.whole + q)
  return x.sign * size
}

function partsOf(text: string): { readonly sign: number; readonly whole: string; readonly fraction: string } {
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.')
  const isZero = !/[1-9]/.test(text)
  return { sign: isZero ? 0 : text.startsWith('-') ? -1 : 1, whole: whole.replace(/^0+/, ''), fraction }
}

/** Undefined for a day that does not exist. The seconds count from some day. */
function timeOf(kind: string, text: string): { readonly seconds: number; readonly hasZone: boolean } | undefined {
  const groups = TIMES[kind]?.exec(text)?.groups
  if (!groups) return undefined
  const { year = '2000', month = '01', day = '01', hour = '00', minute = '00', second = '00', end, zone } = groups
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCDate() !== Number(day)) return undefined
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone ?? '') ?? []
  const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60)
  const ofDay = end === undefined ? Number(hour) * 3600 + Number(minute) * 60 + Number(second) : 86_400
  return { seconds: date.getTime() / 1000 + ofDay - offset, hasZone: zone !== undefined }
}

/** XSD 1.1 Part 2 §3.3.6: months and seconds; where one is less by the one and not by the other, nothing is known. */
function comparedDurations(a: string, b: string): number | undefined {
  const [x, y] = [a, b].map((text) => {
    const { minus, years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = DURATION.exec(text)!.groups!
    const sign = minus ? -1 : 1
    const ofDays = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
    return [sign * (Number(years) * 12 + Number(months)), sign * ofDays] as const
  })
  const [byMonths, bySeconds] = [order(x![0], y![0]), order(x![1], y![1])]
  if (byMonths === 0 || byMonths === bySeconds) return bySeconds
  return bySeconds === 0 ? byMonths : undefined
}
