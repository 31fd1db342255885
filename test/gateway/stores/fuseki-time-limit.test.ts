// Fuseki gets the gateway's time limit with each query, and stops the query itself: it does not stop when the client
// leaves (design 7).
import t from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { wholeText } from '../../../gateway/stores/whole-text.js'
import { startProxy } from '../../support/proxy.js'
import { until } from '../../support/wait.js'
import { freshDataset, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'

const JSON_RESULTS = 'application/sparql-results+json'
const missing = await reasonWithoutFuseki()

await t.test('time limits of Fuseki', { skip: missing ?? false }, async (t) => {
  const row = rowsOf(t, 'fuseki')
  const dataset = await freshDataset(t)
  const proxy = await startProxy(dataset)
  t.teardown(() => proxy.stop())
  const store = openHttpStore(fusekiEndpoints(proxy.url))
  const hasty = openHttpStore({ ...fusekiEndpoints(proxy.url), headersTimeout: 1_000 })
  t.teardown(() => Promise.all([store.close(), hasty.close()]))
  const triples = Array.from({ length: 2_000 }, (_, i) => `<urn:s${i}> <urn:p> ${i} .`)
  await store.update(`INSERT DATA { ${triples.join('\n')} }`)
  const timeoutOf = (path: string): string | null => new URL(path, 'http://store').searchParams.get('timeout')
  const limits = (): (string | null)[] => proxy.requests.splice(0).map(({ path }) => timeoutOf(path))
  /** The requests to the dataset that Fuseki has ended with an error. */
  const endedBadly = async (): Promise<number> => {
    const { origin, pathname } = new URL(dataset)
    const stats = await (await fetch(`${origin}/$/stats${pathname}`)).text()
    return Number(/"RequestsBad"\s*:\s*(\d+)/.exec(stats)![1])
  }
  const cross = '{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }'

  await row('Fuseki is recognised by its answers; the limit for results is that for the first one', async (t) => {
    limits()
    for (const [query, accept] of [
      ['ASK {}', JSON_RESULTS],
      ['SELECT * {} LIMIT 1', 'text/csv'],
      ['CONSTRUCT WHERE { <urn:s1> ?p ?o }', 'application/n-triples'],
    ] as const) {
      const text = await wholeText(store.query(query, accept), 10_000)
      t.notOk(isFailure(text))
    }
    t.same(limits(), ['31,10000000', '31,10000000', '31'])
  })
  await row('a query whose client has left ends at Fuseki too', async (t) => {
    await until(async () => (await hasty.ready()) === undefined)
    for (const [query, accept] of [
      [`SELECT (COUNT(*) AS ?n) ${cross}`, JSON_RESULTS],
      [`CONSTRUCT { ?a ?b ?l } ${cross}`, 'application/n-triples'],
    ] as const) {
      const before = await endedBadly()
      limits()
      t.match(await hasty.query(query, accept), { failure: 'store.time' })
      t.match(limits(), [/^2(?:,10000000)?$/])
      await until(async () => (await endedBadly()) > before)
      t.equal(await endedBadly(), before + 1, query)
    }
  })
  await row('a store that does not name itself Fuseki gets no such parameter', async (t) => {
    proxy.fault({
      kind: 'answer',
      status: 200,
      fields: { 'content-type': JSON_RESULTS },
      body: '{"head":{},"boolean":true}',
    })
    const other = openHttpStore(fusekiEndpoints(proxy.url))
    t.teardown(() => other.close())
    limits()
    for (let i = 0; i < 2; i++) t.notOk(isFailure(await wholeText(other.query('ASK {}', JSON_RESULTS), 10_000)))
    t.same(limits(), [null, null])
    proxy.fault(undefined)
  })
})
