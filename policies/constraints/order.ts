// Compares literals: whether one is well-formed (SHACL §4.1.2), and which of two is less (SPARQL 1.1 §17.3). Pure.
import type { Literal, Term } from '@rdfjs/types'
import { DURATION, INTEGERS, isLexical, timeOf, typeNamed } from '../datatypes.js'
import { LANG_STRING } from './graph.js'

const KIND = new Map([
  ['float', 'double'],
  ['dateTimeStamp', 'dateTime'],
])

const kindOf = (name: string): string => (Object.hasOwn(INTEGERS, name) ? 'decimal' : (KIND.get(name) ?? name))

/** Datatypes outside XML Schema accept every form. */
export const isWellFormed = ({ value, datatype, language }: Literal): boolean =>
  datatype.value === LANG_STRING ? language !== '' : (isLexical(value, typeNamed(datatype.value)) ?? true)

/** Negative if `a` is less, 0 if they are equal, undefined if they cannot be compared. */
export function compared(a: Term, b: Term): number | undefined {
  if (a.termType !== 'Literal' || b.termType !== 'Literal') return undefined
  if (!isWellFormed(a) || !isWellFormed(b)) return undefined
  const [one, other] = [kindOf(typeNamed(a.datatype.value)), kindOf(typeNamed(b.datatype.value))]
  const [x, y] = [a.value, b.value]
  const numbers = ['decimal', 'double']
  if (numbers.includes(one) && numbers.includes(other))
    return one === 'decimal' && other === 'decimal' ? comparedDecimals(x, y) : order(numberOf(x), numberOf(y))
  if (one !== other && !(one.endsWith('uration') && other.endsWith('uration'))) return undefined
  if (one === 'string') return comparedText(x, y)
  if (one === 'boolean') return order(Number(/^(?:true|1)$/.test(x)), Number(/^(?:true|1)$/.test(y)))
  if (one.endsWith('uration')) return comparedDurations(x, y)
  const [s, t] = [timeOf(x, one), timeOf(y, other)]
  if (!s || !t) return undefined
  const isKnown = s.hasZone === t.hasZone || Math.abs(s.seconds - t.seconds) > FARTHEST_ZONE
  return isKnown ? order(s.seconds, t.seconds) : undefined
}

/** XSD 1.1 Part 2 §3.3.7: without a time zone, the instant is at most 14 hours before or after the one in UTC. */
const FARTHEST_ZONE = 14 * 3600

const order = (a: number, b: number): number | undefined => (a < b ? -1 : a > b ? 1 : a === b ? 0 : undefined)

const numberOf = (text: string): number => Number(text.replace('INF', 'Infinity'))

/** By code points: surrogates sort after all other characters. */
function comparedText(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === a.length || at === b.length) return a.length - b.length
  const start = /[\udc00-\udfff]/.test(a[at]!) && at > 0 ? at - 1 : at
  return a.codePointAt(start)! - b.codePointAt(start)!
}

/** Exact for any number of digits. */
export function comparedDecimals(a: string, b: string): number {
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

/** XSD 1.1 Part 2 §3.3.6: compares months and seconds. Undefined if they disagree. */
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
