// In charge of the rows that compare the gateway with that of another checkout, such as the commit before: in one run, over the
// same store, in turns.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort } from '../support/ports.js'
import { DIFFERENT, putDocument, QUERIES, TWENTY_TRIPLES } from './bench-data.js'
import { answerTo } from './contestants.js'
import { bulkPaths, contestant, TURTLE, type Rows } from './documents.js'
import type { Load } from './load.js'
import { compare, takeTurns, type Timing } from './series.js'
import type { BenchGateway, Setting } from './setting.js'
import { ofGateway, queryLoad } from './sparql.js'

/** The folder of the other checkout, which is built. */
const OTHER = process.env['BESIDE']

/** A load for each row, once with the cache and once without. */
const LOADS: Readonly<
  Record<'on' | 'off', Readonly<Record<string, (gateway: BenchGateway, setting: Setting) => Load>>>
> = {
  on: {
    'cached GET': (gateway, { path }) => gateway.request(path, TURTLE),
    'cached GET over TLS': (gateway, { path }) => gateway.tlsRequest(path, TURTLE),
    'cached SELECT': (gateway) => searches(gateway),
    PUT: (gateway, setting) => ({
      ...gateway.request('', { 'Content-Type': 'text/turtle' }),
      method: 'PUT',
      body: TWENTY_TRIPLES,
      status: [200, 201, 204],
      targets: Array.from({ length: 64 }, (_, n) => new URL(putDocument(setting.base, n)).pathname),
    }),
  },
  off: {
    'uncached GET': (gateway, setting) => ({ ...gateway.request('', TURTLE), targets: bulkPaths(setting, DIFFERENT) }),
    'uncached SELECT': (gateway) => searches(gateway),
  },
}

const searches = (gateway: BenchGateway): Load => ({
  ...queryLoad(ofGateway(gateway), ''),
  targets: Array.from({ length: DIFFERENT }, (_, n) => queryLoad(ofGateway(gateway), QUERIES.search(n)).targets[0]!),
})

export async function besideOther(setting: Setting, timing: Timing): Promise<Rows> {
  if (OTHER === undefined) throw new Error('name the other checkout in the variable BESIDE')
  const main = resolve(OTHER, 'dist/gateway/main.js')
  if (!existsSync(main)) throw new Error(`there is no ${main}: build the other checkout`)
  setting.place('measuring')
  const rows: string[][] = []
  for (const [cache, loads] of Object.entries(LOADS)) {
    const flags = cache === 'off' ? ['--cache', 'off'] : []
    const data = mkdtempSync(join(tmpdir(), 'triplegate-beside-'))
    const [https, http] = [await freePort(), await freePort()]
    const own = await setting.startGateway(flags)
    const other = await setting.startGateway(flags, { main, data, https, http })
    try {
      for (const [row, load] of Object.entries(loads)) {
        const pair = [contestant('this', load(own, setting)), contestant('other', load(other, setting))]
        // Every target once, so that the first rounds do not measure an empty cache.
        for (const gateway of [own, other]) {
          const one = load(gateway, setting)
          if (row === 'cached SELECT') for (const target of one.targets) await answerTo({ ...one, targets: [target] })
        }
        rows.push(compare(await takeTurns(pair, timing), { row, of: 'this', to: 'other', target: 0.95 }))
      }
    } finally {
      await Promise.all([own.end(), other.end()])
      rmSync(data, { recursive: true, force: true })
    }
  }
  return { rows, notes: [`other: ${resolve(OTHER)}`] }
}
