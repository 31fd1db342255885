// Design 2: the embedded store in memory refuses writes that would not fit, before its process runs out of memory.
import t from 'tap'
import { mostQuadsOf, sizeOf } from '../../../gateway/stores/embedded-limits.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { row } from '../../support/stores.js'
import { makeWorld, ttl, update } from '../../support/world.js'

const MOST = 2_000
const triples = (count: number): string => Array.from({ length: count }, (_, n) => `<> <urn:p> "${n}" .`).join('\n')

void t.test('a full store', async (t) => {
  const stores = {
    endUser: await openEmbeddedStore('end-user', { mostQuads: MOST }),
    admin: await openEmbeddedStore('admin'),
  }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const { as, base } = await makeWorld(t, stores)
  const owner = as('owner')
  const inserts = (from: number, to: number): string =>
    `INSERT { GRAPH <${base}u/> { <${base}u/> <urn:p> ?n } } WHERE { VALUES ?n { ${Array.from({ length: to - from }, (_, n) => n + from).join(' ')} } }`
  t.equal((await owner('PUT', '/big/', ttl(triples(MOST / 2)))).status, 201)
  t.equal((await owner('PUT', '/u/', ttl(triples(1)))).status, 201)
  const ROWS: readonly (readonly [
    string,
    () => Promise<{ readonly status: number; readonly text: string }>,
    number,
  ])[] = [
    ['a document that is too large', () => owner('PUT', '/more/', ttl(triples(MOST))), 507],
    ['that document was not stored', () => owner('GET', '/more/'), 404],
    ['an update that is too large', () => owner('POST', '/sparql', update(inserts(0, MOST))), 507],
    ['an update that fits', () => owner('POST', '/sparql', update(inserts(0, 10))), 200],
    ['a document that fits', () => owner('PUT', '/small/', ttl(triples(10))), 201],
    ['a document that becomes smaller', () => owner('PUT', '/big/', ttl(triples(10))), 200],
    ['then there is room for another document', () => owner('PUT', '/more/', ttl(triples(MOST / 2))), 201],
    ['a removal makes room too', () => owner('DELETE', '/more/'), 204],
    ['after that, another document of that size fits', () => owner('PUT', '/again/', ttl(triples(MOST / 2))), 201],
  ]
  for (const [name, send, status] of ROWS)
    await row(t, 'embedded', name, async (t) => {
      const answer = await send()
      t.equal(answer.status, status, answer.text)
      if (status === 507) t.match(answer.text, /The embedded store is full, at 2000 triples\. .*--store oxigraph/)
    })
})

void t.test('the size of a text', async (t) => {
  const line = '<urn:s> <urn:p> "o" .\n'
  for (const [name, text, size] of [
    ['nothing', '', 0],
    ['a triple', line, 1],
    ['many', line.repeat(1_000), 1_000],
    ['more than are counted', line.repeat(100_000), 100_000],
    ['a long literal', `<urn:s> <urn:p> "${'x'.repeat(200_000)}" .\n`, 1_001],
  ] as const)
    await row(t, 'none', name, (t) => t.ok(Math.abs(sizeOf(text) - size) <= size / 100, `${sizeOf(text)}`))
  t.same([2 ** 29, 2 ** 32, 2 ** 40].map(mostQuadsOf), [268_435, 2_147_483, 4_000_000])
})
