// Measuring how the cost of a piece of work grows with the size of its input.
import type { Test } from 'tap'
import { rowsOf } from './stores.js'

/** So many times the size doubles. */
const DOUBLINGS = 3
const FACTOR = 2 ** DOUBLINGS
/** As n log n grows, and then some, since machines are busy; the square grows by 64. */
const MOST_GROWTH = 27
/** A cost, in ms, at which the size grows no further. */
const DEAR_MS = 20
/** Below this cost, in ms, nothing grows too fast. */
const CHEAP_MS = 4
const TRIES = 6

/** One row: an input of size n is made, which is not measured, and read. The size is in characters. */
export interface GrowthRow {
  readonly name: string
  readonly size: number
  /** Gives the work on an input of this size. */
  readonly work: (size: number) => () => unknown
}

/** ms for the runs of one work, at first and where it seemed to grow too fast. */
const [PATIENCE_MS, LONG_PATIENCE_MS] = [15, 400]

/**
 * The least cost of several runs, in ms of processor time: others may have the processor meanwhile. A run that costs
 * less than `enough` is the last.
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

/** The work that grows too fast, in words; undefined where nothing does. */
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

/** A test for each row. One that grows too fast is measured again: memory may have been collected. */
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

/** The text again and again, up to this size. */
export const fill = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length))

/** Texts with their number, up to this size. */
export function many(size: number, text: (i: number) => string): string {
  const parts: string[] = []
  for (let i = 0, length = 0; length < size; i++) length += parts[parts.push(text(i)) - 1]!.length
  return parts.join('')
}

/** `open` again and again, then `middle`, then as many `close`. */
export function nested(size: number, open: string, middle: string, close: string): string {
  const depth = Math.ceil(size / (open.length + close.length))
  return open.repeat(depth) + middle + close.repeat(depth)
}
