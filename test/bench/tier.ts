// The rows about the gateway as a whole: by name, in one table, with one setting.
import type { BenchTable, Part } from './bench-table.js'
import { cachedGet, loggedGet, put, tlsGet, uncachedGet, warmStore, type Rows } from './documents.js'
import { besideOther, putsOnDisk } from './beside.js'
import { dropIn } from './drop-in.js'
import { footprint } from './footprint.js'
import { identities } from './identity.js'
import { CONNECTIONS, generator } from './load.js'
import { describeMachine, MEASURING, pin } from './machine.js'
import { mixes } from './mix.js'
import { profile } from './profile.js'
import { COLUMNS, type Timing } from './series.js'
import { makeSetting, type Setting } from './setting.js'
import { besideSolidServer } from './solid-server.js'
import { large, selects } from './sparql.js'
import { besideTrifid } from './trifid.js'

interface TierPart extends Part {
  readonly measure: (setting: Setting, progress: (what: string) => void) => Promise<Rows>
}

const USUAL: Timing = { rounds: 5, seconds: 1, warmUp: 1 }
/** For contestants that answer few requests a second. */
const SLOW: Timing = { rounds: 3, seconds: 2, warmUp: 1 }

export const TIER: Readonly<Record<string, TierPart>> = {
  get: {
    about: 'cached GET and 304 compared with a bare Fastify route, nginx proxy_cache and Fuseki',
    seconds: 35,
    measure: (setting) => cachedGet(setting, USUAL),
  },
  log: {
    about: 'cached GET with a line in the log for each',
    seconds: 30,
    measure: (setting) => loggedGet(setting, { ...USUAL, rounds: 3 }),
  },
  tls: {
    about: 'cached GET over TLS compared with a bare Fastify route',
    seconds: 15,
    measure: (setting) => tlsGet(setting, USUAL),
  },
  identity: {
    about: 'cached GET by a session cookie and by a token seen before, compared with a certificate',
    seconds: 22,
    measure: (setting) => identities(setting, { ...USUAL, rounds: 15 }),
  },
  uncached: { about: 'uncached GET versus Fuseki', seconds: 15, measure: (setting) => uncachedGet(setting, USUAL) },
  put: { about: 'PUT of 20 triples versus Fuseki', seconds: 15, measure: (setting) => put(setting, USUAL) },
  disk: {
    about: 'PUT of 20 triples to a store on disk (TDB2) compared with Fuseki, and with another checkout, BESIDE=FOLDER',
    seconds: 40,
    measure: (setting) => putsOnDisk(setting, { rounds: 4, seconds: 3, warmUp: 2 }),
  },
  select: {
    about: 'SELECT, cached and not, compared with Fuseki',
    seconds: 30,
    measure: (setting) => selects(setting, USUAL),
  },
  'drop-in': {
    about: "GET by ?graph= and SELECT at the store's own URLs, cached and not, beside Fuseki",
    seconds: 150,
    onRequest: true,
    measure: (setting, progress) => dropIn(setting, USUAL, progress),
  },
  mix: {
    about: 'BSBM-like queries with 0, 1, 5 and 20 % updates compared with Fuseki, and stale answers',
    seconds: 50,
    measure: (setting) => mixes(setting, USUAL),
  },
  large: {
    about: 'SELECT of 500 MB compared with Fuseki, and the growth of memory',
    seconds: 35,
    measure: (setting) => large(setting, 500),
  },
  footprint: { about: 'start, and memory when idle and per stored byte', seconds: 35, measure: footprint },
  beside: {
    about: 'the rows of documents and queries compared with the gateway of another checkout, BESIDE=FOLDER',
    seconds: 200,
    onRequest: true,
    measure: (setting) => besideOther(setting, { ...USUAL, rounds: 9 }),
  },
  css: {
    about: 'GET compared with @solid/community-server over the same Fuseki; fetched from npm the first time (105 MB)',
    seconds: 45,
    onRequest: true,
    measure: (setting) => besideSolidServer(setting, SLOW),
  },
  trifid: {
    about: 'GET and SELECT compared with trifid over the same Fuseki; fetched from npm the first time (335 MB)',
    seconds: 80,
    onRequest: true,
    measure: (setting) => besideTrifid(setting, SLOW),
  },
  profile: { about: "where the gateway's time goes", seconds: 20, onRequest: true, measure: profile },
}

/** The rows of these parts. A row that fails shows its reason, and the others are still measured. */
export async function benchTier(names: readonly string[], progress: (what: string) => void): Promise<BenchTable> {
  const began = performance.now()
  progress('Fuseki, its data, its warm-up')
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
    for (const name of names) {
      progress(name)
      try {
        const measured = await TIER[name]!.measure(setting, progress)
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

/** Texts that would make a column too wide are printed below the table. */
const isLong = (cell: string): boolean => cell.length > 40
