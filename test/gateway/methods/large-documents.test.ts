// Documents too large for memory (design 3 and 5): streamed in constant memory, with the entity-tag at the end, on both
// stores.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { connect } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { Parser } from 'n3'
import t, { type Test } from 'tap'
import { digestOf, entityTag, sumOf } from '../../../cache/entity-tag.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { graphOf } from '../../../gateway/rdf/graph.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { startProxy, type StoreProxy } from '../../support/proxy.js'
import { cachedRowsOf, forEachStore, type Row, rowsOf, type Stores } from '../../support/stores.js'
import { N_TRIPLES, TURTLE } from '../../../gateway/http/media-type.js'
import { accept, makeWorld, ttl, turtle, update, type World } from '../../support/world.js'

const LIMIT = 64 * 1024
const NT = { Accept: 'application/n-triples' }
const UPDATE = { 'Content-Type': 'application/sparql-update' }

/**
 * A store over the same dataset, or another embedded store, whose limit on graphs is so small that documents of a test
 * exceed it.
 */
async function withLimit(t: Test, { kind, datasets }: Stores): Promise<{ store: GraphStore; proxy?: StoreProxy }> {
  if (kind === 'embedded') {
    const store = await openEmbeddedStore('end-user', { maxGraphLength: LIMIT })
    t.teardown(() => store.close())
    return { store }
  }
  const proxy = await startProxy(datasets!.endUser)
  const store = openHttpStore({ ...fusekiEndpoints(proxy.url), maxGraphBytes: LIMIT })
  t.teardown(() => store.close().then(() => proxy.stop()))
  return { store, proxy }
}

void forEachStore(t, 'large documents', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const { store, proxy } = await withLimit(t, stores)
  const world = await makeWorld(t, { endUser: store, admin: stores.admin })
  const row = rowsOf(t, kind)
  await reading(row, cachedRowsOf(t, kind), world, store)
  await refusals(row, world, store)
  if (proxy) await streaming(row, world, proxy)
})

const linesOf = (text: string): readonly string[] => graphOf(new Parser({ format: 'Turtle' }).parse(text)).lines

/** A document above the limit, written behind the gateway. */
async function make(world: World, store: GraphStore, more: readonly string[] = []): Promise<string> {
  const path = world.freshPath()
  const iri = world.origin + path
  const objects = [
    ...Array.from({ length: 2_000 }, (_, i) => `"${i} 日本 \u{1F600} of a document that is large"`),
    '"tabs\\tand \\"quotes\\""',
    '"colour"@en-gb',
    '"042"^^<http://www.w3.org/2001/XMLSchema#integer>',
    `<${iri}#x>`,
  ]
  const lines = objects.map((object) => `<${iri}#x> <http://e/p> ${object} .\n`)
  const failed = await store.replace(iri, [...lines, ...more.map((line) => `<${iri}> ${line} .\n`)].join(''))
  if (failed) throw new Error(failed.detail)
  return path
}

