// In charge of the rows about the SPARQL endpoint: one query, cached and not, and a large result.
import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { DIFFERENT, longQuery, QUERIES } from './bench-data.js'
import { answerTo } from './contestants.js'
import { contestant, withGateway, type Rows } from './documents.js'
import type { Load } from './load.js'
import { residentBytes } from './machine.js'
import { compare, takeTurns, type Contestant, type Timing } from './series.js'
import type { BenchGateway, Setting } from './setting.js'

export interface Endpoint {
  readonly query: string
  readonly update: string
  readonly ask: (target: string, fields?: Record<string, string>) => Load
}

export const ofGateway = ({ request: ask }: BenchGateway): Endpoint => ({ query: '/sparql', update: '/sparql', ask })
export const ofStore = ({ store: ask }: Setting): Endpoint => ({ query: '/ds/query', update: '/ds/update', ask })

export const queryLoad = ({ query, ask }: Endpoint, sparql: string): Load =>
  ask(`${query}?query=${encodeURIComponent(sparql)}`, { Accept: 'application/sparql-results+json' })

/** Why the gateway's endpoint cannot be measured, if so. */
export async function absence(gateway: BenchGateway): Promise<string | undefined> {
  const { status, head } = await answerTo(queryLoad(ofGateway(gateway), 'ASK {}'))
  return status === 200 ? undefined : `not there (${head.split('\r\n')[0]})`
}

export async function selects(setting: Setting, timing: Timing): Promise<Rows> {
  const loadOf = (endpoint: Endpoint): Load => ({
    ...queryLoad(endpoint, ''),
    targets: Array.from({ length: DIFFERENT }, (_, n) => queryLoad(endpoint, QUERIES.search(n)).targets[0]!),
  })
  const series = (flags: readonly string[], row: string, target: number, core: 'measured' | 'measuring') =>
    withGateway(setting, flags, async (gateway) => {
      const absent = await absence(gateway)
      if (absent !== undefined) return [row, absent]
      setting.place(core)
      const contestants = [
        contestant('gateway', loadOf(ofGateway(gateway))),
        contestant('Fuseki', loadOf(ofStore(setting))),
      ]
      // Every query once, so that the first rounds do not measure an empty cache.
      const { targets, ...load } = loadOf(ofGateway(gateway))
      for (const one of targets) await answerTo({ ...load, targets: [one] })
      return compare(await takeTurns(contestants, timing), { row, of: 'gateway', to: 'Fuseki', target })
    })
  return {
    rows: [
      await series([], 'cached SELECT', 10, 'measured'),
      await series(['--cache', 'off'], 'uncached SELECT', 0.9, 'measuring'),
    ],
    notes: [],
  }
}

const BYTES_PER_ROW = 310
const MAX_GROWTH = 100

/** A result of about so many megabytes, read to its end: megabytes per second, and how far the gateway's memory grows. */
export const large = (setting: Setting, timing: Timing, megabytes: number): Promise<Rows> =>
  withGateway(setting, [], async (gateway) => {
    const row = `SELECT of ${megabytes} MB`
    const absent = await absence(gateway)
    if (absent !== undefined) return { rows: [[row, absent]], notes: [] }
    setting.place('measuring')
    const sparql = longQuery(setting.base, Math.round((megabytes * 1e6) / BYTES_PER_ROW))
    const before = residentBytes(gateway.pid)
    let peak = before
    let size = 0
    const watched: Contestant = {
      name: 'gateway',
      async run() {
        const timer = setInterval(() => (peak = Math.max(peak, residentBytes(gateway.pid))), 20)
        try {
          const read = await megabytesPerSecond(queryLoad(ofGateway(gateway), sparql))
          size = read.megabytes
          return read.rate
        } finally {
          clearInterval(timer)
        }
      },
    }
    const direct = async (): Promise<number> => (await megabytesPerSecond(queryLoad(ofStore(setting), sparql))).rate
    const outcome = await takeTurns([watched, { name: 'Fuseki', run: direct }], { ...timing, rounds: 3 })
    const growth = (peak - before) / 1e6
    return {
      rows: [
        compare(outcome, { row, of: 'gateway', to: 'Fuseki', target: 0.8 }, ' MB/s'),
        [
          `${row}: growth of memory`,
          `${growth.toFixed(0)} MB`,
          '',
          '',
          '',
          `< ${MAX_GROWTH} MB`,
          growth < MAX_GROWTH ? 'met' : 'missed',
        ],
      ],
      notes: [`The large result: ${size.toFixed(0)} MB of JSON, read to its end each time.`],
    }
  })

async function megabytesPerSecond({ port, targets, fields }: Load): Promise<{ rate: number; megabytes: number }> {
  const from = performance.now()
  const request = get({ host: '127.0.0.1', port, path: targets[0]!, headers: fields, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
  let bytes = 0
  for await (const piece of response) bytes += (piece as Buffer).length
  const megabytes = bytes / 1e6
  return { megabytes, rate: (megabytes * 1000) / (performance.now() - from) }
}
