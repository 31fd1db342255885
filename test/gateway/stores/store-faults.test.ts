// A store behind HTTP when its connection, its answers or its server fail, on a real Fuseki.
import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net'
import t, { type Test } from 'tap'
import { fusekiEndpoints, openHttpStore, type HttpStoreSettings } from '../../../gateway/stores/http-store.js'
import { makeServerCertificate } from '../../../gateway/agents/make-certificate.js'
import { isFailure, STATUS_OF, type Problem } from '../../../gateway/problem.js'
import { StoreBreak, type GraphStore } from '../../../gateway/stores/store.js'
import { fetchFuseki, freePort, startFuseki } from '../../support/fuseki.js'
import { startProxy, type Fault, type StoreProxy } from '../../support/proxy.js'
import { A_MINUTE, gate, until } from '../../support/wait.js'
import { freshDataset, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'

// This comes before the first row, since a pause between rows would end the file.
const [pem, another, elsewhere] = (await Promise.all(
  ['127.0.0.1', '127.0.0.1', 'store.example'].map((host) => makeServerCertificate([host], Date.now())),
)) as [string, string, string]

const DOCUMENT = 'https://data.example/a/'
const TSV = 'text/tab-separated-values'
const TRIPLE = `<${DOCUMENT}> <urn:p> "one" .\n`
const OTHER = `<${DOCUMENT}> <urn:p> "two" .\n`
const LARGE_COUNT = 20_000
const LARGE = Array.from({ length: LARGE_COUNT }, (_, i) => `<${DOCUMENT}> <urn:p> "${i}" .\n`).join('')
const ALL = `SELECT ?o { GRAPH <${DOCUMENT}> { ?s ?p ?o } }`
const N_TRIPLES = { 'content-type': 'application/n-triples' }

const failed = (detail: RegExp) => ({ failure: 'store.failed', detail })
const refused = (detail: RegExp) => ({ failure: 'store.refused', detail })
const BROKEN = failed(/broke off/)
const TOO_LONG = { failure: 'store.time' }
const TOO_LARGE = { failure: 'store.too-large', detail: /limit of 10 bytes/ }
const UNREACHABLE = { failure: 'store.unreachable', fields: [['Retry-After', '5']] }

/** A Problem must not reveal the address of the store, nor the credentials of the gateway. */
function isDiscreet(t: Test, result: unknown): void {
  if (isFailure(result)) t.notMatch(JSON.stringify(result), /127\.0\.0\.1|localhost|\d{4,5}\/|secret/)
}

type Settings = Partial<HttpStoreSettings>

interface Setting {
  readonly t: Test
  readonly proxy: StoreProxy
  readonly store: GraphStore
  /** Another store with the same dataset behind the same proxy. */
  open(settings: Settings): GraphStore
}

const fusekiRow = rowsOf(t, 'fuseki')
const rowWithoutStore = rowsOf(t, 'none')
const missing = await reasonWithoutFuseki()
const dataset = missing ? '' : await freshDataset(t)

/** A row on Fuseki: the dataset behind a proxy of its own, with one graph in it. */
const row = (name: string, run: (setting: Setting) => Promise<unknown>) =>
  fusekiRow(name, async (t) => {
    if (missing) return t.pass(name, { skip: missing })
    const proxy = await startProxy(dataset)
    t.teardown(() => proxy.stop())
    const open = (settings: Settings) => {
      const store = openHttpStore({ ...fusekiEndpoints(proxy.url), ...settings })
      t.teardown(() => store.close())
      return store
    }
    const store = open({})
    await store.replace(DOCUMENT, TRIPLE)
    proxy.requests.length = 0
    await run({ t, proxy, store, open })
  })

const SHORT = { connectTimeout: 300, headersTimeout: 300, idleTimeout: 300 }
/** Nothing ends by itself while the test waits. */
const PATIENT = { connectTimeout: 600_000, headersTimeout: 600_000, idleTimeout: 600_000, totalTimeout: 600_000 }
const answer = (status: number, fields: Record<string, string> = {}, body: string | Buffer = ''): Fault => ({
  kind: 'answer',
  status,
  fields: { ...fields, 'content-length': String(Buffer.byteLength(body)) },
  body,
})

type Framing = Extract<Fault, { framing: unknown }>['framing']
const cut = (after: number, framing: Framing): Fault => ({ kind: 'cut', after, framing })
const stall = (after: number, framing: Framing): Fault => ({ kind: 'stall', after, framing })
const dropped = (when: 'before' | 'after'): Fault => ({ kind: 'drop', when })
const delay = (milliseconds: number): Fault => ({ kind: 'delay', milliseconds })
const fields = (changed: Record<string, string>): Fault => ({ kind: 'fields', fields: changed })
const format = (contentType: string): Fault => fields({ 'content-type': contentType })
const unavailable = (delayOrDate: string): Fault => answer(503, { 'retry-after': delayOrDate })
const retryAfter = (delayOrDate: string) => ({ failure: 'store.unreachable', fields: [['Retry-After', delayOrDate]] })
const SILENCE: Fault = { kind: 'silence' }
const NO_CONTENT: Fault = { kind: 'answer', status: 204 }
const MOVED = { location: '/elsewhere' }
const DATE = 'Fri, 20 Nov 2026 19:13:48 GMT'
const PAGE = answer(502, { 'content-type': 'text/html' }, '<h1>127.0.0.1:3030/ds</h1>')
const TOTAL = { totalTimeout: 200 }
const LIMIT = { maxGraphBytes: 10 }
const NOT_UTF_8 = Buffer.from([0x22, 0xff, 0x22])

// prettier-ignore
const FAULTS: readonly [name: string, fault: Fault, expected: object | undefined, settings?: Settings][] = [
  ['no answer', SILENCE, TOO_LONG, SHORT],
  ['an answer that begins after the total timeout', delay(2_000), TOO_LONG, TOTAL],
  ['an answer in chunks that stops in the middle', stall(20, 'chunked'), TOO_LONG, SHORT],
  ['an answer of known length that stops', stall(20, 'length'), TOO_LONG, SHORT],
  ['an answer that stops, before the idle timeout', stall(20, 'length'), TOO_LONG, TOTAL],
  ['a connection dropped before the request', dropped('before'), BROKEN],
  ['a connection dropped after the request', dropped('after'), BROKEN],
  ['an answer cut off, in chunks', cut(20, 'chunked'), BROKEN],
  ['an answer cut off, of known length', cut(20, 'length'), BROKEN],
  ['an answer cut off before its first byte', cut(0, 'length'), BROKEN],
  ['an answer cut off at the end of a line', cut(TRIPLE.length, 'chunked'), BROKEN],
  ['an answer that ends with its connection', cut(20, 'close'), failed(/where it ends/)],
  ['500', answer(500), failed(/status 500/)],
  ['502 with a page', PAGE, failed(/status 502/)],
  ['503', answer(503), UNREACHABLE],
  ['503 with a delay', unavailable('17'), retryAfter('17')],
  ['503 until a date', unavailable(DATE), retryAfter(DATE)],
  ['503 with a malformed delay', unavailable('secret'), UNREACHABLE],
  ['401', answer(401, { 'www-authenticate': 'Basic' }), refused(/credentials/)],
  ['403', answer(403), refused(/credentials/)],
  ['400', answer(400, {}, 'Parse error: secret'), refused(/status 400/)],
  ['204', NO_CONTENT, failed(/status 204/)],
  ['206', answer(206, N_TRIPLES, TRIPLE), failed(/status 206/)],
  ['301', answer(301, MOVED), failed(/redirection/)],
  ['307', answer(307, MOVED), failed(/redirection/)],
  ['text/plain', format('text/plain'), failed(/format/)],
  ['text/turtle', format('text/turtle'), failed(/format/)],
  ['no format', answer(200, {}, TRIPLE), failed(/format/)],
  ['a content coding', fields({ 'content-encoding': 'gzip' }), failed(/content coding/)],
  ['bytes that are not UTF-8', answer(200, N_TRIPLES, NOT_UTF_8), failed(/UTF-8/)],
  ['a graph above the limit, in chunks', fields({}), TOO_LARGE, LIMIT],
  ['a graph above the limit, of known length', answer(200, N_TRIPLES, TRIPLE), TOO_LARGE, LIMIT],
  ['an empty graph', answer(200, N_TRIPLES), undefined],
  ['404', answer(404), undefined],
]

for (const [name, fault, expected, settings] of FAULTS)
  await row(`reading: ${name}`, async ({ t, proxy, store, open }) => {
    const faulty = settings ? open(settings) : store
    proxy.fault(fault)
    const result = await faulty.read(DOCUMENT)
    if (expected) t.match(result, expected)
    else t.equal(result, undefined)
    isDiscreet(t, result)
    // On a machine that stalls, a short limit may end before the request is sent.
    t.ok(proxy.requests.length === 1 || (settings && proxy.requests.length === 0), 'the request is sent once')
    proxy.fault(undefined)
    if (!settings?.maxGraphBytes)
      t.ok(await until(async () => (await faulty.read(DOCUMENT)) === TRIPLE), 'the next read in time succeeds')
  })

const WRITES: readonly [name: string, write: (store: GraphStore) => Promise<undefined | Problem>][] = [
  ['replace', (store) => store.replace(DOCUMENT, OTHER)],
  ['remove', (store) => store.remove(DOCUMENT)],
  ['update', (store) => store.update(`INSERT DATA { GRAPH <${DOCUMENT}> { ${OTHER} } }`)],
]
for (const [name, write] of WRITES)
  await row(`writing: ${name}`, async ({ t, proxy, store, open }) => {
    const faults: readonly [fault: Fault, expected: object, settings?: Settings][] = [
      [dropped('before'), BROKEN],
      [answer(500), name === 'update' ? { failure: 'update.failed' } : failed(/status 500/)],
      [unavailable('17'), retryAfter('17')],
      [answer(307, MOVED), failed(/redirection/)],
      [answer(401), refused(/credentials/)],
      [answer(202), failed(/status 202/)],
      [SILENCE, TOO_LONG, SHORT],
    ]
    for (const [fault, expected, settings] of faults) {
      proxy.requests.length = 0
      proxy.fault(fault)
      const result = await write(settings ? open(settings) : store)
      t.match(result, expected)
      isDiscreet(t, result)
      t.ok(proxy.requests.length === 1 || (settings && proxy.requests.length === 0), 'the request is sent once')
    }
    proxy.fault(undefined)
    t.equal(await store.read(DOCUMENT), TRIPLE, 'none of the requests reached the store')
    proxy.requests.length = 0
    proxy.fault(dropped('after'))
    t.match(await write(store), BROKEN, 'a write in doubt is no success')
    t.equal(proxy.requests.length, 1, 'the gateway does not send it again')
    proxy.fault(undefined)
    t.not(await store.read(DOCUMENT), TRIPLE, 'the write in doubt reached the store')
  })

const queried = async (
  store: GraphStore,
  signal?: AbortSignal,
  atPiece: () => unknown = () => undefined,
): Promise<unknown> => {
  const pieces = await store.query(ALL, TSV, { signal })
  if (isFailure(pieces)) return pieces
  let text = ''
  try {
    for await (const piece of pieces) {
      text += Buffer.from(piece).toString()
      await atPiece()
    }
    return text
  } catch (error) {
    if (!(error instanceof StoreBreak)) throw error
    return { brokenBy: error.problem }
  }
}
const QUERY_FAULTS: readonly [name: string, fault: Fault, expected: object, settings?: Settings][] = [
  ['is cut off in chunks', cut(5, 'chunked'), { brokenBy: BROKEN }],
  ['is cut off, of known length', cut(5, 'length'), { brokenBy: BROKEN }],
  ['ends with its connection', cut(5, 'close'), failed(/where it ends/)],
  ['stops in the middle', stall(5, 'chunked'), { brokenBy: TOO_LONG }, { idleTimeout: 300 }],
  ['takes longer than the total timeout', stall(5, 'chunked'), { brokenBy: TOO_LONG }, TOTAL],
  ['never begins', SILENCE, TOO_LONG, SHORT],
  ['is in another format', format('text/csv'), failed(/format/)],
  ['is a refusal', answer(500), failed(/status 500/)],
]
for (const [name, fault, expected, settings] of QUERY_FAULTS)
  await row(`querying: an answer that ${name}`, async ({ t, proxy, store, open }) => {
    const faulty = settings ? open(settings) : store
    proxy.fault(fault)
    const result = await queried(faulty)
    // The total timeout may pass before the answer begins.
    t.match(settings === TOTAL && isFailure(result) ? { brokenBy: result } : result, expected)
    t.not(typeof result, 'string')
    proxy.fault(undefined)
    t.ok(await until(async () => /"one"/.test(String(await queried(faulty)))))
  })

await row('readiness distinguishes a store that answers from one that fails', async ({ t, proxy, store, open }) => {
  t.equal(await store.ready(), undefined)
  proxy.fault(answer(500))
  t.match(await store.ready(), { failure: 'store.failed' })
  proxy.fault(cut(3, 'length'))
  t.match(await store.ready(), BROKEN)
  proxy.fault(SILENCE)
  t.match(await open(SHORT).ready(), TOO_LONG)
})

type Call = (store: GraphStore, signal: AbortSignal, atPiece: () => void) => Promise<unknown>
const reading: Call = (store, signal) => store.read(DOCUMENT, { signal })
const writing: Call = (store, signal) => store.replace(DOCUMENT, OTHER, { signal })
const ABORTS: readonly [name: string, fault: Fault, call: Call][] = [
  ['before the head of a graph', SILENCE, reading],
  ['in the middle of a graph', stall(20, 'chunked'), reading],
  ['before the head of results', SILENCE, (store, signal) => queried(store, signal)],
  ['in the middle of results', stall(5, 'chunked'), queried],
  ['before the answer to a write', SILENCE, writing],
]
for (const [name, fault, call] of ABORTS)
  await row(`the client leaves ${name}`, async ({ t, proxy, open }) => {
    const store = open(PATIENT)
    proxy.fault(fault)
    const gone = new AbortController()
    const inTheMiddle = name.endsWith('middle of results')
    let pieces = 0
    const outcome = call(store, gone.signal, () => pieces++)
    await until(() => proxy.requests.length === 1 && (!inTheMiddle || pieces > 0))
    // Nothing happens until the client leaves.
    await sleep(50)
    t.notOk(proxy.requests[0]!.abandoned)
    gone.abort()
    const result = await outcome
    t.match(result, inTheMiddle ? { brokenBy: failed(/aborted/) } : failed(/aborted/))
    t.ok(await until(() => proxy.requests[0]!.abandoned), 'the connection to the store is closed')
    proxy.fault(undefined)
    t.type(await store.read(DOCUMENT), 'string')
  })

await row('the reader of results leaves early', async ({ t, proxy, open }) => {
  const store = open(PATIENT)
  proxy.fault(stall(5, 'chunked'))
  const pieces = await store.query(ALL, TSV)
  if (isFailure(pieces)) return t.fail(pieces.detail)
  for await (const piece of pieces) {
    t.ok(piece.length > 0)
    break
  }
  await until(() => proxy.requests[0]!.abandoned)
})

await row('results without a reader occupy a connection for the total timeout at most', async ({ t, open }) => {
  const store = open({ connections: 1, totalTimeout: 300 })
  await until(async () => !isFailure(await store.query(ALL, TSV)))
  t.ok(await until(async () => /"one"/.test(String(await queried(store)))), 'over the only connection')
})

await row('queries that use all their connections leave those for documents free', async ({ t, proxy, open }) => {
  const store = open({ connections: 1, queue: 1 })
  const { opened, open: answerQueries } = gate()
  proxy.fault({ kind: 'held', until: opened, only: ({ path }) => path.includes('/query') })
  const queries = [queried(store), queried(store), queried(store)]
  t.match(await queries[2], { failure: 'store.overloaded' })
  t.equal(await store.read(DOCUMENT), TRIPLE)
  t.equal(await store.replace(DOCUMENT, OTHER), undefined)
  answerQueries()
  t.match(await Promise.all(queries.slice(0, 2)), [/"/, /"/])
})

await row('a call beyond the connections and the queue is refused at once', async ({ t, proxy, open }) => {
  const store = open({ connections: 2, queue: 2 })
  const { opened, open: answerReads } = gate()
  proxy.fault({ kind: 'held', until: opened })
  const reads = Array.from({ length: 6 }, () => store.read(DOCUMENT))
  const first = await Promise.race(reads.map(async (read, i) => [i, await read] as const))
  t.match(first, [4, { failure: 'store.overloaded', fields: [['Retry-After', '1']] }])
  answerReads()
  const results = await Promise.all(reads)
  t.strictSame(results.slice(0, 4), [TRIPLE, TRIPLE, TRIPLE, TRIPLE])
  t.match(results[5], { failure: 'store.overloaded' })
  t.equal(proxy.requests.length, 4, 'the refused calls did not reach the store')
})

await row('a waiting call whose client leaves is not sent, and frees its place', async ({ t, proxy, open }) => {
  const store = open({ connections: 1, queue: 1 })
  const { opened, open: answerReads } = gate()
  proxy.fault({ kind: 'held', until: opened })
  const gone = new AbortController()
  const first = store.read(DOCUMENT)
  const second = store.replace(DOCUMENT, OTHER, { signal: gone.signal })
  gone.abort()
  t.match(await second, failed(/aborted/))
  const third = store.read(DOCUMENT)
  answerReads()
  t.strictSame([await first, await third], [TRIPLE, TRIPLE])
  const methods = proxy.requests.map(({ method }) => method)
  t.strictSame(methods, ['GET', 'GET'])
})

await row(
  'a store without RDF 1.2: triples of RDF 1.2 are 422, others that it refuses are its failure',
  async ({ t, proxy, store }) => {
    const rows: [nTriples: string, status: number][] = [
      [`<${DOCUMENT}> <urn:p> <<( <urn:s> <urn:p> "o" )>> .\n`, 422],
      [`<${DOCUMENT}> <urn:p> "left"@en--ltr .\n`, 422],
      [OTHER, 502],
    ]
    for (const [nTriples, status] of rows) {
      proxy.fault(answer(400))
      const failed = await store.replace(DOCUMENT, nTriples)
      t.equal(failed && STATUS_OF[failed.failure], status, nTriples)
      isDiscreet(t, failed)
    }
  },
)

await row('the requests to the store', async ({ t, proxy, open }) => {
  const graph = 'https://data.example/?q=1&graph=x#é%2F/'
  const plain = open({ graphStore: `${proxy.url}/data?timeout=5` })
  await plain.replace(graph, TRIPLE)
  await plain.read(graph)
  await plain.remove(graph)
  await queried(plain)
  await plain.update('CLEAR DEFAULT')
  const forQuery = { 'content-type': 'application/sparql-query', accept: TSV }
  const forUpdate = { 'content-type': 'application/sparql-update' }
  t.match(proxy.requests, [
    { method: 'PUT', path: /\/data\?timeout=5&graph=/, graph, fields: N_TRIPLES, body: TRIPLE },
    { method: 'GET', graph, fields: { accept: 'application/n-triples' }, body: '' },
    { method: 'DELETE', graph, body: '' },
    { method: 'POST', path: /\/query\?timeout=31%2C10000000$/, fields: forQuery, body: ALL },
    { method: 'POST', path: /\/update$/, fields: forUpdate, body: 'CLEAR DEFAULT' },
  ])
  for (const { fields } of proxy.requests) {
    t.equal(fields['accept-encoding'], undefined)
    t.equal(fields.authorization, undefined)
  }
})

await row('credentials', async ({ t, proxy, open }) => {
  const basic = open({ credentials: { user: 'gate', password: 'sécret:1' } })
  const bearer = open({ credentials: { token: 'secret' } })
  for (const store of [basic, bearer]) {
    await store.read(DOCUMENT)
    await store.update('CLEAR DEFAULT')
    t.notMatch(store.name, /secret|sécret|gate/)
  }
  const expected = [`Basic ${Buffer.from('gate:sécret:1').toString('base64')}`, 'Bearer secret']
  t.strictSame(
    proxy.requests.map(({ fields }) => fields.authorization),
    [expected[0], expected[0], expected[1], expected[1]],
  )
  proxy.fault(answer(403))
  isDiscreet(t, await bearer.read(DOCUMENT))
})

await row('a slow reader gets the whole of a large answer', async ({ t, store }) => {
  await store.replace(DOCUMENT, LARGE)
  const result = (await queried(store, undefined, () => sleep(1))) as string
  t.equal(result.trim().split('\n').length, LARGE_COUNT + 1)
})

await row('an answer that continues may take longer than the total timeout', async ({ t, store, open }) => {
  await store.replace(DOCUMENT, LARGE)
  const totalTimeout = 1_500
  const hasty = open({ totalTimeout })
  // The answer is read more slowly than that. If the machine stalls for as long, the test tries again.
  const lasted = async (read: () => Promise<unknown>): Promise<boolean> => {
    const began = performance.now()
    return (await read()) === true && performance.now() - began > totalTimeout
  }
  const asResults = async (): Promise<boolean> => {
    const text = await queried(hasty, undefined, () => sleep(800))
    return typeof text === 'string' && text.trim().split('\n').length === LARGE_COUNT + 1
  }
  const asDocument = async (): Promise<unknown> => {
    const pieces = await hasty.stream(DOCUMENT)
    if (!pieces || isFailure(pieces)) return false
    try {
      for await (const piece of pieces) await sleep(piece.length && 300)
      return true
    } catch (error) {
      return error instanceof StoreBreak ? false : Promise.reject(error as Error)
    }
  }
  for (const read of [asResults, asDocument]) t.ok(await until(() => lasted(read)), read.name)
})

await row('a stream that is left before its first piece gives its connection back', async ({ t, proxy, open }) => {
  const store = open({ connections: 1, totalTimeout: 60_000 })
  for (let n = 0; n < 3; n++) {
    const pieces = await store.stream(DOCUMENT)
    if (!pieces || isFailure(pieces)) return t.fail(pieces ? pieces.detail : 'no document')
    await pieces[Symbol.asyncIterator]().return?.()
  }
  t.equal(proxy.requests.length, 3)
})

await fusekiRow('a store that goes down and comes back', async (t) => {
  const found = fetchFuseki()
  if (missing || 'missing' in found) return t.pass('the store', { skip: missing ?? 'no jar' })
  const options = { jar: found.jar, datasets: ['ds'], port: await freePort() }
  const first = await startFuseki(options)
  t.teardown(() => first.kill())
  const store = openHttpStore(fusekiEndpoints(first.url('ds')))
  t.teardown(() => store.close())
  t.equal(await store.replace(DOCUMENT, TRIPLE), undefined)
  await first.kill()
  for (let i = 0; i < 3; i++) {
    const results = [
      await store.read(DOCUMENT),
      await store.replace(DOCUMENT, TRIPLE),
      await store.ready(),
      await queried(store),
    ]
    for (const result of results) {
      t.match(result, UNREACHABLE)
      isDiscreet(t, result)
    }
  }
  const second = await startFuseki(options)
  t.teardown(() => second.stop())
  t.equal(await store.ready(), undefined)
  t.equal(await store.read(DOCUMENT), undefined)
  t.equal(await store.replace(DOCUMENT, TRIPLE), undefined)
})

/** A row without Fuseki, on a server of its own. */
async function onServer<S extends Server | TcpServer>(
  name: string,
  server: S,
  run: (t: Test, open: (scheme: string, settings?: Settings) => GraphStore) => Promise<unknown>,
): Promise<void> {
  await rowWithoutStore(name, async (t) => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sockets = new Set<{ destroy(): unknown }>()
    server.on('connection', (socket: { destroy(): unknown }) => sockets.add(socket))
    t.teardown(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    const { port } = server.address() as AddressInfo
    await run(t, (scheme, settings) => {
      const store = openHttpStore({ ...fusekiEndpoints(`${scheme}://127.0.0.1:${port}/ds`), ...settings })
      t.teardown(() => store.close())
      return store
    })
  })
}

const asked: string[] = []
await onServer(
  'on a persistent connection that the store has closed, a read is sent again, once, and a write is not',
  createHttpServer((request, response) => {
    asked.push(request.method!)
    const socket = request.socket as typeof request.socket & { served?: boolean }
    if (socket.served) return void socket.destroy()
    socket.served = true
    response.writeHead(200, N_TRIPLES).end(TRIPLE)
  }),
  async (t, open) => {
    const store = open('http', { connections: 1 })
    t.equal(await store.read(DOCUMENT), TRIPLE)
    t.equal(await store.read(DOCUMENT), TRIPLE)
    t.strictSame(asked, ['GET', 'GET', 'GET'])
    t.match(await store.replace(DOCUMENT, TRIPLE), BROKEN)
    t.strictSame(asked, ['GET', 'GET', 'GET', 'PUT'])
  },
)
await onServer(
  'a server of another protocol',
  createTcpServer((socket) => socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n')),
  async (t, open) => t.match(await open('http').read(DOCUMENT), BROKEN),
)
await onServer(
  'a connection that is not established in time',
  createTcpServer((socket) => socket.on('error', () => undefined)),
  async (t, open) => {
    const store = open('https', { connectTimeout: 300 })
    t.match(await store.read(DOCUMENT), TOO_LONG)
    const gone = new AbortController()
    const read = open('https', { connectTimeout: A_MINUTE }).read(DOCUMENT, { signal: gone.signal })
    await sleep(50)
    gone.abort()
    t.match(await read, failed(/aborted/), 'the call does not wait for it when the client leaves')
  },
)
await rowWithoutStore('no server, no such host', async (t) => {
  for (const origin of [`http://127.0.0.1:${await freePort()}`, 'http://store.invalid']) {
    const store = openHttpStore({ ...fusekiEndpoints(`${origin}/ds`), connectTimeout: A_MINUTE })
    t.teardown(() => store.close())
    t.match(await store.read(DOCUMENT), UNREACHABLE)
    t.match(await store.update('CLEAR ALL'), UNREACHABLE)
    t.match(await store.ready(), UNREACHABLE)
  }
})

const tlsServer = (identity: string) =>
  createHttpsServer({ cert: identity, key: identity }, (_request, response) =>
    response.writeHead(200, N_TRIPLES).end(TRIPLE),
  )
await onServer('a certificate of the store from an unknown authority is refused', tlsServer(pem), async (t, open) => {
  t.match(await open('https').read(DOCUMENT), failed(/certificate/))
  t.match(await open('https', { ca: another }).read(DOCUMENT), failed(/certificate/))
  t.equal(await open('https', { ca: pem }).read(DOCUMENT), TRIPLE, 'accepted with its authority')
})
await onServer('a certificate of another host is refused', tlsServer(elsewhere), async (t, open) =>
  t.match(await open('https', { ca: elsewhere }).read(DOCUMENT), failed(/certificate/)),
)

await rowWithoutStore('malformed endpoints are refused when the store is opened', (t) => {
  for (const url of ['ftp://store.example/ds', 'http://user:secret@store.example/ds', 'ds'])
    t.throws(() => openHttpStore(fusekiEndpoints(url)), TypeError)
})
