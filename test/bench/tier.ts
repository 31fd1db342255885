// In charge of the rows about the gateway as a whole: by name, in one table, on one setting.
import type { BenchTable } from './bench-table.js'
import { cachedGet, loggedGet, put, tlsGet, uncachedGet, warmStore, type Rows } from './documents.js'
import { footprint } from './footprint.js'
import { CONNECTIONS, generator } from './load.js'
import { describeMachine, MEASURING, pin } from './machine.js'
import { mixes } from './mix.js'
import { profile } from './profile.js'
import { COLUMNS, type Timing } from './series.js'
import { makeSetting, type Setting } from './setting.js'
import { large, selects } from './sparql.js'

export interface TierOptions {
  /** The large result in its full size. */
  readonly full: boolean
}
type Bench = (setting: Setting, options: TierOptions) => Promise<Rows>

const LONG: Timing = { rounds: 5, seconds: 2, warmUp: 1 }
const SHORT: Timing = { rounds: 3, seconds: 2, warmUp: 1 }

const BENCHES: ReadonlyMap<string, Bench> = new Map<string, Bench>([
  ['get', (setting) => cachedGet(setting, LONG)],
  ['log', (setting) => loggedGet(setting, SHORT)],
  ['tls', (setting) => tlsGet(setting, SHORT)],
  ['uncached', (setting) => uncachedGet(setting, LONG)],
  ['put', (setting) => put(setting, LONG)],
  ['select', (setting) => selects(setting, SHORT)],
  ['mix', (setting) => mixes(setting, SHORT)],
  ['large', (setting, { full }) => large(setting, SHORT, full ? 500 : 100)],
  ['footprint', footprint],
])
/** Only when asked for by name. */
const ON_REQUEST: ReadonlyMap<string, Bench> = new Map([['profile', profile]])

export const TIER: readonly string[] = [...BENCHES.keys()]
export const TIER_ON_REQUEST: readonly string[] = [...ON_REQUEST.keys()]

/** The rows of these names, or of all but those on request. A row that fails says why; the others are measured. */
export async function benchTier(names: readonly string[], options: TierOptions): Promise<BenchTable> {
  const began = performance.now()
  const setting = await makeSetting()
  if ('missing' in setting) {
    return { title: 'The gateway in front of Fuseki', columns: COLUMNS, rows: [], notes: [setting.missing] }
  }
  const machine = describeMachine(setting.versions)
  const rows: (readonly string[])[] = []
  const notes = [
    machine,
    `Load by ${generator()} over ${CONNECTIONS} kept connections unless a note says otherwise; the gateway logs warnings only.`,
  ]
  try {
    await warmStore(setting)
    pin(process.pid, MEASURING)
    for (const [name, bench] of [...BENCHES, ...ON_REQUEST]) {
      if (!names.includes(name)) continue
      try {
        const measured = await bench(setting, options)
        rows.push(...measured.rows)
        notes.push(...measured.notes)
      } catch (error) {
        rows.push([name, `failed: ${(error as Error).message.replace(/\s+/g, ' ').slice(0, 160)}`])
      }
    }
  } finally {
    await setting.close()
  }
  notes.push(...rows.flatMap(([name, ...cells]) => cells.filter(isLong).map((cell) => `${name}: ${cell}`)))
  notes.push(`Measured in ${Math.round((performance.now() - began) / 1000)} s.`)
  return {
    title: 'The gateway in front of Fuseki: median (least–most) of rounds that take turns',
    columns: COLUMNS,
    rows: rows.map((row) => row.map((cell, n) => (n > 0 && isLong(cell) ? 'see below' : cell))),
    notes,
  }
}

/** What would make its column too wide stands below the table. */
const isLong = (cell: string): boolean => cell.length > 40
