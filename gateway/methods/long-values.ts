// Values that keep a store busy for minutes, whoever queries it later: Jena reads and writes long numbers in quadratic
// time, and counts the days of a duration one by one (design 7).
import { INTEGERS } from '../../policies/datatypes.js'
import { problem, type Problem } from '../problem.js'
import { XSD } from '../rdf/vocabulary.js'
import { makeSliceTurns } from '../stores/slices.js'

export const MOST_DIGITS = 4096
/** 27,000 years: years and months are not counted one by one. */
const MOST_DAYS = 10_000_000

const TYPED = `"^^<${XSD('')}`
const NUMBERS = new Set([...Object.keys(INTEGERS), 'decimal'])
const DURATIONS = new Set(['duration', 'dayTimeDuration'])
/** Longer ones are malformed, or have numbers that Jena refuses. */
const LONGEST_DURATION = 200

/** The reason why these N-Triples may not be written. */
export async function longValueIn(nTriples: string): Promise<undefined | Problem> {
  const turn = makeSliceTurns()
  for (let at = nTriples.indexOf(TYPED); at >= 0; at = nTriples.indexOf(TYPED, at + 1)) {
    await turn()
    const type = /^\w+/.exec(nTriples.slice(at + TYPED.length, at + TYPED.length + 30))?.[0] ?? ''
    if (NUMBERS.has(type) && /^[\d.+-]+$/.test(nTriples.slice(Math.max(0, at - MOST_DIGITS - 1), at))) {
      if (at > MOST_DIGITS) return LONG_NUMBER
    } else if (DURATIONS.has(type)) {
      if (daysOf(nTriples.slice(Math.max(0, at - LONGEST_DURATION), at)) > MOST_DAYS) return LONG_DURATION
    }
  }
  return undefined
}

const DURATION =
  /"-?P(?:\d+Y)?(?:\d+M)?(?:(?<days>\d+)D)?(?:T(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+)(?:\.\d*)?S)?)?$/

function daysOf(before: string): number {
  const { days = '0', hours = '0', minutes = '0', seconds = '0' } = DURATION.exec(before)?.groups ?? {}
  return Number(days) + Number(hours) / 24 + Number(minutes) / 1440 + Number(seconds) / 86_400
}

const LONG_NUMBER = problem(
  'content.too-large',
  `A number has more than ${MOST_DIGITS} digits, which triplestores take minutes to read. Shorten it, or write it as text.`,
)
const LONG_DURATION = problem(
  'content.too-large',
  `A duration has more than ${MOST_DAYS} days, which triplestores count one by one. Write it in years and months.`,
)
