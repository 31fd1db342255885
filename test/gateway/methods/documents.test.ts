// Documents over HTTP, as a client sees them: spec 2.1, 2.2, 3, 4.1, 4.6, 5 and 7, design 3; on both stores, over TLS.
import t from 'tap'
import { Parser } from 'n3'
import { accept, makeWorld, ttl, turtle, update, type World } from '../../support/world.js'
import type { Answer, Send } from '../../support/client.js'
import { many } from '../../support/growth.js'
import { forEachStore, type Row, rowsOf } from '../../support/stores.js'

type Who = 'owner' | 'writer' | 'reader' | 'stranger' | 'anonymous'

const NT = { Accept: 'application/n-triples' }
const errorOf = (answer: Answer): { status: string | undefined; title: string | undefined } => {
  const triples = new Parser().parse(answer.text)
  const value = (property: string) => triples.find((q) => q.predicate.value.endsWith(property))?.object.value
  return { status: value('#statusCodeValue'), title: value('/title') }
}
const parts = (...all: readonly string[]): Send => ({
  fields: { 'Content-Type': 'multipart/form-data; boundary=b' },
  body: `${all.map((part) => `--b\r\nContent-Disposition: form-data; name="${part}`).join('\r\n')}\r\n--b--\r\n`,
})
const part = (type: string, text: string): string => `a"\r\nContent-Type: ${type}\r\n\r\n${text}`
const PDF = { 'Content-Type': 'application/pdf' }
const TTL = { 'Content-Type': 'text/turtle' }
const UPDATE = { 'Content-Type': 'application/sparql-update' }

void forEachStore(t, 'documents', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores())
  const row = rowsOf(t, kind)
  const make = async (body = '<> <http://purl.org/dc/terms/title> "T" .', who: Who = 'owner'): Promise<string> => {
    const path = world.freshPath()
    const made = await world.as(who)('PUT', path, ttl(body))
    if (made.status !== 201) throw new Error(`PUT ${path}: ${made.status} ${made.text}`)
    return path
  }

  await table(world, row, make)
  await representations(world, row, make)
  await conditions(world, row, make)
  await managed(world, row, make)
  await existenceDoesNotLeak(world, row, make)
  await fieldsOfResponses(world, row, make)
})
type Make = (body?: string, who?: Who) => Promise<string>

