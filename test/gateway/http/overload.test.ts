// A store under load (design 2 and 5): overload is reported at once, and a slow query does not delay documents. On both
// stores.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { handle } from '../../../gateway/handle.js'
import type { Request, Response } from '../../../gateway/http/exchange.js'
import { OTHER_RDF_NAMES, RDF_FORMATS } from '../../../gateway/http/media-type.js'
import { linkField } from '../../../gateway/request/respond.js'
import type { Awaitable } from '../../../gateway/maybe-async.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { startProxy } from '../../support/proxy.js'
import { forEachStore, row, type Stores } from '../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'
import { quickest, until } from '../../support/wait.js'
import { withReadMethods } from '../../support/query-method.js'

const QUERY = { 'Content-Type': 'application/sparql-query' }

/** One query is running, one is waiting. */
async function narrow(t: Test, { datasets }: Stores): Promise<GraphStore> {
  if (!datasets) {
    const store = await openEmbeddedStore('end-user', { queue: 1 })
    t.teardown(() => store.close())
    return store
  }
  // Fuseki would continue with such a query when nobody waits for its answer any more, and delay all other tests.
  const proxy = await startProxy(datasets.endUser)
  proxy.fault({ kind: 'silence', only: ({ body }) => body.includes('COUNT(*)') })
  const store = openHttpStore({ ...fusekiEndpoints(proxy.url), connections: 1, queue: 1 })
  t.teardown(() => store.close().then(() => proxy.stop()))
  return store
}

/** A query that counts 20 to the power of 9 rows, and so runs longer than the test. */
const slow = (name: string): string =>
  `SELECT (COUNT(*) AS ?${name}) { ${Array.from({ length: 9 }, (_, i) => `VALUES ?v${i} { 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 }`).join(' ')} }`

void forEachStore(t, 'overload', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const endUser = await narrow(t, stores)
  const world = await makeWorld(t, { endUser, admin: stores.admin })
  const owner = world.as('owner')
  const ask = (name: string, signal: AbortSignal): Promise<unknown> =>
    endUser.query(slow(name), 'application/sparql-results+json', { signal })

  await row(t, kind, 'a slow query does not delay documents; a query too many gets 503 with Retry-After', async (t) => {
    const [path, behind, fresh] = [world.freshPath(), world.freshPath(), world.freshPath()]
    await owner('PUT', path, ttl(turtle('"kept"')))
    await endUser.replace(world.origin + behind, '<http://e/s> <http://e/p> "not kept" .\n')
    const gone = new AbortController()
    let atWork: Promise<unknown>[] = []
    let ended: unknown
    // The gateway itself may still be querying when the test begins. Then one of the two queries is one too many.
    await until(async () => {
      ended = undefined
      const tried = new AbortController()
      atWork = ['a', 'b'].map((name) => ask(name, AbortSignal.any([gone.signal, tried.signal])))
      void Promise.race(atWork).then((outcome) => (ended = outcome))
      await setImmediate()
      if (ended !== undefined) tried.abort()
      await Promise.all(ended === undefined ? [] : atWork)
      return ended === undefined
    })

    const refused = await owner('POST', '/sparql', { fields: QUERY, body: slow('c') })
    t.equal(refused.status, 503)
    t.match(refused.fields['retry-after'], /^\d+$/)
    t.equal((await owner('GET', path)).status, 200)
    t.match((await owner('GET', behind)).text, /not kept/)
    t.equal((await owner('PUT', fresh, ttl(turtle('"new"')))).status, 201)
    t.match((await owner('GET', fresh)).text, /new/)
    t.equal((await owner('DELETE', fresh)).status, 204)
    t.equal(ended, undefined, 'all this time they were at work')
    gone.abort()
    await Promise.all(atWork)
  })
})

