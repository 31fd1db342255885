// Contestants that alternate: warmed up, then round by round, so that other load on the machine affects all alike; and
// the rows that compare their figures.
import type { Figure } from './bench-table.js'

export interface Contestant {
  readonly name: string
  /** The figure of one turn of about this many seconds. */
  run(seconds: number): Promise<number>
}

export interface Timing {
  readonly rounds: number
  readonly seconds: number
  /** No warm-up if it is 0. */
  readonly warmUp: number
}

/** Contestants by name. If one fails, the series keeps its reason and continues with the others. */
export type Outcome = ReadonlyMap<string, readonly number[] | { readonly failed: string }>

export async function takeTurns(contestants: readonly Contestant[], timing: Timing): Promise<Outcome> {
  const outcome = new Map<string, number[] | { failed: string }>(contestants.map(({ name }) => [name, []]))
  const turn = async ({ name, run }: Contestant, seconds: number, counts: boolean): Promise<void> => {
    const its = outcome.get(name)!
    if ('failed' in its) return
    try {
      const figure = await run(seconds)
      if (counts) its.push(figure)
    } catch (error) {
      outcome.set(name, { failed: (error as Error).message.replace(/\s+/g, ' ').slice(0, 160) })
    }
  }
  if (timing.warmUp > 0) for (const each of contestants) await turn(each, timing.warmUp, false)
  for (let round = 0; round < timing.rounds; round++) {
    // In alternating order: no contestant always follows the same one.
    for (const each of round % 2 ? contestants.toReversed() : contestants) await turn(each, timing.seconds, true)
  }
  return outcome
}

export function figureOf(values: readonly number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, least: sorted[0]!, most: sorted.at(-1)! }
}

export const COLUMNS = ['', 'gateway', 'beside', 'beside it', 'ratio', 'target', '']

export interface Comparison {
  readonly row: string
  readonly of: string
  readonly to?: string
  /** The lowest ratio that meets the target. */
  readonly target?: number
}

/** One row of the table: two figures, the median of the rounds' ratios, and whether it meets the target. */
export function compare(outcome: Outcome, { row, of, to, target }: Comparison, unit = '/s'): string[] {
  const one = outcome.get(of)!
  if ('failed' in one) return [row, `failed: ${one.failed}`]
  if (to === undefined) return [row, written(figureOf(one), unit)]
  const other = outcome.get(to)
  if (!other) return [row, written(figureOf(one), unit), to, 'not there']
  if ('failed' in other) return [row, written(figureOf(one), unit), to, `failed: ${other.failed}`]
  // Compared round by round, since turns close in time suffer the same other load.
  const ratios = figureOf(one.map((figure, round) => figure / other[round]!))
  const ratio = ratios.median
  const verdict = target === undefined ? [] : [`≥ ${target}`, ratio >= target ? 'met' : 'missed']
  return [row, written(figureOf(one), unit), to, written(figureOf(other), unit), written(ratios, ''), ...verdict]
}

export function written({ median, least, most }: Figure, unit: string): string {
  const number = (value: number): string =>
    value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
  return `${number(median)}${unit} (${number(least)}–${number(most)})`
}