/** Agent, method, target, request → status. `new`, `old`, `agent` and `secretary` stand for paths. */
async function table(world: World, row: Row, make: Make): Promise<void> {
  // prettier-ignore
  const rows: [name: string, who: Who, method: string, target: 'new' | 'old' | (string & {}), send: Send, status: number][] = [
    ['spec 3: PUT creates', 'owner', 'PUT', 'new', ttl('<> a <http://e/T> .'), 201],
    ['spec 3: PUT with an empty body creates an item', 'owner', 'PUT', 'new', {}, 201],
    ['spec 3: PUT replaces', 'owner', 'PUT', 'old', ttl('<> a <http://e/T> .'), 200],
    ['spec 3: POST appends', 'owner', 'POST', 'old', ttl('<> a <http://e/T> .'), 204],
    ['spec 3: PATCH modifies', 'owner', 'PATCH', 'old', update('INSERT { <#a> <#b> <#c> } WHERE {}'), 204],
    ['spec 3: DELETE removes', 'owner', 'DELETE', 'old', {}, 204],
    ['spec 4.1: GET', 'owner', 'GET', 'old', {}, 200],
    ['spec 4.1: HEAD', 'owner', 'HEAD', 'old', {}, 200],
    ['spec 7: GET, not found', 'owner', 'GET', 'new', {}, 404],
    ['spec 7: HEAD, not found', 'owner', 'HEAD', 'new', {}, 404],
    ['spec 7: POST, not found: it never creates', 'owner', 'POST', 'new', ttl('<> a <#T> .'), 404],
    ['spec 7: PATCH, not found', 'owner', 'PATCH', 'new', update('DELETE WHERE { ?s ?p ?o }'), 404],
    ['spec 7: DELETE, not found', 'owner', 'DELETE', 'new', {}, 404],
    ['spec 7: 404 goes before 415', 'owner', 'POST', 'new', { fields: PDF, body: 'x' }, 404],
    ['spec 7: trailing slash missing', 'owner', 'GET', '/nothing', {}, 308],
    ['spec 7: trailing slash missing, for an anonymous client', 'anonymous', 'DELETE', '/nothing', {}, 308],
    ['spec 7: trailing slash missing on PUT', 'owner', 'PUT', '/nothing', ttl(''), 308],
    ['spec 7: RDF syntax error on PUT', 'owner', 'PUT', 'new', ttl('<> a'), 400],
    ['spec 7: RDF syntax error on POST', 'owner', 'POST', 'old', ttl('<> a'), 400],
    ['spec 7: malformed document URI', 'owner', 'PUT', '/a//b/', ttl(''), 400],
    ['spec 7: malformed document URI goes before access', 'anonymous', 'PUT', '/a//b/', {}, 400],
    ['spec 7: deleting the root document', 'owner', 'DELETE', '/', {}, 400],
    ['deleting the root document by PATCH', 'owner', 'PATCH', '/', update('DELETE WHERE { ?s ?p ?o }'), 400],
    ['spec 7: media type not supported on GET', 'owner', 'GET', 'old', accept('image/png'), 406],
    ['spec 4.6: HTML is a representation too', 'owner', 'GET', 'old', accept('text/html'), 200],
    ['spec 7: media type not supported on PUT', 'owner', 'PUT', 'new', { fields: PDF, body: 'x' }, 415],
    ['spec 7: media type not supported on POST', 'owner', 'POST', 'old', { fields: PDF, body: 'x' }, 415],
    ['media type not supported on PATCH', 'owner', 'PATCH', 'old', ttl('<> a <#T> .'), 415],
    ['no media type', 'owner', 'PUT', 'new', { body: '<> a <#T> .' }, 415],
    ['content coding not supported', 'owner', 'PUT', 'new', { fields: { ...TTL, 'Content-Encoding': 'gzip' }, body: 'x' }, 415],
    ['RFC 9110 §14.5: partial PUT', 'owner', 'PUT', 'old', { fields: { ...TTL, 'Content-Range': 'bytes 0-1/2' }, body: '' }, 400],
    ['relative IRI in N-Triples', 'owner', 'PUT', 'new', { fields: { 'Content-Type': 'application/n-triples' }, body: '<> <http://e/p> <http://e/o> .' }, 400],
    ['spec 7: too large, declared', 'owner', 'PUT', 'new', ttl('x'.repeat(2_097_153)), 413],
    ['spec 7: too large, chunked', 'owner', 'PUT', 'new', { fields: TTL, body: `# ${'x'.repeat(2_097_153)}`, chunked: true }, 413],
    ['too large goes before everything', 'anonymous', 'PUT', '/a//b/', { body: 'x'.repeat(2_097_153) }, 413],
    ['spec 7: PATCH form: INSERT DATA', 'owner', 'PATCH', 'old', update('INSERT DATA { <#a> <#b> <#c> }'), 422],
    ['spec 7: PATCH form: GRAPH', 'owner', 'PATCH', 'old', update('DELETE WHERE { GRAPH <http://e/g> { ?s ?p ?o } }'), 422],
    ['spec 7: PATCH that cannot be parsed', 'owner', 'PATCH', 'old', update('INSERT'), 422],
    ['parent missing', 'owner', 'PUT', '/no-parent/x/', ttl(''), 403],
    ['owner’s document: PUT', 'owner', 'PUT', 'agent', ttl(''), 405],
    ['owner’s document: POST', 'owner', 'POST', 'agent', ttl('<> a <#T> .'), 405],
    ['owner’s document: PATCH', 'owner', 'PATCH', 'agent', update('DELETE WHERE { ?s ?p ?o }'), 405],
    ['owner’s document: DELETE', 'owner', 'DELETE', 'agent', {}, 405],
    ['secretary’s document: DELETE', 'owner', 'DELETE', 'secretary', {}, 405],
    ['owner’s document can be read by everyone', 'anonymous', 'GET', 'agent', {}, 200],
    ['a method that is not in the table', 'owner', 'LOCK', 'old', {}, 405],
    ['TRACE', 'owner', 'TRACE', 'old', {}, 405],
    ['spec 5: GET by an anonymous client', 'anonymous', 'GET', 'old', {}, 403],
    ['spec 5: HEAD by an anonymous client', 'anonymous', 'HEAD', 'old', {}, 403],
    ['spec 5: PUT by an anonymous client', 'anonymous', 'PUT', 'old', ttl(''), 403],
    ['spec 5: GET by an agent without authorization', 'stranger', 'GET', 'old', {}, 403],
    ['spec 5: GET by a reader', 'reader', 'GET', 'old', {}, 200],
    ['spec 5: POST by a reader', 'reader', 'POST', 'old', ttl('<> a <#T> .'), 403],
    ['spec 5: PUT by a reader', 'reader', 'PUT', 'old', ttl(''), 403],
    ['spec 5: PATCH by a reader', 'reader', 'PATCH', 'old', update('DELETE WHERE { ?s ?p ?o }'), 403],
    ['spec 5: DELETE by a reader', 'reader', 'DELETE', 'old', {}, 403],
    ['spec 5: GET by a writer that is not in the group of readers', 'writer', 'GET', 'old', {}, 200],
    ['spec 5: PUT by a writer', 'writer', 'PUT', 'old', ttl(''), 200],
    ['spec 5: a writer creates', 'writer', 'PUT', 'new', ttl(''), 201],
    ['a writer may not write authorizations', 'writer', 'PUT', '/admin/acl/authorizations/mine/', ttl(''), 403],
    ['a writer may not read authorizations', 'writer', 'GET', '/admin/acl/authorizations/', {}, 403],
    ['GSP 1.1 §5.5: POST of several parts', 'owner', 'POST', 'old', parts(part('text/turtle', '<> a <#T> .'), part('application/ld+json', '{}')), 204],
    ['several parts create', 'owner', 'PUT', 'new', parts(part('text/turtle', '<> a <#T> .')), 201],
    ['a part that is not RDF', 'owner', 'POST', 'old', parts(part('text/turtle', ''), part('image/png', 'x')), 415],
    ['a part with a syntax error', 'owner', 'POST', 'old', parts(part('text/turtle', '<> a')), 400],
    ['several parts by a page of another site', 'owner', 'POST', 'old', { ...parts(part('text/turtle', '')), fields: { ...parts().fields, 'Sec-Fetch-Site': 'cross-site' } }, 403],
    ['LDP 1.0 §5.2.3: POST with Slug asks for a new document', 'owner', 'POST', 'old', { fields: { ...TTL, Slug: 'x' }, body: '<> a <#T> .' }, 400],
    ['LDP 1.0 §5.2.3.4: POST with a type of LDP', 'owner', 'POST', '/', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#Resource>; rel="type"' }, body: '<> a <#T> .' }, 400],
    ['LDP 1.0 §5.2.3.4: among other links', 'owner', 'POST', 'old', { fields: { ...TTL, Link: '</a>; rel=next, <http://www.w3.org/ns/ldp#BasicContainer>;rel=type' }, body: '<> a <#T> .' }, 400],
    ['POST with links of other relations', 'owner', 'POST', 'old', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#Resource>; rel="help", </t>; rel="type"' }, body: '<> a <#T> .' }, 204],
    ['POST with Slug goes after 403', 'reader', 'POST', 'old', { fields: { ...TTL, Slug: 'x' }, body: '<> a <#T> .' }, 403],
    ['LDP 1.0 §5.2.3.4: a further relation', 'owner', 'POST', 'old', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#Container>; title="x"; rel="up type"' }, body: '<> a <#T> .' }, 400],
    ['PUT with the types of LDP that every document has', 'owner', 'PUT', 'new', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#Resource>; rel="type", <http://www.w3.org/ns/ldp#RDFSource>; rel=type' }, body: '' }, 201],
    ['PUT that asks for a container of LDP', 'owner', 'PUT', 'new', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#Resource>; rel="type", <http://www.w3.org/ns/ldp#BasicContainer>; rel="type"' }, body: '' }, 400],
    ['PUT that asks for a resource that is not RDF', 'owner', 'PUT', 'old', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#NonRDFSource>;rel=type' }, body: '' }, 400],
    ['PUT with links of other relations', 'owner', 'PUT', 'new', { fields: { ...TTL, Link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="help", </t>; rel="type"' }, body: '' }, 201],
    ['PUT with Slug', 'owner', 'PUT', 'new', { fields: { ...TTL, Slug: 'x' }, body: '' }, 400],
    ['LinkedDataHub 1.3: POST in place of PUT', 'owner', 'POST', 'old', { fields: { ...TTL, 'X-HTTP-Method-Override': 'PUT' }, body: '<> a <#T> .' }, 400],
    ['LinkedDataHub 1.3: POST in place of DELETE', 'anonymous', 'POST', 'old', { fields: { ...TTL, 'X-HTTP-Method-Override': 'delete' }, body: '<> a <#T> .' }, 400],
    ['LinkedDataHub 1.3: POST in place of GET at an endpoint', 'owner', 'POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query', 'X-HTTP-Method-Override': 'GET' }, body: 'ASK {}' }, 400],
    ['POST that names itself', 'owner', 'POST', 'old', { fields: { ...TTL, 'X-HTTP-Method-Override': 'POST' }, body: '<> a <#T> .' }, 204],
    ['only a POST stands for another method', 'owner', 'PUT', 'old', { fields: { ...TTL, 'X-HTTP-Method-Override': 'DELETE' }, body: '' }, 200],
    ['a document may have the name of the folder of files', 'owner', 'PUT', '/uploads/', ttl(''), 201],
    ['spec 4.6: the names of files are reserved', 'owner', 'GET', '/uploads/a', {}, 404],
    ['spec 4.6: the files of the pages are not documents, for everyone', 'anonymous', 'PUT', '/static/a', ttl(''), 405],
    ['robots.txt', 'anonymous', 'GET', '/robots.txt', {}, 200],
    ['no sitemap.xml', 'anonymous', 'GET', '/sitemap.xml', {}, 404],
    ['spec 4.3: an endpoint of the admin application only', 'owner', 'GET', '/clear', {}, 308],
    ['a document with the name of an endpoint', 'owner', 'PUT', '/sign%20up/', ttl(''), 201],
    ['the owner may', 'owner', 'PUT', '/admin/acl/authorizations/another/', ttl(''), 201],
    ['403 goes before 415', 'stranger', 'PUT', 'old', { fields: PDF, body: 'x' }, 403],
    ['spec 4.5: a document of an unversioned dataspace has no time map', 'owner', 'GET', 'old?timemap', {}, 404],
    ['spec 7: 406 for its time map in link format', 'owner', 'GET', 'old?timemap', accept('application/link-format'), 406],
    ['spec 7: a version cannot be written', 'owner', 'PUT', 'old?version=abcd', ttl(''), 405],
    ['history is under the document’s rights', 'stranger', 'GET', 'old?timemap', {}, 403],
    ['indirect graph identification', 'owner', 'GET', '/?graph=http://e/', {}, 400],
    ['a page of another site writes', 'owner', 'PUT', 'new', { fields: { ...TTL, 'Sec-Fetch-Site': 'cross-site' }, body: '' }, 403],
    ['a page of another site, by Origin', 'owner', 'PUT', 'new', { fields: { ...TTL, Origin: 'https://evil.example' }, body: '' }, 403],
    ['an opaque origin', 'owner', 'POST', 'old', { fields: { ...TTL, Origin: 'null' }, body: '<> a <#T> .' }, 403],
    ['a page of another site reads', 'owner', 'GET', 'old', { fields: { Origin: 'https://evil.example' } }, 200],
    ['a credential that is not understood does not make the client anonymous', 'anonymous', 'GET', '/', { fields: { Authorization: 'Bearer x' } }, 401],
  ]
  for (const [name, who, method, target, send, status] of rows) {
    await row(`${name}: ${method} → ${status}`, async (t) => {
      const [word, query] = target.split('?')
      const named: Record<string, () => Promise<string> | string> = {
        new: () => world.freshPath(),
        old: () => make(),
        agent: () => new URL(world.ownerWebId).pathname,
        secretary: () => new URL(world.secretaryWebId).pathname,
      }
      const path = (await named[word!]?.()) ?? word!
      const answer = await world.as(who)(method, query ? `${path}?${query}` : path, send)
      t.equal(answer.status, status, answer.text)
      if (method === 'HEAD' || status === 304) {
        t.equal(answer.text, '', 'no content')
      } else if (status >= 300) {
        t.equal(errorOf(answer).status, String(status), 'spec 2.2: the body has the status too')
        t.ok(errorOf(answer).title)
      }
      const id = status < 400 ? undefined : world.log.at(-1)!.id
      t.equal(answer.fields['x-request-id'], id, 'an error names the request as the log does')
      if (id) t.match(answer.fields['access-control-expose-headers'], /\bX-Request-ID\b/)
      if (status === 405) t.match(answer.fields.allow, /GET/, 'RFC 9110 §15.5.6: Allow')
    })
  }
  await row('spec 7: 413 names the setting, for contents of a declared length and for others', async (t) => {
    const body = `# ${'x'.repeat(2_097_153)}`
    for (const sent of [{ body }, { body, chunked: true }]) {
      const answer = await world.as('owner')('PUT', world.freshPath(), { fields: TTL, ...sent })
      t.match(errorOf(answer).title, 'larger than 2097152 bytes (--max-body)')
    }
  })
  await row('308 names the document, with the query', async (t) => {
    const answer = await world.as('owner')('GET', '/a/b?x=1')
    t.equal(answer.fields.location, `${world.base}a/b/?x=1`)
  })
  await row('RFC 3987 §3.1: a name beyond ASCII is that of no document until it is moved to its URL', async (t) => {
    const [literal, url] = [`${world.base}Straße/`, `${world.base}Stra%C3%9Fe/`]
    const insert = `INSERT DATA { GRAPH <${literal}> { <${literal}> <http://e/p> "there" } }`
    t.equal((await world.as('owner')('POST', '/sparql', update(insert))).status, 200)
    t.equal((await world.as('owner')('GET', '/Stra%C3%9Fe/')).status, 404)
    t.equal((await world.as('owner')('POST', '/sparql', update(`MOVE <${literal}> TO <${url}>`))).status, 200)
    t.match((await world.as('owner')('GET', '/Stra%c3%9fe/')).text, '"there"')
  })
  await row('an unknown origin → 404, in the format of ?accept=', async (t) => {
    const answer = await world.as('owner')('GET', '/?accept=application/rdf%2Bxml', {
      fields: { Host: 'evil.example' },
    })
    t.equal(answer.status, 404)
    t.match(answer.fields['content-type'], /^application\/rdf\+xml/)
  })
  await row('spec 2.2: the error in every format', async (t) => {
    for (const type of ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json']) {
      const answer = await world.as('anonymous')('GET', '/', accept(type))
      t.equal(answer.status, 403)
      t.equal(answer.fields['content-type']?.split(';')[0], type)
      t.match(answer.text, /(http-statusCodes#|sc:)Forbidden/)
    }
  })
  await row('LDP 1.0 §5.2.3, LinkedDataHub 1.3: a refused POST names what to send, and adds nothing', async (t) => {
    const path = await make()
    const before = (await world.as('owner')('GET', path)).text
    const refused = await world.as('owner')('POST', path, { fields: { ...TTL, Slug: 'x' }, body: '<> a <#T> .' })
    t.match(errorOf(refused).title, `use PUT at the URL of the new one, such as <${world.origin}${path}name/>`)
    const other = { fields: { ...TTL, 'X-HTTP-Method-Override': 'DELETE' }, body: '<> a <#T> .' }
    t.match(errorOf(await world.as('owner')('POST', path, other)).title, 'send the method itself')
    t.equal((await world.as('owner')('GET', path)).text, before)
  })
  await row('spec 4.1: a container takes documents, an item does not', async (t) => {
    const container = await make(`<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .`)
    t.equal((await world.as('owner')('PUT', `${container}x/`, {})).status, 201)
    const item = await make()
    const refused = await world.as('owner')('PUT', `${item}x/`, {})
    t.equal(refused.status, 403)
    t.match(errorOf(refused).title, `${world.origin}${item}`, 'the parent is named')
  })
  await row('PATCH that leaves nothing is a deletion', async (t) => {
    const path = await make()
    const answer = await world.as('owner')('PATCH', path, update('DELETE WHERE { ?s ?p ?o }'))
    t.equal(answer.status, 204)
    t.equal((await world.as('owner')('GET', path)).status, 404)
  })
  await row('PATCH that matches nothing leaves the document as it is', async (t) => {
    const path = await make()
    const before = await world.as('owner')('GET', path, { fields: NT })
    const body = 'DELETE { ?s <http://e/none> ?o } WHERE { ?s <http://e/none> ?o }'
    const answer = await world.as('owner')('PATCH', path, { fields: { ...UPDATE, ...NT }, body })
    t.same([answer.status, answer.fields.etag], [204, before.fields.etag])
    t.equal((await world.as('owner')('GET', path, { fields: NT })).text, before.text)
  })
}

async function representations(world: World, row: Row, make: Make): Promise<void> {
  const types = [
    ['text/turtle', 'text/turtle;charset=UTF-8'],
    ['application/n-triples', 'application/n-triples;charset=UTF-8'],
    ['application/rdf+xml', 'application/rdf+xml;charset=UTF-8'],
    ['application/ld+json', 'application/ld+json'],
  ]
  await row('spec 4.6: each format, with an ETag of its own; HEAD as GET', async (t) => {
    // Age is the same in both.
    world.stopClock(t)
    const path = await make('<> <http://purl.org/dc/terms/title> "Žluťoučký \\"kůň\\"\\n"@cs, "1"^^<http://e/dt> .')
    const tags = new Set<string>()
    for (const [type, expected] of types) {
      const got = await world.as('owner')('GET', path, accept(type!))
      t.equal(got.fields['content-type'], expected)
      t.match(got.fields.etag, /^"[^"]+"$/, 'strong')
      tags.add(got.fields.etag!)
      const head = await world.as('owner')('HEAD', path, accept(type!))
      const without = (fields: Answer['fields']) => ({ ...fields, date: undefined })
      t.same(without(head.fields), without(got.fields))
      const copy = world.freshPath()
      const put = await world.as('owner')('PUT', copy, { fields: { 'Content-Type': type! }, body: got.text })
      t.equal(put.status, 201, put.text)
    }
    t.equal(tags.size, types.length)
  })
  await row('other names of the formats, as Fuseki has them, by their weight', async (t) => {
    const path = await make('<> <http://e/p> "x" .')
    const rows = [
      ['application/json', 'application/json', '"@graph"'],
      ['application/xml', 'application/xml;charset=UTF-8', '<rdf:RDF'],
      ['text/xml', 'text/xml;charset=UTF-8', '<rdf:RDF'],
      ['text/plain', 'text/plain;charset=UTF-8', '> <http://e/p> "x" .'],
      ['application/n-quads', 'application/n-quads;charset=UTF-8', '> <http://e/p> "x" .'],
      ['application/trig', 'application/trig;charset=UTF-8', 'PREFIX|@prefix'],
      ['text/plain, */*;q=0.1', 'text/plain;charset=UTF-8', '> <http://e/p> "x" .'],
      ['application/n-quads, text/turtle;q=0.9', 'application/n-quads;charset=UTF-8', '> <http://e/p> "x" .'],
      ['application/json, text/plain, */*', 'text/turtle;charset=UTF-8', 'PREFIX|@prefix'],
    ]
    const tags = new Set<string | undefined>()
    for (const [type, expected, text] of rows) {
      const got = await world.as('owner')('GET', path, accept(type!))
      t.equal(got.fields['content-type'], expected, String(type))
      t.match(got.text, new RegExp(text!), String(type))
      tags.add(got.fields.etag)
      const fields = { Accept: type!, 'If-None-Match': got.fields.etag! }
      t.equal((await world.as('owner')('GET', path, { fields })).status, 304, String(type))
      const change = { fields: { 'If-Match': got.fields.etag!, 'Content-Type': 'application/sparql-update' } }
      const none = { ...change, body: 'DELETE WHERE { <http://e/none> <http://e/none> <http://e/none> }' }
      t.equal((await world.as('owner')('PATCH', path, none)).status, 204, `${type}: If-Match`)
    }
    t.equal(tags.size, new Set(rows.map(([, expected]) => expected)).size, 'a tag for each')
  })
  await row('JSON-LD 1.1 §8.2: compacted with a context, expanded for those who ask for it', async (t) => {
    const path = await make('<> <http://purl.org/dc/terms/title> "x" ; <http://e/p> 1, true .')
    const profile = (name: string) => `application/ld+json;profile="http://www.w3.org/ns/json-ld#${name}"`
    const compacted = await world.as('owner')('GET', path, accept('application/ld+json'))
    const expanded = await world.as('owner')('GET', path, accept(profile('expanded')))
    t.match(compacted.text, '"dct:title":"x"')
    t.match(compacted.text, '"http://e/p":[1,true]')
    t.equal((await world.as('owner')('GET', path, accept(profile('compacted')))).text, compacted.text)
    t.ok(Array.isArray(JSON.parse(expanded.text)))
    t.not(expanded.fields.etag, compacted.fields.etag)
  })
  await row('spec 4.6: ?accept= replaces the Accept field', async (t) => {
    const path = await make()
    const got = await world.as('owner')('GET', `${path}?accept=application/n-triples`, accept('image/png'))
    t.equal(got.fields['content-type'], types[1]![1])
  })
  await row('spec 4.6: negotiation by q-values, Turtle by default', async (t) => {
    const path = await make()
    const rows = [
      [undefined, 'text/turtle'],
      ['*/*', 'text/turtle'],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
      ['text/html;q=0.8, text/turtle;q=0.8', 'text/turtle'],
      ['text/turtle;q=0.1, application/ld+json;q=0.5', 'application/ld+json'],
      ['application/*', 'application/n-triples'],
    ]
    for (const [accept, expected] of rows) {
      const got = await world.as('owner')('GET', path, { fields: accept ? { Accept: accept } : {} })
      t.equal(got.fields['content-type']?.split(';')[0], expected, String(accept))
    }
  })
  await row('an RDF/POST form creates and appends', async (t) => {
    const path = world.freshPath()
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const body = `rdf=&su=${encodeURIComponent(world.origin + path)}&pu=http%3A%2F%2Fpurl.org%2Fdc%2Fterms%2Ftitle&ol=Posted+form`
    t.equal((await world.as('owner')('PUT', path, { fields: form, body })).status, 201)
    t.equal(
      (await world.as('owner')('POST', path, { fields: form, body: body.replace('Posted', 'Another') })).status,
      204,
    )
    const { text } = await world.as('owner')('GET', path, { fields: NT })
    t.match(text, '"Posted form"')
    t.match(text, '"Another form"')
  })
}

async function conditions(world: World, row: Row, make: Make): Promise<void> {
  const owner = world.as('owner')
  await row('RFC 9110 §13: 304, 412 and the dates', async (t) => {
    const path = await make()
    const { fields } = await owner('GET', path)
    const { etag } = fields
    const modified = fields['last-modified']!
    t.ok(Date.parse(modified))
    const rows: [method: string, fields: Record<string, string>, status: number][] = [
      ['GET', { 'If-None-Match': etag! }, 304],
      ['HEAD', { 'If-None-Match': `"x", W/${etag}` }, 304],
      ['GET', { 'If-None-Match': '*' }, 304],
      ['GET', { 'If-None-Match': '"random-etag"' }, 200],
      ['GET', { 'If-None-Match': etag!, Accept: 'application/n-triples' }, 200],
      ['GET', { 'If-Match': '"random-etag"' }, 412],
      ['GET', { 'If-Modified-Since': modified }, 304],
      ['GET', { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 200],
      ['GET', { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 412],
      ['PUT', { 'If-None-Match': '*' }, 412],
      ['PUT', { 'If-Match': '"random-etag"' }, 412],
      ['POST', { 'If-Match': '"random-etag"' }, 412],
      ['PATCH', { 'If-Match': '"random-etag"' }, 412],
      ['DELETE', { 'If-Match': '"random-etag"' }, 412],
      ['PUT', { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 412],
      ['PUT', { 'If-Match': 'no-quotes' }, 400],
    ]
    for (const [method, conditional, status] of rows) {
      const content = method === 'PATCH' ? UPDATE : TTL
      const body = method === 'PATCH' ? 'DELETE WHERE { ?s ?p ?o }' : method.startsWith('P') ? '<> a <#T> .' : undefined
      const answer = await owner(method, path, { fields: { ...content, ...conditional }, ...(body && { body }) })
      t.equal(answer.status, status, `${method} ${JSON.stringify(conditional)}`)
      if (status === 304) t.equal(answer.fields.etag, etag, 'RFC 9110 §15.4.5')
    }
    t.equal((await owner('GET', path)).fields.etag, etag, 'nothing has changed')
  })
  await row('RFC 9110 §13.1.2: If-None-Match of a write, with the tag of any format and of the page', async (t) => {
    const path = await make()
    for (const type of ['text/turtle', 'application/ld+json', 'text/html']) {
      const tag = (await owner('GET', path, accept(type))).fields.etag!
      for (const method of ['PUT', 'POST', 'DELETE'])
        for (const named of [tag, `"other", W/${tag}`]) {
          const sent = { fields: { ...TTL, 'If-None-Match': named }, body: '<> a <#T> .' }
          t.equal((await owner(method, path, sent)).status, 412, `${method} ${type}`)
        }
    }
    const earlier = (await owner('GET', path, accept('text/html'))).fields.etag!
    t.equal((await owner('PUT', path, ttl('<> a <#New> .'))).status, 200)
    const late = { fields: { ...TTL, 'If-None-Match': earlier }, body: '<> a <#T> .' }
    t.equal((await owner('PUT', path, late)).status, 200, 'the tag of an earlier state')
  })
  await row('If-Match with the tag of a write, and of any format', async (t) => {
    const path = await make()
    const { etag: turtleTag } = (await owner('GET', path)).fields
    const put = await owner('PUT', path, { fields: { ...TTL, ...NT, 'If-Match': turtleTag! }, body: '<> a <#T> .' })
    t.equal(put.status, 200)
    t.equal(
      put.fields.etag,
      (await owner('GET', path, { fields: NT })).fields.etag,
      'the new tag of the negotiated format',
    )
    t.equal((await owner('DELETE', path, { fields: { 'If-Match': turtleTag! } })).status, 412)
    t.equal((await owner('DELETE', path, { fields: { 'If-Match': put.fields.etag! } })).status, 204)
    t.equal((await owner('PUT', path, { fields: { 'If-Match': '*' } })).status, 412, 'no document exists')
    t.equal((await owner('PUT', path, { fields: { 'If-None-Match': '*' } })).status, 201)
  })
  await row('property: of concurrent conditional writes, exactly one wins', async (t) => {
    for (let round = 0; round < 10; round++) {
      const path = await make()
      const { etag } = (await owner('GET', path)).fields
      const writes = Array.from({ length: 4 }, (_, i) =>
        owner('PUT', path, { fields: { ...TTL, 'If-Match': etag! }, body: turtle(`"${round}-${i}"`) }),
      )
      t.same((await Promise.all(writes)).map(({ status }) => status).sort(), [200, 412, 412, 412])
      const fresh = world.freshPath()
      const creates = Array.from({ length: 4 }, () => owner('PUT', fresh, { fields: { 'If-None-Match': '*' } }))
      t.same((await Promise.all(creates)).map(({ status }) => status).sort(), [201, 412, 412, 412])
    }
  })
}

async function managed(world: World, row: Row, make: Make): Promise<void> {
  const owner = world.as('owner')
  await row('spec 2.1: the managed triples of a document', async (t) => {
    const path = world.freshPath()
    await world.as('writer')('PUT', path)
    const { text } = await owner('GET', path, { fields: NT })
    const self = `<${world.origin}${path}>`
    t.match(text, `${self} <http://rdfs.org/sioc/ns#has_container> <${world.base}> .`)
    t.match(text, `${self} <http://www.w3.org/ns/auth/acl#owner> <${world.webIdOf('writer')}> .`)
    t.match(text, `${self} <http://purl.org/dc/terms/creator> <${world.webIdOf('writer')}> .`)
    t.match(
      text,
      /created> "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,2}[1-9])?Z"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#dateTime>/,
    )
    t.notMatch(text, 'dc/terms/modified')
    await owner('POST', path, ttl(turtle('"x"')))
    await owner('POST', path, ttl(turtle('"y"')))
    const after = (await owner('GET', path, { fields: NT })).text
    t.equal(after.split('dc/terms/modified').length, 2, 'exactly one dct:modified')
    t.equal(after.split('dc/terms/created').length, 2, 'exactly one dct:created')
    t.match(after, `acl#owner> <${world.webIdOf('writer')}>`, 'the owner stays')
  })
  await row('acl:owner gives Read, Write and Append to the owner, and to no other agent', async (t) => {
    const path = await make(undefined, 'writer')
    t.equal((await world.as('stranger')('GET', path)).status, 403)
    const claim = `<> <http://www.w3.org/ns/auth/acl#owner> <${world.webIdOf('stranger')}> .`
    await world.as('writer')('POST', path, ttl(claim))
    await world.as('writer')('PUT', path, ttl(claim))
    const body = `INSERT { ${claim.replace(' .', '')} } WHERE {}`
    t.equal((await world.as('writer')('PATCH', path, update(body))).status, 204)
    t.equal((await world.as('stranger')('GET', path)).status, 403, 'a claim of ownership has no effect')
  })
  await row('blank nodes are skolemised in every write', async (t) => {
    const path = await make('<> <http://e/p> [ <http://e/q> [] ] .')
    await owner('POST', path, ttl('<> <http://e/p> [] .'))
    await owner('PATCH', path, update('INSERT { <#x> <http://e/p> [] } WHERE {}'))
    const { text } = await owner('GET', path, { fields: NT })
    t.notMatch(text, '_:')
    t.equal(text.match(new RegExp(`<${world.origin}${path}#id[0-9a-f-]{36}> \\.`, 'g'))?.length, 4)
  })
  await row(
    'blank nodes are skolemised in large contents too, with the managed triples that the rules demand',
    async (t) => {
      const much = many(40_000, (i) => `<#${i}> <http://e/n> "${i}" .\n`)
      const path = await make()
      const item = `<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container>, <#T> ; <http://www.w3.org/ns/auth/acl#owner> <#o> .`
      t.equal((await owner('PUT', path, ttl(`${item} <> <http://e/p> [ <http://e/q> [] ] . ${much}`))).status, 200)
      t.equal((await owner('POST', path, ttl(`<> <http://e/p> [] . ${much.replaceAll('/n>', '/m>')}`))).status, 204)
      const inserted = `INSERT { <#x> <http://e/p> [] . ${much.replaceAll('/n>', '/o>')} } WHERE {}`
      const patched = await owner('PATCH', path, update(inserted))
      t.equal(patched.status, 204)
      const { text, fields } = await owner('GET', path, { fields: NT })
      t.equal(
        (await owner('HEAD', path, { fields: TTL })).fields.etag,
        patched.fields.etag,
        'the tag is that of the state',
      )
      t.ok(fields.etag)
      t.notMatch(text, '_:')
      t.equal(text.match(new RegExp(`<${world.origin}${path}#id[0-9a-f-]{36}> \\.`, 'g'))?.length, 4)
      const lines = text.split('\n')
      t.equal(lines.filter((line) => /\/[nmo]>/.test(line)).length, 3 * (much.split('\n').length - 1))
      t.equal(lines.filter((line) => line.includes('acl#owner>') && !line.includes('#o>')).length, 1)
      t.ok(text.includes('document-hierarchy#Container>') && text.includes('has_parent>') && text.includes('#T>'))
      const gone = await owner('PATCH', path, update('DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }'))
      t.equal(gone.status, 204)
      t.equal((await owner('GET', path)).status, 404, 'a large change that leaves nothing is a deletion')
    },
  )
  await row('blank nodes that an update puts into a large document become IRIs', async (t) => {
    const path = await make()
    const stored = `${many(150_000, (i) => `<urn:${i}> <http://e/n> "${i}" .\n`)} _:b <http://e/q> "1"`
    for (const [method, send] of [
      ['POST', ttl('<#a> <http://e/p> [] .')],
      ['PATCH', update('INSERT { <#b> <http://e/p> 1 } WHERE {}')],
    ] as const) {
      const inserted = update(`INSERT DATA { GRAPH <${world.origin}${path}> { ${stored} } }`)
      t.equal((await owner('POST', '/sparql', inserted)).status, 200)
      t.notMatch((await owner('GET', path, { fields: NT })).text, '_:', 'by the update')
      t.equal((await owner(method, path, send)).status, 204)
      t.notMatch((await owner('GET', path, { fields: NT })).text, '_:', method)
    }
  })
  await row('PUT of the content of a GET changes only dct:modified', async (t) => {
    const path = await make('<#x> a <http://e/T> ; <http://e/p> 1, 2.50, "a\\tb"@en-gb .')
    const before = (await owner('GET', path, { fields: NT })).text
    await owner('PUT', path, { fields: { 'Content-Type': 'application/n-triples' }, body: before })
    const lines = (await owner('GET', path, { fields: NT })).text.split('\n')
    t.equal(lines.filter((line) => !line.includes('dc/terms/modified')).join('\n'), before)
  })
}

async function existenceDoesNotLeak(world: World, row: Row, make: Make): Promise<void> {
  await row('existence does not leak: agents without rights get the same answer', async (t) => {
    const container = await make('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
    const old = `${container}old/`
    t.equal((await world.as('owner')('PUT', old)).status, 201)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const who of ['anonymous', 'stranger'] as const) {
        const ask = async (path: string): Promise<unknown> => {
          const answer = await world.as(who)(method, path)
          const fields = { ...answer.fields, date: undefined, 'x-request-id': undefined }
          return JSON.parse(
            JSON.stringify([answer.status, fields, answer.text]).replaceAll(path, 'PATH').replaceAll(/"\d+"/g, '"N"'),
          )
        }
        t.same(await ask(`${container}new/`), await ask(old), `${method} by ${who}`)
        t.same(((await ask(old)) as unknown[])[0], 403)
      }
    }
    const [there, missing] = [`${container}x/`, `${world.freshPath()}x/`]
    const title = async (path: string) =>
      errorOf(await world.as('stranger')('PUT', path)).title?.replaceAll(path.slice(0, -2), 'P')
    t.equal(await title(there), await title(missing), 'nor does the existence of a parent')
  })
  await row('404 to a reader of items and containers', async (t) => {
    t.equal((await world.as('reader')('GET', world.freshPath())).status, 404)
    t.equal((await world.as('writer')('DELETE', world.freshPath())).status, 404)
    t.equal((await world.as('reader')('DELETE', world.freshPath())).status, 403)
  })
}

async function fieldsOfResponses(world: World, row: Row, make: Make): Promise<void> {
  const owner = world.as('owner')
  await row(
    'the cache counts decisions and prepared heads: without them, it would hold ten times its size',
    async (t) => {
      const { documents } = world.running.dataspaces[0]!.endUser.cache
      const path = await make()
      await owner('GET', path)
      const before = documents.bytes()
      if (before === 0) return t.comment('the cache is off')
      for (const type of ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json']) {
        const { fields } = await owner('GET', path, accept(type))
        await owner('GET', path, { fields: { Accept: type, 'If-None-Match': fields.etag! } })
      }
      const grown = documents.bytes() - before
      t.ok(grown > 8 * 2000, `${grown} bytes`)
      for (let i = 0; i < 8; i++) await owner('GET', path, accept(i % 2 === 0 ? 'text/turtle' : 'application/rdf+xml'))
      t.equal(documents.bytes() - before, grown, 'each is counted once')
    },
  )
  await row('Link: agent, granted modes and the SPARQL endpoint, in RFC 8288 syntax on one line', async (t) => {
    const path = await make()
    const { rawFields } = await world.as('reader')('GET', path)
    const at = rawFields.indexOf('Link')
    t.ok(at >= 0)
    t.equal(rawFields.indexOf('Link', at + 1), -1)
    const link = rawFields[at + 1]!
    t.match(link, `<${world.webIdOf('reader')}>; rel="http://www.w3.org/ns/auth/acl#agent"`)
    t.match(link, '<http://www.w3.org/ns/auth/acl#Read>; rel="http://www.w3.org/ns/auth/acl#mode"')
    t.notMatch(link, 'acl#Write')
    t.match(link, `<${world.base}sparql>; rel="http://www.w3.org/ns/sparql-service-description#endpoint"`)
    t.match((await owner('GET', path)).fields.link, 'acl#Control', 'the owner has all modes')
  })
  await row('201 has Location and the ETag; PATCH has Content-Location', async (t) => {
    const path = world.freshPath()
    const made = await owner('PUT', path)
    t.equal(made.fields.location, world.origin + path)
    t.equal(made.fields.etag, (await owner('GET', path)).fields.etag)
    const patched = await owner('PATCH', path, update('INSERT { <#a> <#b> <#c> } WHERE {}'))
    t.equal(patched.fields['content-location'], world.origin + path)
    t.equal(patched.fields.etag, (await owner('GET', path)).fields.etag)
    const posted = await owner('POST', path, ttl(turtle('"z"')))
    t.equal(posted.fields.etag, (await owner('GET', path)).fields.etag)
  })
  await row('Cache-Control: private unless everyone may read and the answer names no agent', async (t) => {
    const path = await make()
    t.match((await owner('GET', path)).fields['cache-control'], /private/)
    const agent = new URL(world.ownerWebId).pathname
    t.match((await world.as('anonymous')('GET', agent)).fields['cache-control'], /public/)
    t.match((await owner('GET', agent)).fields['cache-control'], /private/, 'this answer names the agent')
    t.match((await world.as('anonymous')('GET', path)).fields['cache-control'], /no-store/, 'errors')
  })
  await row('OPTIONS and CORS', async (t) => {
    const answer = await world.as('anonymous')('OPTIONS', '/')
    t.equal(answer.status, 204)
    t.equal(answer.fields.allow, 'GET, HEAD, POST, PUT, PATCH, OPTIONS', 'the root cannot be deleted')
    const profile = await world.as('anonymous')('OPTIONS', new URL(world.ownerWebId).pathname)
    t.equal(profile.fields.allow, 'GET, HEAD, OPTIONS')
    t.match(answer.fields['accept-post'], 'text/turtle')
    t.equal(answer.fields['accept-patch'], 'application/sparql-update')
    t.equal(answer.fields['access-control-allow-origin'], '*')
    t.match(answer.fields['access-control-allow-methods'], 'PATCH')
    t.match((await owner('GET', '/')).fields['access-control-expose-headers'], 'Link')
  })
  await row('field names in their usual case', async (t) => {
    const { rawFields } = await owner('GET', '/')
    for (const name of ['ETag', 'Link', 'Content-Type', 'Last-Modified', 'Access-Control-Allow-Origin']) {
      t.ok(rawFields.includes(name), name)
    }
  })
  await row('only answers that everyone may read are public', async (t) => {
    const path = await make()
    for (const who of ['owner', 'reader', 'stranger', 'anonymous'] as const) {
      const answer = await world.as(who)('GET', path)
      t.notMatch(answer.fields['cache-control'], /public/)
    }
  })
}