async function reading(row: Row, cachedRow: Row, world: World, store: GraphStore): Promise<void> {
  const owner = world.as('owner')
  await row(
    'GET gives the whole document, as Turtle and as N-Triples, with the entity-tag of its triples in the trailer',
    async (t) => {
      const path = await make(world, store)
      for (const [accept, type, code] of [
        [undefined, 'text/turtle;charset=UTF-8', TURTLE.code],
        ['application/n-triples', 'application/n-triples;charset=UTF-8', N_TRIPLES.code],
        ['application/rdf+xml, text/turtle;q=0.1', 'text/turtle;charset=UTF-8', TURTLE.code],
      ] as const) {
        const answer = await owner('GET', path, { fields: accept ? { Accept: accept } : {} })
        t.equal(answer.status, 200)
        t.equal(answer.fields['content-type'], type)
        const lines = linesOf(answer.text)
        t.equal(lines.length, 2_004)
        const { tagKey } = world.running.dataspaces[0]!.endUser.cache
        t.equal(answer.trailers['etag'], entityTag(digestOf(sumOf(lines, tagKey), tagKey), code))
        t.equal(answer.fields.trailer, 'ETag')
        t.same(
          [answer.fields.etag, answer.fields.age, answer.fields['content-length']],
          [undefined, undefined, undefined],
        )
        t.equal(answer.fields['cache-control'], 'private, no-cache')
      }
    },
  )
  await cachedRow('a document that has been read to its end is 304 until it changes', async (t) => {
    const path = await make(world, store)
    const tag = (await owner('GET', path)).trailers['etag']!
    const unchanged = await owner('GET', path, { fields: { 'If-None-Match': tag } })
    t.same([unchanged.status, unchanged.fields.etag, unchanged.text], [304, tag, ''])
    t.equal((await owner('GET', path, { fields: { 'If-None-Match': tag, ...NT } })).status, 200, 'another format')
    const body = `INSERT DATA { GRAPH <${world.origin}${path}> { <http://e/s> <http://e/p> "new" } }`
    t.equal((await owner('POST', '/sparql', update(body))).status, 200)
    const after = await owner('GET', path, { fields: { 'If-None-Match': tag } })
    t.equal(after.status, 200)
    t.match(after.text, /"new"/)
    t.not(after.trailers['etag'], tag)
  })
  await row('HEAD has the fields of GET, and no content', async (t) => {
    const path = await make(world, store)
    const comparable = ({
      date: _date,
      'transfer-encoding': _coding,
      trailer: _trailer,
      ...others
    }: object & Record<string, unknown>) => others
    const [head, get] = [await owner('HEAD', path), await owner('GET', path)]
    t.same(comparable({ ...head.fields }), comparable({ ...get.fields }))
    t.equal(head.text, '')
  })
  await row('RFC 9112 §2.5: a client of HTTP/1.0 gets the document without chunks and trailer', async (t) => {
    const path = await make(world, store)
    const { hostname, port, host } = new URL(world.base)
    const pem = world.pemOf('owner')
    const socket = connect({
      host: hostname,
      port: Number(port),
      servername: hostname,
      ca: world.ca,
      cert: pem,
      key: pem,
    })
    socket.write(`GET ${path} HTTP/1.0\r\nHost: ${host}\r\n\r\n`)
    const text = Buffer.concat(await socket.toArray()).toString()
    t.match(text, /^HTTP\/1\.1 200 /)
    t.notMatch(text, /^(transfer-encoding|trailer):/im)
    t.equal(linesOf(text.split('\r\n\r\n')[1]!).length, 2_004)
  })
  await row('Last-Modified and If-Modified-Since use the dates of the document', async (t) => {
    const dateTime = '<http://www.w3.org/2001/XMLSchema#dateTime>'
    const path = await make(world, store, [`<http://purl.org/dc/terms/modified> "2026-01-02T03:04:05Z"^^${dateTime}`])
    const { fields } = await owner('GET', path)
    t.equal(fields['last-modified'], 'Fri, 02 Jan 2026 03:04:05 GMT')
    const since = { 'If-Modified-Since': fields['last-modified']! }
    t.equal((await owner('GET', path, { fields: since })).status, 304)
  })
  await row('a document that grows above the limit, and shrinks again', async (t) => {
    const path = world.freshPath()
    const graph = world.origin + path
    await owner('PUT', path, ttl(turtle('"small"')))
    t.ok((await owner('GET', path)).fields.etag)
    const triples = Array.from({ length: 2_000 }, (_, i) => `<http://e/${i}> <http://e/p> "grown by an update"`)
    // The store performs it: the second operation names graphs as stores do.
    const none = 'DELETE { GRAPH <urn:x-arq:DefaultGraph> { ?s <http://e/none> ?o } } WHERE { ?s <http://e/none> ?o }'
    const grow = `INSERT DATA { GRAPH <${graph}> { ${triples.join(' . ')} } } ; ${none}`
    t.equal((await owner('POST', '/sparql', update(grow))).status, 200)
    t.ok((await owner('GET', path)).trailers['etag'])
    const shrink = `DELETE { GRAPH <${graph}> { ?s <http://e/p> ?o } } WHERE { GRAPH <${graph}> { ?s <http://e/p> ?o } }`
    t.equal((await owner('POST', '/sparql', update(shrink))).status, 200)
    const small = await owner('GET', path)
    t.ok(small.fields.etag)
    t.match(small.text, /small/)
  })
}

