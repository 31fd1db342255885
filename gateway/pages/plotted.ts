// In charge of the numbers and times that pictures of a result draw: the value of a literal by its datatype (XML Schema 1.1 Part 2).
// A literal that has no value, or none that can be drawn, gives undefined. Pure.
import type { Term } from '../rdf/graph.js'
import { XSD } from '../rdf/vocabulary.js'

const INTEGER = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
export const DOUBLE = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

type Range = readonly [form: RegExp, least: number, most: number]

const unsigned = (bits: number): Range => [INTEGER, 0, 2 ** bits - 1]
const signed = (bits: number): Range => [INTEGER, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
/** Larger numbers leave no room for the arithmetic of an axis. */
const MOST = 1e300
const FLOAT = 3.4028235e38

const NUMERIC: ReadonlyMap<string, Range> = new Map(
  Object.entries<Range>({
    integer: [INTEGER, -MOST, MOST],
    decimal: [DECIMAL, -MOST, MOST],
    double: [DOUBLE, -MOST, MOST],
    float: [DOUBLE, -FLOAT, FLOAT],
    byte: signed(8),
    short: signed(16),
    int: signed(32),
    long: signed(64),
    unsignedByte: unsigned(8),
    unsignedShort: unsigned(16),
    unsignedInt: unsigned(32),
    unsignedLong: unsigned(64),
    nonNegativeInteger: [INTEGER, 0, MOST],
    positiveInteger: [INTEGER, 1, MOST],
    nonPositiveInteger: [INTEGER, -MOST, 0],
    negativeInteger: [INTEGER, -MOST, -1],
  }).map(([name, range]) => [XSD(name), range]),
)

/** Also undefined for NaN, infinity, and a form that its datatype does not have. */
export function numberOf(term: Term | undefined): number | undefined {
  if (term?.termType !== 'Literal') return undefined
  const [form, least, most] = NUMERIC.get(term.datatype.value) ?? []
  if (!form?.test(term.value)) return undefined
  const value = Number(term.value)
  return value >= least! && value <= most! ? value + 0 : undefined
}

const DAY = /^(-?\d{4,6})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d):(\d\d):(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/
/** The parts of `DAY` that each has: year, month, day, hour. */
const TIMES: ReadonlyMap<string, number> = new Map(
  Object.entries({ gYear: 1, gYearMonth: 2, date: 3, dateTime: 4, dateTimeStamp: 4 }).map(([name, parts]) => [
    XSD(name),
    parts,
  ]),
)

/** In milliseconds; a time without a zone is taken as UTC, whichever zone the gateway is in. */
export function timeOf(term: Term | undefined): number | undefined {
  if (term?.termType !== 'Literal') return undefined
  const wanted = TIMES.get(term.datatype.value)
  const found = wanted === undefined ? null : DAY.exec(term.value)
  if (!found || found.slice(1, 5).filter((part) => part !== undefined).length !== wanted) return undefined
  const [year, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((one) => one && Number(one))
  const at = new Date(0)
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  // A day that does not exist would become another.
  if (at.getUTCMonth() !== Number(month) - 1 || at.getUTCDate() !== Number(day)) return undefined
  const isEnd = hour === 24 && minute === 0 && second === 0
  if (Number(minute) > 59 || Number(second) > 59 || (Number(hour) > 23 && !isEnd)) return undefined
  at.setUTCHours(Number(hour), Number(minute), Number(second), Math.trunc(Number(found[7] ?? 0) * 1000))
  return at.getTime() - offsetOf(found[8])
}

function offsetOf(zone: string | undefined): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone ?? '') ?? []
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

/** Round values that cover all values: some five steps. */
export function ticksOf(least: number, most: number): readonly number[] {
  const largest = Math.max(Math.abs(least), Math.abs(most))
  // A step that is too small for the precision of the numbers would give the same tick again and again.
  const span = Math.max(most === least ? largest || 1 : most - least, largest * 1e-9, 1e-300)
  const power = 10 ** Math.floor(Math.log10(span / 5))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= 6)!
  const from = Math.floor(least / step)
  const to = Math.max(from + 1, Math.ceil(most / step))
  return Array.from({ length: to - from + 1 }, (_, i) => (from + i) * step)
}
