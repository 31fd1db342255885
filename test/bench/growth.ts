// Measuring what grows with what is there: the main thread's time for the same request, at sizes ten times as large.
import { fetchFuseki, startFuseki } from '../support/fuseki.js'
import type { BenchTable } from './bench-table.js'
import { growthOfDocuments } from './growth-documents.js'
import { growthOfVersions } from './growth-versions.js'
import { describeMachine } from './machine.js'

/** One kind of thing that there is more of. */
export interface Growth {
  /** Such as `documents`. */
  readonly of: string
  /** The smallest first. The last one is measured only with `--million`. */
  readonly sizes: readonly number[]
  /** The main thread's time in ms, by row, where there are so many. */
  readonly measure: (size: number, place: GrowthPlace) => Promise<ReadonlyMap<string, number>>
}

export interface GrowthPlace {
  /** The base URL of a Fuseki that creates datasets. */
  readonly fuseki: string
  readonly progress: (what: string) => void
}

const GROWTHS: readonly Growth[] = [growthOfDocuments, growthOfVersions]

/** The largest size costs at most so many times the time of the smallest. */
const FLAT = 1.5
/** Less is lost in what the main thread does besides. */
const LEAST_MS = 1

export const MILLION = '--million'

export async function benchGrowth(progress: (what: string) => void): Promise<BenchTable> {
  const title = 'Main-thread time by what is there: ms, medians'
  const columns = ['', 'smallest', '× 10', '× 100', '× 1,000', 'largest/smallest', 'target', '']
  const fetched = fetchFuseki()
  if ('missing' in fetched) return { title, columns, rows: [], notes: [fetched.missing] }
  const fuseki = await startFuseki({ jar: fetched.jar, datasets: [], isMeasured: true })
  try {
    const rows: string[][] = []
    for (const growth of GROWTHS) rows.push(...(await rowsOf(growth, { fuseki: fuseki.base, progress })))
    return { title, columns, rows, notes: [describeMachine([`Fuseki ${fetched.version}`])] }
  } finally {
    await fuseki.stop()
  }
}

async function rowsOf({ of, sizes, measure }: Growth, place: GrowthPlace): Promise<string[][]> {
  const asked = process.argv.includes(MILLION) ? sizes : sizes.slice(0, -1)
  const found = new Map<string, number[]>()
  for (const size of asked) {
    place.progress(`${size.toLocaleString('en')} ${of}`)
    for (const [row, ms] of await measure(size, place)) found.set(row, [...(found.get(row) ?? []), ms])
  }
  const head = [`${of}: ${asked.map((size) => size.toLocaleString('en')).join(', ')}`]
  return [head, ...[...found].map(([row, figures]) => lineOf(row, figures))]
}

function lineOf(row: string, figures: readonly number[]): string[] {
  const cells = figures.map((ms) => ms.toFixed(ms < 10 ? 2 : 0))
  const missing = Array<string>(4 - figures.length).fill('–')
  const ratio = Math.max(LEAST_MS, figures.at(-1)!) / Math.max(LEAST_MS, figures[0]!)
  return [`  ${row}`, ...cells, ...missing, ratio.toFixed(2), `≤ ${FLAT}`, ratio <= FLAT ? 'met' : 'missed']
}