void t.test(
  'above the limit only cached documents are read, and no work is started',
  { skip: process.env.TRIPLEGATE_TEST_CACHE === 'off' },
  async (t) => {
    const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
    t.teardown(() => Promise.all([endUser.close(), admin.close()]))
    const world = await makeWorld(t, { endUser, admin })
    const owner = world.as('owner')
    await owner('PUT', '/cached/', ttl(turtle('"cached"')))
    await endUser.replace(`${world.origin}/other/`, '<http://e/s> <http://e/p> "not cached" .\n')
    const certificate = new X509Certificate(world.pemOf('owner')).raw
    const { gateway } = world.running
    type Sent = Partial<Pick<Request, 'certificate' | 'isAdmitted'>>
    const send = (
      method: string,
      requestTarget: string,
      fields: Record<string, string> = {},
      more: Sent = {},
    ): Awaitable<Response> => {
      const request: Request = {
        id: 'x',
        method,
        requestTarget,
        fields: { host: new URL(world.base).host, ...fields },
        hosts: 1,
        certificate,
        receivedAt: gateway.now(),
        isAdmitted: false,
        signal: () => new AbortController().signal,
        address: () => '192.0.2.1',
        network: () => '192.0.2.1',
        readBody: () => Promise.resolve(Buffer.from('')),
        hold: () => true,

        async *streamBody() {
          yield Buffer.from('')
        },
        ...more,
      }
      return handle(request, gateway)
    }
    const ask = async (...request: Parameters<typeof send>): Promise<number> => (await send(...request)).status
    t.equal((await owner('GET', '/cached/')).status, 200)
    const rows: [method: string, target: string, status: number, fields?: Record<string, string>][] = [
      ['GET', '/cached/', 200],
      ['HEAD', '/cached/', 200],
      ['GET', '/other/', 503],
      ['GET', '/cached/', 503, { dpop: 'proof' }],
      ['GET', '/sparql?query=ASK{}', 503],
      ['GET', '/admin/oauth2/login', 503],
      ['GET', '/cached/?timemap', 503],
      ['PUT', '/cached/', 503],
      ['DELETE', '/cached/', 503],
    ]
    for (const [method, target, status, fields] of rows)
      t.equal(await ask(method, target, fields), status, `${method} ${target}`)
    t.equal((await owner('GET', '/cached/')).status, 200, 'nothing was changed')
    // Another answer would show that the document exists.
    for (const [isAdmitted, status] of [
      [true, 403],
      [false, 503],
    ] as const)
      for (const target of ['/cached/', '/absent/'])
        t.equal(
          (await send('GET', target, {}, { certificate: undefined, isAdmitted })).status,
          status,
          `anonymous: ${target}`,
        )

    await owner('PUT', '/long/', ttl(`<> <http://e/p> "${'long '.repeat(1000)}" .`))
    const codingOf = async (): Promise<string | undefined> => {
      const { ready, fields } = await send('GET', '/long/', { 'accept-encoding': 'gzip' })
      return (ready?.head.fields ?? fields).find(([name]) => name === 'Content-Encoding')?.[1]
    }
    t.equal((await owner('GET', '/long/')).status, 200)
    t.equal(await codingOf(), undefined, 'no compression is begun')
    t.equal((await owner('GET', '/long/', { fields: { 'Accept-Encoding': 'gzip' } })).status, 200)
    t.equal(await codingOf(), 'gzip', 'one that has been made is sent')

    for (const { mediaType } of [...RDF_FORMATS, ...OTHER_RDF_NAMES])
      t.equal((await owner('GET', '/long/', { fields: { Accept: mediaType, 'Accept-Encoding': 'gzip' } })).status, 200)
    const { documents } = gateway.dataspaces[0]!.endUser.cache
    const decisions = documents.cached(`${world.origin}/long/`, gateway.now())!.value!.decisions.Read
    const heads = [...decisions.values()].map((decision) => decision.heads[200].size)
    t.ok(heads.length > 0 && Math.max(...heads) <= 4, `header sections are bounded for each agent: ${heads.join()}`)
  },
)

void t.test('nothing is read for a client before the gateway knows that it is allowed (design 7)', async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin })
  const FORM = 'application/x-www-form-urlencoded'
  const [ASK, UPDATE] = ['application/sparql-query', 'application/sparql-update']
  /** The status line of the answer to a request whose body never arrives. */
  const begun = async (who: string, method: string, path: string, type: string): Promise<string> => {
    const pem = who === 'anonymous' ? {} : { cert: world.pemOf(who), key: world.pemOf(who) }
    const socket = connectTls({ port: Number(new URL(world.base).port), host: 'localhost', ca: world.ca, ...pem })
    await once(socket, 'secureConnect')
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${new URL(world.base).host}\r\nContent-Type: ${type}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`) // prettier-ignore
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString().slice(9, 12)
  }
  const rows: [who: string, method: string, path: string, type: string, status: string][] = [
    ['anonymous', 'POST', '/sparql', ASK, '403'],
    ['anonymous', 'POST', '/sparql', UPDATE, '403'],
    ['anonymous', 'POST', '/sparql', FORM, '403'],
    ['anonymous', 'QUERY', '/sparql', ASK, '403'],
    ['reader', 'POST', '/sparql', ASK, '100'],
    ['reader', 'POST', '/sparql', FORM, '100'],
    ['reader', 'POST', '/sparql', UPDATE, '403'],
    ['writer', 'POST', '/sparql', UPDATE, '100'],
    ['anonymous', 'PUT', '/new/', 'text/turtle', '403'],
    ['anonymous', 'PATCH', '/', UPDATE, '403'],
    ['reader', 'POST', '/', 'text/turtle', '403'],
    ['anonymous', 'POST', '/access/request', 'text/turtle', '403'],
    ['anonymous', 'POST', '/?uri=https://example.org/', 'text/turtle', '403'],
    ['reader', 'POST', '/?uri=http://10.0.0.1:1/', 'text/turtle', '100'],
  ]
  for (const [who, method, path, type, status] of withReadMethods(rows)) {
    t.equal(await begun(who, method, path, type), status, `${who} ${method} ${path} ${type}`)
  }
  const form = (body: string): Promise<{ status: number }> =>
    world.as('reader')('POST', '/sparql', { fields: { 'Content-Type': FORM }, body })
  t.equal((await form('query=ASK{}')).status, 200)
  t.equal((await form('update=CLEAR%20ALL')).status, 403, 'the content says that it needs Write')
})

void t.test('long and deep paths are refused quickly', async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin })
  const long = `/${'a/'.repeat(7_500)}`
  const deepest = `/${'abcdefghijklmnopqrs/'.repeat(100)}`
  const rows: [method: string, target: string, status: number][] = [
    ['GET', long, 414],
    ['PUT', long, 414],
    ['GET', `/access?this=${world.origin}${long}`, 400],
    ['GET', deepest, 404],
    ['PUT', deepest, 403],
    ['GET', `/access?this=${world.origin}${deepest}`, 200],
  ]
  for (const [method, target, status] of rows) {
    const took = await quickest(500, async () => {
      t.equal((await world.as('owner')(method, target)).status, status, `${method} ${target.slice(0, 20)}`)
    })
    t.ok(took < 500)
  }
})

void t.test('the target of a link is a URI (RFC 3987 §3.1)', async (t) => {
  const application = { base: 'https://data.example.org/', iri: 'urn:app' }
  const [, value] = linkField(application, 'https://example.org/\u0142#me', undefined)
  t.match(value, /^<https:\/\/example\.org\/%C5%82#me>;/)
})
