// No spelling of a URL reaches a graph other than the authorised one (design 1): a recording proxy is the witness. Also
// HTTP framing: requests that the parser refuses get an error in our format.
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import t from 'tap'
import fc from 'fast-check'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { freshDataset, reasonWithoutFuseki, row } from '../../support/stores.js'
import { startProxy, type Recorded } from '../../support/proxy.js'
import { A_MINUTE, gate, until } from '../../support/wait.js'
import { makeWorld, ttl, type World } from '../../support/world.js'

/**
 * Sends bytes over TLS. Returns the bytes received until the connection ends, `ms` have passed, or `enough` is true.
 */
async function raw(world: World, who: string, bytes: string, { ms = A_MINUTE, enough = '' } = {}): Promise<string> {
  const pem = who === 'anonymous' ? {} : { cert: world.pemOf(who), key: world.pemOf(who) }
  const socket = connectTls({ port: Number(new URL(world.base).port), host: 'localhost', ca: world.ca, ...pem })
  await once(socket, 'secureConnect')
  let text = ''
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => {
      text += chunk
      if (enough !== '' && text.includes(enough)) socket.destroy()
    })
    .on('error', () => undefined)
  const timer = setTimeout(() => socket.destroy(), ms)
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  clearTimeout(timer)
  return text
}

/** Facts of documents are requested by a query. */
const isQuery = ({ fields }: Recorded): boolean => fields['content-type'] === 'application/sparql-query'
const isWrite = (request: Recorded): boolean => request.method !== 'GET' && !isQuery(request)

