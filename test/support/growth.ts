// Measures how the cost of work grows with the size of its input.
import type { Test } from 'tap'
import { rowsOf } from './stores.js'

/** How often the size doubles. */
const DOUBLINGS = 3
const FACTOR = 2 ** DOUBLINGS
/** A bit more than n log n, since machines are busy; n² would grow by 64. */
const MOST_GROWTH = 27
/** If the cost reaches this, in ms, the size is not increased further. */
const DEAR_MS = 20
/** Below this cost, in ms, growth does not matter. */
const CHEAP_MS = 4
const TRIES = 6

/** A row: makes an input of size n, which is not measured, and reads it. The size is in characters. */
export interface GrowthRow {
  readonly name: string
  readonly size: number
  /** Returns the work on an input of this size. */
  readonly work: (size: number) => () => unknown
}

/** The time for repeated runs of one piece of work, in ms: at first, and again if it seemed to grow too fast. */
const [PATIENCE_MS, LONG_PATIENCE_MS] = [15, 400]

/**
 * The lowest cost of several runs, in ms of processor time, since other work may disturb some. Stops at a run that
 * costs less than `enough`.
 */
async function costOf(work: () => unknown, enough: number, patience: number): Promise<number> {
  let least = Infinity
  for (let run = 0, spent = 0; run < 10 && spent < patience; run++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    const cost = (user + system) / 1000
    least = Math.min(least, cost)
    spent += cost
    if (least < enough) break
  }
  return least
}

/** A description of the work that grows too fast; undefined if none does. */
async function growthOf({ size, work }: GrowthRow, patience = PATIENCE_MS): Promise<string | undefined> {
  const cost = (of: number, enough = 0): Promise<number> => costOf(work(of), enough, patience)
  let doublings = 0
  while (doublings < DOUBLINGS && (await cost(size * 2 ** doublings, DEAR_MS)) < DEAR_MS) doublings++
  const largest = size * 2 ** doublings
  const large = await cost(largest, CHEAP_MS)
  if (large < CHEAP_MS) return undefined
  const small = await cost(largest / FACTOR)
  if (large / small < MOST_GROWTH) return undefined
  const [from, to] = [small, large].map((cost) => `${cost.toFixed(1)} ms`)
  return `${largest / FACTOR} characters: ${from}; ${largest}: ${to}, ${(large / small).toFixed(0)} times as long`
}

/** A test for each row. If one grows too fast, it is measured again, since garbage collection may have disturbed it. */
export async function growthRows(t: Test, rows: readonly GrowthRow[]): Promise<void> {
  const row = rowsOf(t, 'none')
  for (const each of rows) {
    await row(each.name, async (t) => {
      let found = await growthOf(each)
      for (let again = 1; found !== undefined && again < TRIES; again++) found = await growthOf(each, LONG_PATIENCE_MS)
      t.equal(found, undefined)
    })
  }
}

/** The text repeated up to this size. */
export const fill = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length))

/** Numbered texts, up to this size. */
export function many(size: number, text: (i: number) => string): string {
  const parts: string[] = []
  for (let i = 0, length = 0; length < size; i++) length += parts[parts.push(text(i)) - 1]!.length
  return parts.join('')
}

/** `open` repeated, then `middle`, then as many `close`. */
export function nested(size: number, open: string, middle: string, close: string): string {
  const depth = Math.ceil(size / (open.length + close.length))
  return open.repeat(depth) + middle + close.repeat(depth)
}
