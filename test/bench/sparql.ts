// The rows about the SPARQL endpoint: one query, cached and not, and a large result.
import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { DIFFERENT, longQuery, QUERIES } from './bench-data.js'
import { answerTo } from './contestants.js'
import { contestant, withGateway, type Rows } from './documents.js'
import type { Load } from './load.js'
import { residentBytes } from './machine.js'
import { compare, takeTurns, type Contestant, type Timing } from './series.js'
import type { BenchGateway, Setting } from './setting.js'

export interface QueryEndpoint {
  readonly query: string
  readonly ask: (target: string, fields?: Record<string, string>) => Load
}
export interface Endpoint extends QueryEndpoint {
  readonly update: string
}

export const ofGateway = ({ request: ask }: BenchGateway): Endpoint => ({ query: '/sparql', update: '/sparql', ask })
export const ofStore = ({ store: ask }: Setting): Endpoint => ({ query: '/ds/query', update: '/ds/update', ask })

export const queryLoad = (
  { query, ask }: QueryEndpoint,
  sparql: string,
  accept = 'application/sparql-results+json',
): Load => ask(`${query}?query=${encodeURIComponent(sparql)}`, { Accept: accept })

/** The reason why the gateway's endpoint cannot be measured, if there is one. */
export async function absence(gateway: BenchGateway): Promise<string | undefined> {
  const { status, head } = await answerTo(queryLoad(ofGateway(gateway), 'ASK {}'))
  return status === 200 ? undefined : `not there (${head.split('\r\n')[0]})`
}

const searches = (endpoint: QueryEndpoint): Load => ({
  ...queryLoad(endpoint, ''),
  targets: Array.from({ length: DIFFERENT }, (_, n) => queryLoad(endpoint, QUERIES.search(n)).targets[0]!),
})

interface Selects {
  readonly cached: boolean
  readonly beside: string
  readonly endpoint: QueryEndpoint
  /** The core on which the store runs. */
  readonly core: 'measured' | 'measuring'
  readonly target?: number
}

const selectRow = (
  setting: Setting,
  timing: Timing,
  { cached, beside, endpoint, core, target }: Selects,
): Promise<string[]> =>
  withGateway(setting, cached ? [] : ['--cache', 'off'], async (gateway) => {
    const row = cached ? 'cached SELECT' : 'uncached SELECT'
    const absent = await absence(gateway)
    if (absent !== undefined) return [row, absent]
    setting.place(core)
    const own = searches(ofGateway(gateway))
    // Runs every query once, so that the first rounds do not measure an empty cache.
    for (const one of own.targets) await answerTo({ ...own, targets: [one] })
    const outcome = await takeTurns([contestant('gateway', own), contestant(beside, searches(endpoint))], timing)
    return compare(outcome, { row, of: 'gateway', to: beside, target })
  })

export async function selects(setting: Setting, timing: Timing): Promise<Rows> {
  const other = { beside: 'Fuseki', endpoint: ofStore(setting) }
  return {
    rows: [
      await selectRow(setting, timing, { ...other, cached: true, core: 'measured', target: 10 }),
      await selectRow(setting, timing, { ...other, cached: false, core: 'measuring', target: 0.9 }),
    ],
    notes: [],
  }
}

/** SELECTs like those above, compared with another server over the same Fuseki. */
export async function selectsBeside(
  setting: Setting,
  timing: Timing,
  beside: string,
  endpoint: QueryEndpoint,
): Promise<string[][]> {
  const other = { beside, endpoint, core: 'measuring' } as const
  return [
    await selectRow(setting, timing, { ...other, cached: true }),
    await selectRow(setting, timing, { ...other, cached: false }),
  ]
}

const TSV = 'text/tab-separated-values'
const BYTES_PER_ROW = 205
const MAX_GROWTH = 100
const WARM_UP_MEGABYTES = 50

/**
 * Reads a result of about this many megabytes to its end: megabytes per second, and the growth of the gateway's memory.
 */
export const large = (setting: Setting, megabytes: number): Promise<Rows> =>
  withGateway(setting, [], async (gateway) => {
    const row = `SELECT of ${megabytes} MB`
    const absent = await absence(gateway)
    if (absent !== undefined) return { rows: [[row, absent]], notes: [] }
    setting.place('measuring')
    const read = (endpoint: Endpoint, size: number): ReturnType<typeof readToEnd> =>
      readToEnd(queryLoad(endpoint, longQuery(setting.base, Math.round((size * 1e6) / BYTES_PER_ROW)), TSV))
    const before = residentBytes(gateway.pid)
    let peak = before
    let size = 0
    const contestants: Contestant[] = [
      {
        name: 'gateway',
        async run() {
          const timer = setInterval(() => (peak = Math.max(peak, residentBytes(gateway.pid))), 20)
          try {
            const whole = await read(ofGateway(gateway), megabytes)
            size = whole.megabytes
            return whole.perSecond
          } finally {
            clearInterval(timer)
          }
        },
      },
      { name: 'Fuseki', run: async () => (await read(ofStore(setting), megabytes)).perSecond },
    ]
    for (const endpoint of [ofGateway(gateway), ofStore(setting)]) await read(endpoint, WARM_UP_MEGABYTES)
    const outcome = await takeTurns(contestants, { rounds: 3, seconds: 0, warmUp: 0 })
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
      notes: [
        `The large result: ${size.toFixed(0)} MB of TSV, which Fuseki writes fastest, read to its end each time.`,
      ],
    }
  })

async function readToEnd({ port, targets, fields }: Load): Promise<{ perSecond: number; megabytes: number }> {
  const from = performance.now()
  const request = get({ host: '127.0.0.1', port, path: targets[0]!, headers: fields, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
  let bytes = 0
  for await (const piece of response) bytes += (piece as Buffer).length
  const megabytes = bytes / 1e6
  return { megabytes, perSecond: (megabytes * 1000) / (performance.now() - from) }
}