void t.test('bypass', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing) return t.test('bypass (fuseki)', { skip: missing }, () => undefined)
  const [endUser, admin] = [await freshDataset(t), await freshDataset(t)]
  const proxy = await startProxy(endUser)
  t.teardown(() => proxy.stop())
  const stores = { endUser: openHttpStore(fusekiEndpoints(proxy.url)), admin: openHttpStore(fusekiEndpoints(admin)) }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const world = await makeWorld(t, stores)
  const owner = world.as('owner')
  const host = new URL(world.base).host

  // The stranger may read and write one document, and nothing else.
  const mine = `${world.base}mine/`
  await owner('PUT', '/mine/')
  const grant = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf('stranger')}> ;
    <http://www.w3.org/ns/auth/acl#accessTo> <${mine}> ;
    <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read>, <http://www.w3.org/ns/auth/acl#Write> .`
  await owner('PUT', '/admin/acl/authorizations/mine/', ttl(grant))
  await owner('PUT', '/secret/', ttl('<> <http://e/p> "secret" .'))
  await owner('PUT', '/mine/secret/', ttl('<> <http://e/p> "secret" .'))

  const spellings = [
    '/secret/',
    '/mine/secret/',
    '/mine/../secret/',
    '/mine/%2e%2e/secret/',
    '/mine/..%2fsecret/',
    '/mine/..%5csecret/',
    '/mine//secret/',
    '//secret/',
    '/./secret/',
    '/secret/?x',
    '/secret/#',
    '/secret/%20',
    '/%73ecret/',
    '/%73%65cret/',
    '/SECRET/',
    '/secret/.',
    '/secret/..;/mine/',
    '/mine/;/../secret/',
    '/mine/?graph=' + encodeURIComponent(`${world.base}secret/`),
    '/?default',
    `/mine/?graph=${world.base}secret/`,
    `https://${host}/secret/`,
    `http://evil.example/secret/`,
    `https://${host}/mine/../secret/`,
    '/mine/%00',
    '/mine/%0d%0aX:y/',
    '/secret%2f',
    '/secret\\',
    '/\\secret/',
    '/mine\\..\\secret/',
    '/mine/\tsecret/',
    '/secret/?accept=text/turtle',
    '/mine/?uri=' + encodeURIComponent(`${world.base}secret/`),
    '/data?graph=urn:x',
    '/query?query=ASK{}',
    '/update',
    '/$/datasets',
    '/ds/data?default',
    '/sparql?query=SELECT*WHERE{GRAPH?g{?s?p?o}}',
  ]
  for (const path of spellings) {
    await row(t, 'fuseki', `the stranger gets nothing of another document by ${JSON.stringify(path)}`, async (t) => {
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE']) {
        const before = await owner('GET', '/secret/')
        proxy.requests.length = 0
        const answer = await raw(
          world,
          'stranger',
          `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        )
        t.notMatch(answer, 'secret"', 'no content')
        // An agent who may query gets what it may read.
        if (!path.startsWith('/sparql')) t.notMatch(answer.split('\r\n')[0], / 2\d\d /)
        t.same(proxy.requests.filter(isWrite), [], 'no write reaches the store')
        t.equal((await owner('GET', '/secret/')).fields.etag, before.fields.etag, 'and it is as it was')
      }
    })
  }

  await row(t, 'fuseki', 'property: for every path, a write reaches only the graph that was authorised', async (t) => {
    const piece = fc.oneof(
      fc.constantFrom(
        'secret',
        'mine',
        '..',
        '.',
        '%2e',
        '%2E%2e',
        '%2f',
        '%5c',
        ';',
        '/',
        '//',
        '\\',
        '?',
        '#',
        '%00',
        '@',
        ':',
        '~',
        '%7E',
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 2 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 5 }), async (pieces) => {
        const path = `/mine/${pieces.join('')}`.replace(/[\r\n]/g, '')
        proxy.requests.length = 0
        await raw(
          world,
          'stranger',
          `PUT ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        )
        const written = proxy.requests.filter(isWrite).map(({ graph }) => graph)
        const foreign = written.filter((graph) => graph !== mine)
        if (foreign.length > 0) throw new Error(`PUT ${path} wrote ${foreign.join()}`)
        for (const request of proxy.requests) {
          const graphs = isQuery(request)
            ? [...request.body.matchAll(/GRAPH <([^>]*)>/g)].map(([, graph]) => graph!)
            : request.path.includes('graph=') && request.graph !== undefined && [request.graph]
          if (!graphs || graphs.length === 0) throw new Error(`not a graph: ${request.path}`)
        }
      }),
      { numRuns: 150 },
    )
    t.pass()
  })

  // prettier-ignore
  const malformed: [name: string, bytes: string, status: number][] = [
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['a space in the request-target', `GET /a b/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400],
    ['two Content-Lengths', `PUT /a/ HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    ['Content-Length and chunked', `PUT /a/ HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['header fields over 16 KiB', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['an expectation that cannot be met', `PUT / HTTP/1.1\r\nHost: ${host}\r\nExpect: 200-maybe\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, 417],
    ['CONNECT', `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 405],
  ]
  for (const [name, bytes, status] of malformed) {
    await row(t, 'none', `malformed: ${name} → ${status} with an RDF body`, async (t) => {
      const answer = await raw(world, 'anonymous', bytes)
      t.match(answer.split('\r\n')[0], `HTTP/1.1 ${status} `)
      t.match(answer, /Content-Type: text\/turtle/i)
      t.match(answer, `"${status}"`)
    })
  }
  await row(t, 'fuseki', 'while a document is being created, its parent cannot be deleted', async (t) => {
    await owner('PUT', '/held/', ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
    const isChild = ({ method, graph }: { method: string; graph: string | undefined }): boolean =>
      method === 'PUT' && graph === `${world.base}held/x/`
    proxy.requests.length = 0
    const { opened, open } = gate()
    proxy.fault({ kind: 'held', until: opened, only: isChild })
    const created = owner('PUT', '/held/x/')
    await until(() => proxy.requests.some(isChild))
    const deleted = owner('DELETE', '/held/')
    // Nothing happens while it waits.
    await new Promise((resolve) => setTimeout(resolve, 200))
    t.notOk(
      proxy.requests.some(({ method }) => method === 'DELETE'),
      'the deletion waits',
    )
    open()
    t.same([(await created).status, (await deleted).status], [201, 204])
    proxy.fault(undefined)
    t.equal((await owner('PUT', '/held/y/')).status, 403, 'a deleted parent takes no documents')
  })
  await row(t, 'none', 'Expect: 100-continue: a refused client need not upload', async (t) => {
    const head = `PUT /x/ HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Type: text/turtle\r\nContent-Length: 1000\r\n\r\n`
    const refused = await raw(world, 'anonymous', head)
    t.match(refused, /^HTTP\/1\.1 403 /)
    const asked = await raw(world, 'owner', head, { enough: '100 Continue' })
    t.match(asked, /^HTTP\/1\.1 100 Continue/)
  })
  await row(t, 'none', 'a body that breaks off writes nothing', async (t) => {
    proxy.requests.length = 0
    await raw(
      world,
      'owner',
      `PUT /half/ HTTP/1.1\r\nHost: ${host}\r\nContent-Type: text/turtle\r\nContent-Length: 1000\r\n\r\n<> a <#T> .`,
      { ms: 500 },
    )
    t.same(proxy.requests.filter(isWrite), [])
  })
})
