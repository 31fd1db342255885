// The mix of BSBM-like queries and updates: throughput, the share answered without the store, stale answers.
import { counterIn, counterUpdate, LIVELY, QUERIES } from './bench-data.js'
import { withGateway, type Rows } from './documents.js'
import { openConnection, requestBytes, type Connection } from './raw-http.js'
import { compare, takeTurns, type Contestant, type Timing } from './series.js'
import type { Setting } from './setting.js'
import { absence, ofGateway, ofStore, queryLoad, type Endpoint } from './sparql.js'

const SHARES = [0, 0.01, 0.05, 0.2]
const WORKERS = 16
const KINDS = ['details', 'details', 'reviews', 'search'] as const

/** The requests of one contestant, over all turns. No other contestant changes its products. */
interface Tally {
  readonly endpoint: Endpoint
  readonly base: string
  readonly firstProduct: number
  /** The counter of each product after the last update that was answered. */
  readonly acknowledged: number[]
  queries: number
  stale: number
}

const below = (limit: number): number => Math.floor(Math.random() * limit)

async function update(connection: Connection, tally: Tally, product: number): Promise<void> {
  const { endpoint, base, acknowledged, firstProduct } = tally
  const value = acknowledged[product]! + 1
  const { fields } = endpoint.ask('', { 'Content-Type': 'application/sparql-update' })
  const text = counterUpdate(base, firstProduct + product, value)
  const { status, head } = await connection.exchange(requestBytes('POST', endpoint.update, fields, text))
  if (status >= 300) throw new Error(`update: ${head.split('\r\n')[0]}`)
  acknowledged[product] = value
}

async function query(connection: Connection, tally: Tally, product: number): Promise<void> {
  const { endpoint, base, acknowledged, firstProduct } = tally
  const kind = KINDS[below(KINDS.length)]!
  const sparql = kind === 'search' ? QUERIES.search(product % 20) : QUERIES[kind](base, firstProduct + product)
  const expected = acknowledged[product]!
  const { targets, fields } = queryLoad(endpoint, sparql)
  const { status, head, body } = await connection.exchange(requestBytes('GET', targets[0]!, fields))
  if (status !== 200) throw new Error(`query: ${head.split('\r\n')[0]}`)
  tally.queries++
  // The query must see every update that was answered before it was sent (spec 4.2).
  if (kind === 'details' && !((counterIn(body.toString()) ?? -1) >= expected)) tally.stale++
}

async function perSecond(tally: Tally, share: number, seconds: number): Promise<number> {
  const from = performance.now()
  const until = from + seconds * 1000
  let count = 0
  const work = async (worker: number): Promise<void> => {
    const connection = await openConnection(tally.endpoint.ask(''))
    try {
      for (; performance.now() < until; count++) {
        if (Math.random() >= share) await query(connection, tally, below(LIVELY))
        // Only one worker changes a product, so its counter only grows.
        else await update(connection, tally, worker + WORKERS * below(Math.floor(LIVELY / WORKERS)))
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
  return (count * 1000) / (performance.now() - from)
}

export const mixes = (setting: Setting, timing: Timing): Promise<Rows> =>
  withGateway(setting, [], async (gateway) => {
    const absent = await absence(gateway)
    if (absent !== undefined) return { rows: [['mix of queries and updates', absent]], notes: [] }
    setting.place('measuring')
    const tallyOf = (endpoint: Endpoint, firstProduct: number): Tally => ({
      endpoint,
      base: setting.base,
      firstProduct,
      acknowledged: Array.from({ length: LIVELY }, () => 0),
      queries: 0,
      stale: 0,
    })
    const own = tallyOf(ofGateway(gateway), 0)
    const direct = tallyOf(ofStore(setting), LIVELY)
    const rows: string[][] = []
    for (const share of SHARES) {
      let asked = 0
      Object.assign(own, { queries: 0, stale: 0 })
      const contestants: Contestant[] = [
        {
          name: 'gateway',
          async run(seconds) {
            const before = await setting.queriesAsked()
            const figure = await perSecond(own, share, seconds)
            asked += (await setting.queriesAsked()) - before
            return figure
          },
        },
        { name: 'Fuseki', run: (seconds) => perSecond(direct, share, seconds) },
      ]
      const outcome = await takeTurns(contestants, timing)
      const row = `mix with ${share * 100} % updates`
      rows.push(compare(outcome, { row, of: 'gateway', to: 'Fuseki' }))
      rows.push([`${row}: answered without the store`, `${((1 - asked / own.queries) * 100).toFixed(1)} %`])
      rows.push([`${row}: stale answers`, `${own.stale}`, '', '', '', '0', own.stale === 0 ? 'met' : 'missed'])
    }
    return { rows, notes: [`The mix: ${WORKERS} connections, ${LIVELY} products, load by Node.js for both.`] }
  })
