// Answers of the SPARQL endpoint: cached, shared, streamed, abandoned, interrupted. On Fuseki, seen through a proxy.
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { startProxy, type StoreProxy } from '../../../support/proxy.js'
import { QUERY_OR_POST } from '../../../support/query-method.js'
import { cachedRowsOf, freshDataset, reasonWithoutFuseki, type Row, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, update, type World } from '../../../support/world.js'
import { until } from '../../../support/wait.js'

const missing = await reasonWithoutFuseki()
/** A request is aborted if the store sends nothing for this long. */
const IDLE_MS = 10_000

async function suite(t: Test): Promise<void> {
  const row = rowsOf(t, 'fuseki')
  const proxy = await startProxy(await freshDataset(t))
  const endUser = openHttpStore({ ...fusekiEndpoints(proxy.url), headersTimeout: 12_000, idleTimeout: IDLE_MS })
  const admin = openHttpStore(fusekiEndpoints(await freshDataset(t)))
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  t.teardown(() => proxy.stop())
  const world = await makeWorld(t, { endUser, admin })
  await caching(row, cachedRowsOf(t, 'fuseki'), world, proxy)
  await streams(row, world, proxy)
  await leaving(row, world, proxy)
  await failures(row, world, proxy)
}

const target = (query: string): string => `/sparql?${new URLSearchParams({ query })}`
const isQuery = ({ path }: { path: string }): boolean => path.includes('/query')
const isWrite = ({ path, method }: { path: string; method: string }): boolean =>
  path.endsWith('/update') || method === 'PUT'

