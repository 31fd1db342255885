// The numbers and times drawn in pictures of a result; undefined for literals without a value that can be drawn. Pure.
import * as datatypes from '../../policies/datatypes.js'
import type { Term } from '../rdf/graph.js'

/** Above this, the arithmetic of an axis would overflow. */
const MOST = 1e300
const FLOAT = 3.4028235e38
/** The last moment, before and after 1970, that a JavaScript Date can represent. */
const LAST = 8.64e15

const typeOf = (term: Term | undefined): string =>
  term?.termType === 'Literal' ? datatypes.typeNamed(term.datatype.value) : ''

/** Also undefined for NaN, infinity, and forms that are not valid for the datatype. */
export function numberOf(term: Term | undefined): number | undefined {
  const type = typeOf(term)
  if (!Object.hasOwn(datatypes.INTEGERS, type) && !['decimal', 'double', 'float'].includes(type)) return undefined
  const value = Number(term!.value)
  const isDrawn = datatypes.isLexical(term!.value, type) && Math.abs(value) <= (type === 'float' ? FLOAT : MOST)
  return isDrawn ? value + 0 : undefined
}

const TIMES = ['gYear', 'gYearMonth', 'date', 'dateTime', 'dateTimeStamp']

/** In milliseconds. A time without a zone counts as UTC, whatever the gateway's zone is. */
export function plottedTimeOf(term: Term | undefined): number | undefined {
  const type = typeOf(term)
  const time = TIMES.includes(type) ? datatypes.timeOf(term!.value, type) : undefined
  return time && Math.abs(time.seconds) * 1000 <= LAST ? time.seconds * 1000 : undefined
}

/** About five steps of round values that cover all values. */
export function ticksOf(least: number, most: number): readonly number[] {
  const largest = Math.max(Math.abs(least), Math.abs(most))
  // A step below the precision of the numbers would repeat the same tick.
  const span = Math.max(most === least ? largest || 1 : most - least, largest * 1e-9, 1e-300)
  const power = 10 ** Math.floor(Math.log10(span / 5))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= 6)!
  const from = Math.floor(least / step)
  const to = Math.max(from + 1, Math.ceil(most / step))
  return Array.from({ length: to - from + 1 }, (_, i) => (from + i) * step)
}
