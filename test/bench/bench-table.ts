// The result of a benchmark: a table, its text, and the measuring of a figure.

export interface BenchTable {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly notes: readonly string[]
}

/** A benchmark with a name. */
export interface Part {
  readonly about: string
  /** Its duration on a quiet machine with two cores. */
  readonly seconds: number
  /** It runs only when named. */
  readonly onRequest?: true
}

export interface Figure {
  readonly median: number
  readonly least: number
  readonly most: number
}

/**
 * Nanoseconds per call of each: the median, least and most of rounds of `calls` calls each, after a warm-up. The rounds
 * alternate, so that other load on the machine affects all alike.
 */
export function nanosecondsPerCall(
  each: readonly ((n: number) => void)[],
  { rounds = 11, calls = 20_000 } = {},
): Figure[] {
  const run = (one: (n: number) => void): number => {
    const start = process.hrtime.bigint()
    for (let n = 0; n < calls; n++) one(n)
    return Number(process.hrtime.bigint() - start) / calls
  }
  for (const one of each) run(one)
  const figures = each.map((): number[] => [])
  for (let round = 0; round < rounds; round++) each.forEach((one, n) => figures[n]!.push(run(one)))
  return figures.map((its) => {
    its.sort((a, b) => a - b)
    return { median: its[rounds >> 1]!, least: its[0]!, most: its[rounds - 1]! }
  })
}

/** Bytes of heap in use after a full collection (Node.js has to run with --expose-gc). */
export function heapInUse(): number {
  if (!globalThis.gc) throw new Error('run with node --expose-gc')
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

/** The table as text. All columns except the first are aligned to the right. */
export function textOf({ title, columns, rows, notes }: BenchTable): string {
  const widths = columns.map((column, n) => Math.max(column.length, ...rows.map((row) => (row[n] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!))).join('  ')
  return [title, '', line(columns), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line), '', ...notes, '']
    .join('\n')
    .concat('\n')
}