async function caching(row: Row, cachedRow: Row, world: World, proxy: StoreProxy): Promise<void> {
  const as = world.as('owner')
  const path = world.freshPath()
  const graph = world.origin + path
  await as('PUT', path, ttl('<> <http://purl.org/dc/terms/title> "one" .'))
  const questions = async (run: () => Promise<unknown>): Promise<number> => {
    const before = proxy.requests.filter(isQuery).length
    await run()
    return proxy.requests.filter(isQuery).length - before
  }
  const query = `PREFIX dct: <http://purl.org/dc/terms/> SELECT ?o { GRAPH <${graph}> { ?s dct:title ?o } }`
  const spellings = [
    query,
    `prefix x: <http://purl.org/dc/terms/>\nselect ?o {\n graph <${graph}> { $s x:title ?o . } } # bust`.replace(
      ' . }',
      ' }',
    ),
    `BASE <${world.base}> SELECT ?o { GRAPH <${path.slice(1)}> { ?s <http://purl.org/dc/terms/t\\u0069tle> ?o } }`,
  ]
  await cachedRow('demands B14: white space, comments, prefixes and methods do not matter', async (t) => {
    const asked = await questions(async () => {
      for (const spelling of spellings) {
        const answers = [
          await as('GET', target(spelling)),
          await as(QUERY_OR_POST, '/sparql', {
            fields: { 'Content-Type': 'application/sparql-query' },
            body: spelling,
          }),
          await as('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body: spelling }),
        ]
        for (const { status, text } of answers) t.match({ status, text }, { status: 200, text: /"one"/ })
      }
      t.match((await world.as('reader')('GET', target(query))).text, /"one"/, 'another agent who may query')
    })
    t.equal(asked, 1)
  })
  await cachedRow('Age grows with the time since the store answered', async (t) => {
    world.stopClock(t)
    const age = async (): Promise<number> => Number((await as('GET', target(query))).fields.age)
    const before = await age()
    world.passTime(2_000)
    t.equal(await age(), before + 2)
  })
  // prettier-ignore
  const touching: [name: string, update: string, touches: boolean][] = [
    ['INSERT DATA into it', `INSERT DATA { GRAPH <${graph}> { <http://e/s> <http://e/p> 1 } }`, true],
    ['INSERT DATA elsewhere', 'INSERT DATA { GRAPH <http://e/g> { <http://e/s> <http://e/p> 1 } }', false],
    ['INSERT DATA into the default graph', 'INSERT DATA { <http://e/s> <http://e/p> 1 }', false],
    ['WITH it', `WITH <${graph}> INSERT { ?s <http://e/q> 2 } WHERE { ?s <http://e/p> 1 }`, true],
    ['WITH another that reads it', `WITH <http://e/g> INSERT { ?s <http://e/q> 2 } USING <${graph}> WHERE { ?s ?p 1 }`, false],
    ['a graph variable that finds it', 'DELETE { GRAPH ?g { ?s <http://e/q> 2 } } WHERE { GRAPH ?g { ?s <http://e/q> 2 } }', true],
    ['a graph variable that finds nothing', 'DELETE { GRAPH ?g { ?s <http://e/nothing> 1 } } WHERE { GRAPH ?g { ?s <http://e/nothing> 1 } }', false],
    ['COPY from it', `COPY <${graph}> TO <http://e/copy>`, false],
    ['MOVE to another', 'MOVE <http://e/copy> TO <http://e/moved>', false],
    ['ADD of nothing new to it', `ADD <http://e/moved> TO <${graph}>`, false],
    ['ADD to it', `INSERT DATA { GRAPH <http://e/more> { <http://e/s> <http://e/p> 5 } } ; ADD <http://e/more> TO <${graph}>`, true],
    ['CLEAR another', 'CLEAR GRAPH <http://e/g>', false],
    ['DROP SILENT DEFAULT', 'DROP SILENT DEFAULT', false],
    ['two operations, the second of it', `CLEAR SILENT GRAPH <http://e/g> ; INSERT DATA { GRAPH <${graph}> { <http://e/s> <http://e/p> 3 } }`, true],
  ]
  for (const [name, operations, touches] of touching) {
    await cachedRow(`demands B15: an update drops only cached results that it can touch: ${name}`, async (t) => {
      await as('GET', target(query))
      t.equal((await as('POST', '/sparql', update(operations))).status, 200)
      t.equal(await questions(() => as('GET', target(query))), touches ? 1 : 0)
    })
  }
  await cachedRow('an update that the store refuses is not in doubt', async (t) => {
    // These graphs are not documents: updates of documents are carried out by the gateway itself.
    const body =
      'INSERT DATA { GRAPH <http://e/g> { <http://e/s> <http://e/p> 4 } } ; COPY <http://e/nothing> TO <http://e/other>'
    const reading = target('SELECT ?o { GRAPH <http://e/g> { ?s ?p ?o } }')
    // Fuseki 5.6 answers 500, Fuseki 6.2 answers 400.
    t.match(String((await as('POST', '/sparql', update(body))).status), /^(?:502|400)$/)
    t.equal(await questions(() => as('GET', reading).then(() => as('GET', reading))), 1)
  })
  await row('volatile queries reach the store each time', async (t) => {
    const volatile = target(`SELECT (NOW() AS ?x) { GRAPH <${graph}> { ?s ?p ?o } }`)
    t.equal(await questions(() => as('GET', volatile).then(() => as('GET', volatile))), 2)
  })
  await row('many clients that wait for one answer cause one query', async (t) => {
    const fresh = target(`SELECT ?p { GRAPH <${graph}> { ?s ?p ?o } }`)
    proxy.fault({ kind: 'delay', milliseconds: 1_000, only: isQuery })
    t.equal(await questions(() => Promise.all(Array.from({ length: 20 }, () => as('GET', fresh)))), 1)
    proxy.fault(undefined)
  })
  await row('a query after a write is not answered by one that began before it', async (t) => {
    const fresh = target(`SELECT ?s ?p ?o { GRAPH <${graph}> { ?s ?p ?o } }`)
    proxy.fault({ kind: 'delay', milliseconds: 1_000, only: isQuery })
    const before = proxy.requests.filter(isQuery).length
    const early = as('GET', fresh)
    await arrived(proxy, before)
    await as('POST', path, ttl('<> <http://purl.org/dc/terms/title> "late" .'))
    const late = as('GET', fresh)
    t.match((await late).text, /"late"/)
    await early
    proxy.fault(undefined)
    t.match((await as('GET', fresh)).text, /"late"/)
  })
  await row('failed answers are not cached', async (t) => {
    const fresh = target(`SELECT ?s { GRAPH <${graph}> { ?s ?p ?o } }`)
    proxy.fault({ kind: 'answer', status: 500, only: isQuery })
    t.equal((await as('GET', fresh)).status, 502)
    proxy.fault({ kind: 'cut', after: 20, framing: 'chunked', only: isQuery })
    t.equal((await as('GET', fresh)).status, 502, 'broken off before anything was sent on')
    proxy.fault(undefined)
    t.equal((await as('GET', fresh)).status, 200)
  })
  await row('an update whose outcome is unknown leaves nothing in the cache', async (t) => {
    await as('GET', target(query))
    proxy.fault({ kind: 'drop', when: 'after', only: isWrite })
    const body = `INSERT DATA { GRAPH <${graph}> { <http://e/s> <http://purl.org/dc/terms/title> "doubt" } }`
    // Fuseki 5.6 answers 500, Fuseki 6.2 answers 400.
    t.match(String((await as('POST', '/sparql', update(body))).status), /^(?:502|400)$/)
    proxy.fault(undefined)
    t.match((await as('GET', target(query))).text, /"doubt"/)
    t.equal(await questions(() => as('GET', target(query))), 1, 'and no answer is cached until the outcome is known')
  })
  await row('a query that the store rejects → 400', async (t) => {
    t.equal((await as('GET', target('SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o }'))).status, 400)
  })
}

/** About 20 MB: more than is cached, and more than sockets buffer. */
const LARGE =
  'SELECT ?a ?b ?c ?t { GRAPH <http://e/large> { ?a <http://e/n> ?t . ?b <http://e/n> ?t . ?c <http://e/n> ?t } }'

async function streams(row: Row, world: World, proxy: StoreProxy): Promise<void> {
  const text = 'x'.repeat(10_000)
  const triples = Array.from({ length: 13 }, (_, i) => `<http://e/${i}> <http://e/n> "${text}" .`).join('\n')
  const body = `INSERT DATA { GRAPH <http://e/large> { ${triples} } }`
  await world.as('owner')('POST', '/sparql', update(body))

  await row('an answer above the limit is complete, not cached, and has no entity-tag', async (t) => {
    for (let i = 0; i < 2; i++) {
      const before = proxy.requests.filter(isQuery).length
      const { status, fields, text } = await world.as('owner')('GET', target(LARGE))
      t.equal(status, 200)
      t.equal(fields.etag, undefined)
      t.equal(fields['content-length'], undefined)
      t.equal((JSON.parse(text) as { results: { bindings: unknown[] } }).results.bindings.length, 13 ** 3)
      t.equal(proxy.requests.filter(isQuery).length - before, 1)
    }
  })
  await row('simultaneous clients get the complete answer', async (t) => {
    const answers = await Promise.all([1, 2, 3].map(() => world.as('owner')('GET', target(LARGE))))
    t.same(new Set(answers.map(({ text }) => text.length)).size, 1)
  })
  await row('a slow client slows down the store and does not fill the memory of the gateway', async (t) => {
    const { answer, request } = await open(world, target(LARGE))
    answer.pause()
    // Nothing must happen while the client does not read.
    await sleep(500)
    const sent = proxy.requests.filter(isQuery).at(-1)!
    t.equal(sent.abandoned, false, 'the store still waits')
    let size = 0
    for await (const piece of answer) size += (piece as Buffer).length
    t.ok(size > 10e6)
    request.destroy()
  })
}

/** The request with the head of its answer; its body has not been read. */
async function open(world: World, path: string): Promise<{ request: ClientRequest; answer: IncomingMessage }> {
  const request = ask(world, path)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return { request, answer }
}

function ask(world: World, path: string): ClientRequest {
  const pem = world.pemOf('owner')
  const request = httpsGet(world.origin + path, { ca: world.ca, cert: pem, key: pem, agent: false })
  request.on('error', () => undefined)
  return request
}

/** Waits until the proxy has more queries than these. */
async function arrived(proxy: StoreProxy, count: number): Promise<void> {
  await until(() => proxy.requests.filter(isQuery).length > count)
}

/** Design 5: true if the last query was closed at the store before a time limit would close it. */
async function isAbandoned(proxy: StoreProxy): Promise<boolean> {
  const last = proxy.requests.filter(isQuery).at(-1)!
  for (const end = performance.now() + IDLE_MS - 1_000; !last.abandoned && performance.now() < end;) await sleep(5)
  return last.abandoned
}

/** Over 200 MB: no chain of sockets can buffer all of it while the client does not read. */
const ENDLESS = LARGE.replace('?c ?t {', '?c ?d ?t {').replace(
  '?c <http://e/n> ?t',
  '?c <http://e/n> ?t . ?d <http://e/n> ?t',
)

async function leaving(row: Row, world: World, proxy: StoreProxy): Promise<void> {
  for (const [name, query] of [
    ['a query that could be cached', 'SELECT ?left { GRAPH <http://e/large> { ?left ?p ?o } }'],
    ['a volatile query', 'SELECT (NOW() AS ?x) { ?left ?p ?o }'],
  ]) {
    await row(`a client that leaves before the first byte ends the query at the store: ${name}`, async (t) => {
      proxy.fault({ kind: 'silence', only: isQuery })
      const before = proxy.requests.filter(isQuery).length
      const request = ask(world, target(query!))
      await arrived(proxy, before)
      request.destroy()
      t.ok(await isAbandoned(proxy))
      proxy.fault(undefined)
    })
  }
  await row('a client that leaves in the middle ends the query at the store', async (t) => {
    const { request, answer } = await open(world, target(ENDLESS))
    await once(answer, 'readable')
    request.destroy()
    t.ok(await isAbandoned(proxy))
  })
  await row('if one of two waiting clients leaves, the other gets the answer', async (t) => {
    const query = target('SELECT ?shared { GRAPH <http://e/large> { ?shared ?p ?o } }')
    proxy.fault({ kind: 'delay', milliseconds: 2_000, only: isQuery })
    const before = proxy.requests.filter(isQuery).length
    const request = ask(world, query)
    await arrived(proxy, before)
    const other = world.as('owner')('GET', query)
    // The gateway has received the query once it has decided on a later request.
    await world.as('reader')('GET', '/')
    request.destroy()
    t.equal((await other).status, 200)
    t.equal(proxy.requests.filter(isQuery).length - before, 1)
    proxy.fault(undefined)
  })
}

async function failures(row: Row, world: World, proxy: StoreProxy): Promise<void> {
  const broken = async (path: string): Promise<boolean> => {
    const { answer } = await open(world, path)
    answer.resume()
    await once(answer, 'close').catch(() => undefined)
    return !answer.complete
  }
  for (const kind of ['cut', 'stall'] as const) {
    for (const framing of ['chunked', 'length'] as const) {
      await row(
        `a store whose answer ends in the middle (${kind}, ${framing}): the client sees the interruption`,
        async (t) => {
          proxy.fault({ kind, after: 10_000_000, framing, only: isQuery })
          t.ok(await broken(target(LARGE)))
          proxy.fault(undefined)
          t.equal((await world.as('owner')('GET', target(LARGE))).status, 200)
        },
      )
    }
  }
  await row('a volatile answer that ends in the middle is interrupted too', async (t) => {
    proxy.fault({ kind: 'cut', after: 1_000_000, framing: 'chunked', only: isQuery })
    t.ok(
      await broken(
        target(LARGE.replace('?t }', '?t FILTER(NOW() > 0) }').replace('FILTER(NOW() > 0)', 'FILTER(RAND() < 2)')),
      ),
    )
    proxy.fault(undefined)
  })
  const rows: [name: string, fault: Parameters<StoreProxy['fault']>[0], status: number][] = [
    ['drops the connection', { kind: 'drop', when: 'before' }, 502],
    ['is silent', { kind: 'silence' }, 504],
    ['is overloaded', { kind: 'answer', status: 503 }, 503],
    ['answers in another format', { kind: 'fields', fields: { 'content-type': 'text/html' } }, 502],
  ]
  for (const [name, fault, status] of rows) {
    await row(`a store that ${name} before the first byte: ${status}`, async (t) => {
      proxy.fault({ ...fault!, only: isQuery })
      const answer = await world.as('owner')('GET', target(`SELECT ("${name}" AS ?x) { ?s ?p ?o }`))
      t.equal(answer.status, status)
      t.match(answer.fields['content-type'], /turtle/)
      proxy.fault(undefined)
    })
  }
}

void t.test('sparql streams', { ...(missing && { skip: missing }) }, suite)