async function refusals(row: Row, world: World, store: GraphStore): Promise<void> {
  const owner = world.as('owner')
  await row('access is decided by types and owners before any content is sent', async (t) => {
    const strangers = `<http://www.w3.org/ns/auth/acl#owner> <${world.webIdOf('stranger')}>`
    const [path, owned] = [await make(world, store), await make(world, store, [strangers])]
    const typed = await make(world, store, ['<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Open>'])
    t.equal((await world.as('stranger')('GET', path)).status, 403)
    t.equal((await world.as('anonymous')('GET', path)).status, 403)
    t.equal((await world.as('reader')('GET', path)).status, 200)
    t.equal((await world.as('stranger')('GET', owned)).status, 200, 'the owner')
    const acl = 'http://www.w3.org/ns/auth/acl#'
    const rule = `<#open> a <${acl}Authorization> ; <${acl}mode> <${acl}Read> ;
      <${acl}agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <${acl}accessToClass> <http://e/Open> .`
    t.equal((await owner('PUT', '/admin/acl/authorizations/open-class/', ttl(rule))).status, 201)
    t.equal((await world.as('anonymous')('GET', typed)).status, 200, 'by its type')
    t.equal((await world.as('anonymous')('GET', path)).status, 403, 'not without')
  })
  await row('a format that needs the whole document in memory: 406', async (t) => {
    const path = await make(world, store)
    for (const Accept of ['application/rdf+xml', 'application/ld+json', 'image/png']) {
      t.equal((await owner('GET', path, accept(Accept))).status, 406)
    }
  })
  await row('If-Match with an entity-tag that is not known: 412', async (t) => {
    const path = await make(world, store)
    t.equal((await owner('GET', path, { fields: { 'If-Match': '"x"' } })).status, 412)
    t.equal((await owner('GET', path, { fields: { 'If-Match': '*' } })).status, 200)
  })
  await row('only SPARQL updates change a large document; other writes: 413', async (t) => {
    const path = await make(world, store)
    const insert = { fields: UPDATE, body: 'INSERT { <http://e/s> <http://e/p> 1 } WHERE {}' }
    for (const [method, send] of [
      ['PUT', ttl(turtle('"x"'))],
      ['POST', ttl(turtle('"x"'))],
      ['PATCH', insert],
      ['DELETE', { fields: { 'If-Match': '*' } }],
    ] as const) {
      t.equal((await owner(method, path, send)).status, 413, method)
    }
    t.equal(linesOf((await owner('GET', path)).text).length, 2_004, 'and nothing has changed')
    t.equal((await owner('DELETE', path)).status, 204, 'it can be removed without reading it')
    t.equal((await owner('GET', path)).status, 404)
  })
}

/** 13 ** 3 of these are about 28 MB: more than sockets buffer. */
const LONG = `"${'x'.repeat(13_000)}"`

async function streaming(row: Row, world: World, proxy: StoreProxy): Promise<void> {
  const path = world.freshPath()
  const graph = world.origin + path
  const values = Array.from({ length: 13 }, (_, i) => i).join(' ')
  const names = ['a', 'b', 'c']
  const body = `INSERT { GRAPH <${graph}> { ?s <http://e/p> ${LONG} } } WHERE {
    ${names.map((name) => `VALUES ?${name} { ${values} }`).join(' ')}
    BIND(IRI(CONCAT("http://e/", ${names.map((name) => `STR(?${name})`).join(', "/", ')})) AS ?s) }`
  const owner = world.as('owner')
  const made = await owner('POST', '/sparql', update(body))
  if (made.status !== 200) throw new Error(made.text)
  const reads = () => proxy.requests.filter((request) => request.method === 'GET' && request.graph === graph)
  const open = async (): Promise<IncomingMessage> => {
    const pem = world.pemOf('owner')
    const request = httpsGet(graph, { ca: world.ca, cert: pem, key: pem, agent: false })
    request.on('error', () => undefined)
    return ((await once(request, 'response')) as [IncomingMessage])[0]
  }
  await row('each GET is one read of the store, and a HEAD is none', async (t) => {
    t.equal((await owner('GET', path)).text.length > 28e6, true)
    const before = reads().length
    const answers = await Promise.all([owner('GET', path), owner('GET', path)])
    t.equal(new Set(answers.map(({ text }) => text.length)).size, 1)
    if (process.env.TRIPLEGATE_TEST_CACHE !== 'off') t.equal(reads().length - before, 2)
    await owner('HEAD', path)
    if (process.env.TRIPLEGATE_TEST_CACHE !== 'off') t.equal(reads().length - before, 2)
  })
  await row('a slow client slows down the store and does not fill the memory of the gateway', async (t) => {
    const answer = await open()
    answer.pause()
    // Nothing happens while it does not read.
    await sleep(500)
    t.equal(reads().at(-1)!.abandoned, false)
    let size = 0
    for await (const piece of answer) size += (piece as Buffer).length
    t.ok(size > 28e6)
    t.ok(answer.trailers['etag'])
  })
  await row('a client that leaves in the middle ends the read at the store', async (t) => {
    const answer = await open()
    await once(answer, 'readable')
    answer.destroy()
    // Design 5: before a limit of time would end it, after 30 s.
    for (const end = performance.now() + 25_000; !reads().at(-1)!.abandoned && performance.now() < end;) await sleep(5)
    t.ok(reads().at(-1)!.abandoned)
  })
  await row('a store that breaks off in the middle: the answer breaks off too, without an entity-tag', async (t) => {
    await owner('GET', path)
    proxy.fault({ kind: 'cut', after: 10_000_000, framing: 'chunked', only: (request) => request.graph === graph })
    const answer = await open()
    answer.resume()
    await once(answer, 'close').catch(() => undefined)
    t.notOk(answer.complete)
    t.same(answer.trailers, {})
    proxy.fault(undefined)
    t.equal((await owner('GET', path)).status, 200)
  })
}
