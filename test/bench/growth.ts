// Measures costs that grow with the data: the main thread's time for the same request, at sizes that grow tenfold.
import { fetchFuseki, startFuseki } from '../support/fuseki.js'
import type { BenchTable } from './bench-table.js'
import { growthOfDocuments } from './growth-documents.js'
import { growthOfRules } from './growth-rules.js'
import { growthOfVersions } from './growth-versions.js'
import { describeMachine } from './machine.js'

/** One kind of thing whose number grows. */
export interface Growth {
  /** The kind, such as `documents`. */
  readonly of: string
  /** The sizes, smallest first. The last one is measured only with `--million`. */
  readonly sizes: readonly number[]
  /** The main thread's time in ms at this size, by row. */
  readonly measure: (size: number, place: GrowthPlace) => Promise<ReadonlyMap<string, number>>
}

export interface GrowthPlace {
  /** The base URL of a Fuseki that creates datasets. */
  readonly fuseki: string
  readonly progress: (what: string) => void
}

const GROWTHS: readonly Growth[] = [growthOfDocuments, growthOfRules, growthOfVersions]

/** The largest size may cost this many times the time of the smallest. */
const FLAT = 1.5
/** Shorter times are lost in other work of the main thread. */
const LEAST_MS = 1

export const MILLION = '--million'

export async function benchGrowth(progress: (what: string) => void): Promise<BenchTable> {
  const title = 'Main-thread time by amount of data: ms, medians'
  const columns = ['', 'smallest', '× 10', '× 100', '× 1,000', '× 10,000', 'largest/smallest', 'target', '']
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
  const missing = Array<string>(5 - figures.length).fill('–')
  const ratio = Math.max(LEAST_MS, figures.at(-1)!) / Math.max(LEAST_MS, figures[0]!)
  return [`  ${row}`, ...cells, ...missing, ratio.toFixed(2), `≤ ${FLAT}`, ratio <= FLAT ? 'met' : 'missed']
}
