// The store's own URLs (design 4, 5): SPARQL 1.1 Protocol and Graph Store HTTP Protocol as in Fuseki; as the owner, as
// a reader of a part, and as an anonymous client; on both stores.
import t from 'tap'
import { FENCE } from '../../../../gateway/mirror/write-failures.js'
import { problem } from '../../../../gateway/problem.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { makeWorld, ttl, type World } from '../../../support/world.js'
import type { Answer, Send } from '../../../support/client.js'
import { until } from '../../../support/wait.js'
import { withReadMethods } from '../../../support/query-method.js'

const V = 'urn:value'
const NT = 'application/n-triples'
const NQ = { fields: { Accept: 'application/n-quads' } }
const CSV = { fields: { Accept: 'text/csv' } }
const sent = (type: string, body: string, fields = {}): Send => ({ fields: { 'Content-Type': type, ...fields }, body })
const nt = (body: string, fields = {}): Send => sent(NT, body, { Accept: NT, ...fields })
const triple = (value: string, subject = 'urn:s'): string => `<${subject}> <${V}> "${value}" .\n`
/** Each with its name, its media type, and its content. */
const files = (...all: readonly (readonly [name: string, type: string, text: string])[]): Send => {
  const parts = all.map(([name, type, text]) => `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n${type && `Content-Type: ${type}\r\n`}\r\n${text}\r\n`) // prettier-ignore
  return sent('multipart/form-data; boundary=b', `${parts.join('')}--b--\r\n`)
}
const at = (service: string, parameters: Record<string, string> = {}): string => {
  const query = new URLSearchParams(parameters).toString().replace('default=', 'default')
  return `/ds${service}${query && `?${query}`}`
}

type Row = [name: string, agent: string, method: string, url: string, send: Send, status: number, text?: RegExp]

/** The store, with a counter of reads of single graphs. */
function counting(store: GraphStore): { readonly store: GraphStore; readonly asked: () => number } {
  let count = 0
  const excerpt: GraphStore['excerpt'] = (...asked) => (count++, store.excerpt(...asked))
  const read: GraphStore['read'] = (...asked) => (count++, store.read(...asked))
  return { store: new Proxy(store, { get: (of, name) => ({ excerpt, read })[String(name)] ?? Reflect.get(of, name) }), asked: () => count } // prettier-ignore
}

/** A store that does a write after its connection broke: when it has done the update by which the gateway waits. */
function lateStore(store: GraphStore): GraphStore & { isLate: boolean; isBusy: boolean } {
  let late: (() => Promise<unknown>) | undefined
  const own: ReturnType<typeof lateStore> = {
    ...store,
    isLate: false,
    isBusy: false,
    async replace(...call) {
      if (!own.isLate) return store.replace(...call)
      own.isLate = false
      late = () => store.replace(...call)
      return problem('store.failed', 'The connection broke.')
    },
    async update(text, call) {
      if (text !== FENCE) return store.update(text, call)
      if (own.isBusy) return problem('store.overloaded', 'The store is busy.')
      await late?.()
      late = undefined
      return store.update(text, call)
    },
  }
  return own
}

void forEachStore(t, "the store's own URLs", async (t, makeStores, kind) => {
  const { endUser, ...stores } = await makeStores()
  const counted = counting(endUser)
  const world = await makeWorld(t, { ...stores, endUser: counted.store }, { flags: ['--dataset-path', '/ds'] })
  const row = rowsOf(t, kind)
  const { base } = world
  const [open, hidden, made, new1] = ['open', 'hidden', 'made', 'new'].map((name) => `${base}${name}/`) as [string, string, string, string] // prettier-ignore
  const owner = world.as('owner')
  for (const name of ['open', 'hidden'])
    t.equal((await owner('PUT', `/${name}/`, ttl(`<> <${V}> "${name}" .`))).status, 201)
  await grant(world, [open, 'urn:ex:shown'])
  const graph = (name: string, service = '/data'): string => at(service, { graph: name })
  const query = (text: string, service = '/sparql'): string => at(service, { query: text })
  const [all, insert] = [
    `SELECT ?v { GRAPH ?g { ?s <${V}> ?v } }`,
    `INSERT DATA { GRAPH <urn:ex:shown> { ${triple('shown')} } }`,
  ]
  const form = (name: string, text: string): Send =>
    sent('application/x-www-form-urlencoded', new URLSearchParams({ [name]: text }).toString(), CSV.fields)
  const quads = `<urn:q> <${V}> "quad" <urn:ex:quads> .\n<urn:q> <${V}> "in document" <${new1}> .\n`

  const large = `<urn:${'€'.repeat(30_000)}> <${V}> ${Array.from({ length: 400 }, (_, i) => i).join()} .`

  // prettier-ignore
  const ROWS: Row[] = [
    // SPARQL 1.1 Protocol §2.1, §2.2
    ['query via GET', 'owner', 'GET', query(all), CSV, 200, /^v\r?\n(?:open\r?\nhidden|hidden\r?\nopen)\r?\n$/],
    ['query via GET: readable data only', 'stranger', 'GET', query(all), CSV, 200, /^v\r?\nopen\r?\n$/],
    ['query via GET: no right on the endpoint', 'anonymous', 'GET', query(all), CSV, 401],
    ['query by a client that accepts only HTML, such as a browser', 'stranger', 'GET', query(all), { fields: { Accept: 'text/html' } }, 200, /"value"\s*:\s*"open"/],
    ['query at the dataset by a client that accepts no result format', 'stranger', 'GET', query(all, ''), { fields: { Accept: 'application/rdf+xml' } }, 200, /"value"\s*:\s*"open"/],
    ['query at /query', 'stranger', 'GET', query(all, '/query'), CSV, 200, /^v\r?\nopen\r?\n$/],
    ['query at the dataset', 'stranger', 'GET', query(all, ''), CSV, 200, /^v\r?\nopen\r?\n$/],
    ['query via URL-encoded POST', 'stranger', 'POST', at('/query'), form('query', all), 200, /^v\r?\nopen\r?\n$/],
    ['query via URL-encoded POST at the dataset', 'stranger', 'POST', at(''), form('query', all), 200, /^v\r?\nopen\r?\n$/],
    ['query via POST directly', 'stranger', 'POST', at('/sparql'), sent('application/sparql-query', all, CSV.fields), 200, /^v\r?\nopen\r?\n$/],
    ['query via POST directly at the dataset', 'stranger', 'POST', at(''), sent('application/sparql-query', all, CSV.fields), 200, /^v\r?\nopen\r?\n$/],
    ['query via QUERY at the dataset', 'stranger', 'QUERY', at(''), sent('application/sparql-query', all, CSV.fields), 200, /^v\r?\nopen\r?\n$/],
    ['an update at the URL for queries', 'owner', 'POST', at('/query'), sent('application/sparql-update', insert), 400, /\/update/],
    ['a query at the URL for updates', 'owner', 'POST', at('/update'), form('query', all), 400, /\/query/],
    ['GET at the URL for updates', 'owner', 'GET', query(all, '/update'), {}, 405],
    ['an update without the right', 'stranger', 'POST', at('/update'), sent('application/sparql-update', insert), 403],
    ['an update at the dataset without the right', 'stranger', 'POST', at(''), form('update', insert), 403],
    ['an update without a credential', 'anonymous', 'POST', at('/update'), form('update', insert), 401],
    ['an update of a document keeps its managed properties', 'owner', 'POST', at('/update'), sent('application/sparql-update', `INSERT DATA { GRAPH <${made}> { ${triple('made')} } }`), 200],
    ['the document has its managed triples', 'owner', 'GET', '/made/', { fields: { Accept: NT } }, 200, /has_container/],
    ['the root cannot be removed', 'owner', 'POST', at('/update'), form('update', `DROP GRAPH <${base}>`), 400],
    // Graph Store HTTP Protocol §4.2: indirect identification; §5.2 GET
    ['GET of a document', 'owner', 'GET', graph(hidden), { fields: { Accept: NT } }, 200, /"hidden"/],
    ['GET of a document at the dataset', 'stranger', 'GET', graph(open, ''), {}, 200, /"open"/],
    ['GET of a document, read only', 'stranger', 'GET', graph(open, '/get'), {}, 200, /"open"/],
    ['GET of a document without the right', 'stranger', 'GET', graph(hidden), {}, 403],
    ['GET of a document without a credential', 'anonymous', 'GET', graph(open), {}, 401],
    ['GET of an absent document', 'owner', 'GET', graph(`${base}absent/`), {}, 404],
    ['GET of an absent document without the right', 'stranger', 'GET', graph(`${base}absent/`), {}, 403],
    ['GET of another graph without the right', 'stranger', 'GET', graph('urn:ex:absent'), {}, 403],
    ['GET of an absent graph with the right', 'stranger', 'GET', graph('urn:ex:shown'), {}, 404],
    ['GET by a relative name', 'owner', 'GET', graph('shown'), {}, 400],
    ['GET by a name with dot segments', 'owner', 'GET', graph(`${base}a/../hidden/`), {}, 400],
    ['GET by a name that stores use for a union', 'owner', 'GET', graph('urn:x-arq:UnionGraph'), {}, 403],
    ['GET by the name of a document that no URL leads to', 'owner', 'GET', graph(`${base}a%7Eb/`), {}, 404],
    ['GET by two names', 'owner', 'GET', `${graph('urn:ex:shown')}&default`, {}, 400],
    ['GET by a name twice', 'owner', 'GET', `${graph('urn:ex:shown')}&graph=urn:ex:other`, {}, 400],
    ['a browser gets Turtle', 'owner', 'GET', graph(open), { fields: { Accept: 'text/html' } }, 200, /"open"/],
    // §5.7 PATCH
    ['PATCH of a document', 'owner', 'PATCH', graph(made), sent('application/sparql-update', `INSERT { ${triple('patched')} } WHERE {}`), 204],
    ['the document has its change', 'owner', 'GET', '/made/', { fields: { Accept: NT } }, 200, /"patched"/],
    ['PATCH of a document without the right', 'stranger', 'PATCH', graph(made), sent('application/sparql-update', 'DELETE WHERE { ?s ?p ?o }'), 403],
    ['PATCH of an absent document', 'owner', 'PATCH', graph(`${base}absent/`), sent('application/sparql-update', 'DELETE WHERE { ?s ?p ?o }'), 404],
    ['PATCH at the URL for reading', 'owner', 'PATCH', graph(made, '/get'), sent('application/sparql-update', 'DELETE WHERE { ?s ?p ?o }'), 405],
    ...['caf\u00e9/', 'caf%C3%A9/'].map((name) => ['PATCH by either spelling of a name shows none', 'stranger', 'PATCH', graph(base + name), sent('application/sparql-update', 'DELETE WHERE { ?s ?p ?o }'), 403] as Row),
    ['PATCH of another graph', 'owner', 'PATCH', graph('urn:ex:shown'), sent('application/sparql-update', insert), 405],
    ['PUT at the URL for reading', 'owner', 'PUT', graph(made, '/get'), nt(triple('x')), 405],
    // §5.3 PUT, §5.5 POST, §5.4 DELETE of documents
    ['PUT of a document', 'owner', 'PUT', graph(new1), nt(triple('new')), 201],
    ['PUT of a document without the right', 'stranger', 'PUT', graph(new1), nt(triple('x')), 403],
    ['the document exists', 'owner', 'GET', '/new/', { fields: { Accept: NT } }, 200, /has_container[^]*"new"|"new"[^]*has_container/],
    ['PUT with an If-Match that does not match', 'owner', 'PUT', graph(new1), nt(triple('x'), { 'If-Match': '"other"' }), 412],
    ['POST to a document', 'owner', 'POST', graph(new1), nt(triple('more')), 204],
    ['POST to a document without the right', 'stranger', 'POST', graph(new1), nt(triple('x')), 403],
    ['POST creates a document', 'owner', 'POST', graph(`${base}posted/`), nt(triple('posted')), 201],
    ['POST creates no document without the right', 'stranger', 'POST', graph(`${base}posted-too/`), nt(triple('x')), 403],
    ['POST creates no document without a container', 'owner', 'POST', graph(`${base}no/container/`), nt(triple('x')), 403],
    ['POST with If-Match does not create a document', 'owner', 'POST', graph(`${base}posted-too/`), nt(triple('x'), { 'If-Match': '*' }), 412],
    ['the posted document exists', 'owner', 'GET', '/posted/', { fields: { Accept: NT } }, 200, /"posted"/],
    ['DELETE of a document without the right', 'stranger', 'DELETE', graph(new1), {}, 403],
    ['DELETE of a document', 'owner', 'DELETE', graph(`${base}posted/`), {}, 204],
    ['DELETE of an absent document', 'owner', 'DELETE', graph(`${base}posted/`), {}, 404],
    ['DELETE of the root', 'owner', 'DELETE', graph(base), {}, 400],
    // Any other graph
    ['PUT of another graph', 'owner', 'PUT', graph('urn:ex:shown'), nt(triple('shown')), 201],
    ['PUT of another graph without the right', 'stranger', 'PUT', graph('urn:ex:shown'), nt(triple('x')), 403],
    ['multipart to a document', 'owner', 'POST', graph(new1), files(['a.ttl', 'text/turtle', triple('part')]), 204],
    ['multipart to another graph', 'owner', 'POST', graph('urn:ex:parts'), files(['a.ttl', 'text/turtle', triple('one')], ['b.nt', 'application/octet-stream', triple('two')]), 201],
    ['PUT of multipart to another graph', 'owner', 'PUT', graph('urn:ex:parts'), files(['a.ttl', 'text/turtle', triple('three')]), 204],
    ['multipart to another graph without the right', 'stranger', 'POST', graph('urn:ex:parts'), files(['a.ttl', 'text/turtle', triple('x')]), 403],
    ['a part that is not RDF', 'owner', 'POST', graph('urn:ex:parts'), files(['a.csv', 'text/csv', 'a,b']), 415],
    ['a field in addition to the file', 'owner', 'POST', graph('urn:ex:parts'), { ...files(), body: `--b\r\nContent-Disposition: form-data; name="graph"\r\n\r\nurn:x\r\n--b--\r\n` }, 415],
    ['the graph has the parts', 'owner', 'GET', graph('urn:ex:parts'), { fields: { Accept: NT } }, 200, /^<urn:s> <urn:value> "three" \.\n$/],
    ['the union of all graphs, as Fuseki names it', 'owner', 'GET', graph('union'), { fields: { Accept: NT } }, 200, /"three"/],
    ['the union of readable graphs', 'stranger', 'GET', graph('union'), { fields: { Accept: NT } }, 200, /"open"/],
    ['the union without a credential', 'anonymous', 'GET', graph('union'), { fields: { Accept: NT } }, 401],
    ['the union is read-only', 'owner', 'PUT', graph('union'), nt(triple('x')), 400, /is read-only/],
    ['PUT of another graph again', 'owner', 'PUT', graph('urn:ex:shown'), nt(triple('shown again')), 204],
    ['POST to another graph', 'owner', 'POST', graph('urn:ex:shown'), nt(triple('posted') + `_:a <${V}> _:a .\n`), 204],
    ['POST to another graph without the right', 'stranger', 'POST', graph('urn:ex:shown'), nt(triple('x')), 403],
    ['POST creates another graph', 'owner', 'POST', graph('http://example.org/a b'.replace(' ', '%20')), nt(triple('other')), 201],
    ['GET of another graph, with its blank nodes', 'stranger', 'GET', graph('urn:ex:shown'), { fields: { Accept: NT } }, 200, /_:\S+ <urn:value> _:/],
    ['a write of another graph with an If-Match that does not match', 'owner', 'PUT', graph('urn:ex:shown'), nt(triple('x'), { 'If-Match': '"other"' }), 412],
    ['PUT of another graph with a date that its author wrote', 'owner', 'PUT', graph('urn:ex:dated'), nt(`<urn:ex:dated> <http://purl.org/dc/terms/modified> "2001-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n`), 201],
    ['that date is no condition of a read', 'owner', 'GET', graph('urn:ex:dated'), { fields: { 'If-Modified-Since': 'Thu, 01 Jan 2026 00:00:00 GMT' } }, 200],
    ['nor of a write', 'owner', 'PUT', graph('urn:ex:dated'), nt(triple('x'), { 'If-Unmodified-Since': 'Sat, 01 Jan 2000 00:00:00 GMT' }), 204],
    ['a write of another graph that must not exist yet', 'owner', 'PUT', graph('urn:ex:shown'), nt(triple('x'), { 'If-None-Match': '*' }), 412],
    ['N-Triples by their old name', 'owner', 'PUT', graph('urn:ex:shown'), sent('text/plain;charset=ascii', triple('plain')), 204],
    ['Turtle as N3', 'owner', 'POST', graph('urn:ex:shown'), sent('text/n3; charset=utf-8', `<urn:n> <${V}> "n3" .`), 204],
    ['another charset', 'owner', 'PUT', graph('urn:ex:shown'), sent('text/plain;charset=latin1', triple('x')), 415],
    ['content that is not RDF', 'owner', 'PUT', graph('urn:ex:shown'), nt('nothing'), 400],
    ['content of another type', 'owner', 'PUT', graph('urn:ex:shown'), sent('text/csv', 'a,b'), 415],
    ['PUT of another graph that is too large', 'owner', 'PUT', graph('urn:ex:large'), sent('text/turtle', large), 413, /bytes of N-Triples/],
    ['POST to another graph that is too large', 'owner', 'POST', graph('urn:ex:shown'), sent('text/turtle', large), 413, /bytes of N-Triples/],
    ['DELETE of another graph without the right', 'stranger', 'DELETE', graph('urn:ex:shown'), {}, 403],
    ['DELETE of another graph', 'owner', 'DELETE', graph('http://example.org/a%20b'), {}, 204],
    ['DELETE of an absent graph', 'owner', 'DELETE', graph('http://example.org/a%20b'), {}, 404],
    ...(kind === 'fuseki' ? [['a name that the store refuses is the mistake of the client, with its reason', 'owner', 'PUT', graph('http://example.org:bad/'), nt(triple('x')), 400, /Bad URI: http:\/\/example\.org:bad\//] as Row] : []),
    // The default graph
    ['GET of the default graph', 'owner', 'GET', at('/data', { default: '' }), { fields: { Accept: NT } }, 200, /^$/],
    ['GET of the default graph without the right', 'stranger', 'GET', at('/data', { default: '' }), {}, 403],
    ['PUT of the default graph', 'owner', 'PUT', at('/data', { default: '' }), nt(triple('default')), 204],
    ['POST to the default graph', 'owner', 'POST', at('', { default: '' }), nt(triple('default too')), 204],
    ['POST to the default graph without the right', 'stranger', 'POST', at('', { default: '' }), nt(triple('x')), 403],
    ['GET of the default graph by the name in Fuseki', 'owner', 'GET', graph('default'), { fields: { Accept: NT } }, 200, /"default"[^]*"default too"|"default too"[^]*"default"/],
    ['DELETE of the default graph', 'owner', 'DELETE', at('/data', { default: '' }), {}, 204],
    ['the default graph is empty then', 'owner', 'GET', at('/data', { default: '' }), { fields: { Accept: NT } }, 200, /^$/],
    // The dataset as a whole
    ['POST of quads without the right', 'stranger', 'POST', at('/data'), sent('application/n-quads', quads), 403],
    ['POST of quads', 'owner', 'POST', at('/data'), sent('application/n-quads', quads), 200],
    ['POST of TriG at the dataset', 'owner', 'POST', at(''), sent('application/trig', `<urn:ex:shown> { <urn:t> <${V}> "TriG" }`), 200],
    ['POST of invalid quads', 'owner', 'POST', at('/data'), sent('application/n-quads', 'nothing'), 400],
    ['POST of quads that expand to too much', 'owner', 'POST', at('/data'), sent('application/trig', `<urn:${'s'.repeat(100_000)}> <${V}> ${'1,'.repeat(400)} 2 .`), 413, /triplegate import/],
    ['POST of quads to a graph without a name', 'owner', 'POST', at('/data'), sent('application/trig', `_:g { <urn:q> <${V}> 1 }`), 400, /blank node as the name/],
    ['POST of content that is not RDF', 'owner', 'POST', at('/data'), sent('text/csv', 'a,b'), 415],
    ['POST of RDF/XML to the dataset', 'owner', 'POST', at('/data'), sent('application/rdf+xml', `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:v="urn:"><rdf:Description rdf:about="urn:x"><v:value>XML</v:value></rdf:Description></rdf:RDF>`), 200],
    ['POST of JSON-LD with graphs', 'owner', 'POST', at(''), sent('application/ld+json', `{"@id":"urn:ex:ld","@graph":[{"@id":"urn:x","urn:value":"LD"}]}`), 200],
    ['N-Triples by their old name to the dataset', 'owner', 'POST', at('/data'), sent('text/plain', triple('old name')), 200],
    ['multipart to the dataset', 'owner', 'POST', at('/data'), files(['a.nq', 'application/n-quads', `<urn:q> <${V}> "part" <urn:ex:parted> .`], ['a.trig', '', `<urn:ex:shown> { <urn:t> <${V}> "part" }`]), 200],
    ['multipart at the upload URL', 'owner', 'POST', at('/upload'), files(['a.ttl', 'text/turtle', triple('uploaded')]), 200],
    ['TriG at the upload URL', 'owner', 'POST', at('/upload'), sent('application/trig', `<urn:ex:shown> { <urn:t> <${V}> "up" }`), 200],
    ['multipart without the right', 'stranger', 'POST', at('/upload'), files(['a.ttl', 'text/turtle', triple('x')]), 403],
    ['GET at the upload URL', 'owner', 'GET', at('/upload'), {}, 405],
    ['the default graph has the triples', 'owner', 'GET', at('/data', { default: '' }), { fields: { Accept: NT } }, 200, /(?=[^]*"uploaded")(?=[^]*"old name")[^]*"XML"/],
    ['the graphs have the quads', 'owner', 'GET', at('/data'), NQ, 200, /(?=[^]*"LD" <urn:ex:ld>)(?=[^]*"part" <urn:ex:shown>)[^]*"part" <urn:ex:parted>/],
    ['the default graph is emptied', 'owner', 'DELETE', at('/data', { default: '' }), {}, 204],
    ['PUT of the whole dataset', 'owner', 'PUT', at('/data'), sent('application/n-quads', quads), 405],
    ['GET of quads', 'owner', 'GET', at('/data'), NQ, 200, /^(?=[^]*"hidden" <\S+hidden\/> \.)(?=[^]*"quad" <urn:ex:quads> \.)/],
    ['GET of quads at the dataset', 'owner', 'GET', at(''), {}, 200, /<urn:ex:quads> \{\n<urn:q> <urn:value> "quad" \.\n\}/],
    ['GET of quads: readable graphs only', 'stranger', 'GET', at('/data'), NQ, 200, /"open"[^]*"TriG" <urn:ex:shown>|"TriG" <urn:ex:shown>[^]*"open"/],
    ['GET of quads, read only', 'stranger', 'GET', at('/get'), NQ, 200, /"open"/],
    ['GET of quads without a credential', 'anonymous', 'GET', at('/data'), NQ, 401],
    ['GET of quads in a format for one graph, as with Fuseki', 'owner', 'GET', at('/data'), { fields: { Accept: 'application/rdf+xml' } }, 200, /"quad" <urn:ex:quads> \.\n/],
    // Other URLs are unaffected (spec 1, 4.1).
    ['the URL of a document refuses ?graph', 'owner', 'GET', '/open/?graph=urn:ex:shown', {}, 400],
    ['documents below the path of the dataset', 'owner', 'PUT', '/ds/', ttl(`<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .`), 201],
    ['documents with the name of a service', 'owner', 'PUT', '/ds/data/', ttl('<> <urn:p> 1 .'), 201],
  ]
  for (const [name, agent, method, url, send, status, text] of withReadMethods(ROWS)) {
    await row(`${agent}: ${name}: ${status}`, async (t) => {
      const answer = await world.as(agent)(method, url, send)
      t.equal(answer.status, status, answer.text)
      if (text) t.match(answer.text, text)
      if (agent !== 'owner') t.notMatch(answer.text, /hidden"|"quad"|in document/)
    })
  }
  const [BOTH, OTHER] = [/(?=.*"mine").*"of another"/s, /^(?!.*"mine").*"of another"/s]
  // prettier-ignore
  const CREATING: [name: string, fields: Record<string, string>, absent: number, meanwhile: number, triples: RegExp][] = [
    ['no condition', {}, 201, 204, BOTH],
    ['If-None-Match with a tag', { 'If-None-Match': '"other"' }, 201, 204, BOTH],
    ['If-None-Match: *', { 'If-None-Match': '*' }, 201, 412, OTHER],
    ['If-None-Match that is malformed', { 'If-None-Match': 'x' }, 400, 400, OTHER],
    ['If-Unmodified-Since', { 'If-Unmodified-Since': 'Sat, 28 Nov 2099 00:00:00 GMT' }, 201, 204, BOTH],
    ['If-Match: *', { 'If-Match': '*' }, 412, 204, BOTH],
    ['If-Match with another tag', { 'If-Match': '"other"' }, 412, 412, OTHER],
  ]
  for (const [i, [name, fields, absent, there, triples]] of CREATING.entries()) {
    await row(`a POST that would create a document, with ${name}: ${absent}`, async (t) => {
      t.equal((await owner('POST', graph(`${base}absent-${i}/`), nt(triple('mine'), fields))).status, absent)
    })
    await row(`a POST to a document that another client creates meanwhile, with ${name}: ${there}`, async (t) => {
      const url = graph(`${base}meanwhile-${i}/`)
      const meanwhile = (): Promise<Answer> => owner('PUT', url, nt(triple('of another')))
      t.equal((await owner('POST', url, { ...nt(triple('mine'), fields), meanwhile })).status, there)
      const { text } = await owner('GET', url, { fields: { Accept: NT } })
      t.match(text, triples)
    })
  }
  await row('a POST with If-Match to an absent document: 412 to each agent that may create it', async (t) => {
    const rule = '/admin/acl/authorizations/creating/'
    const body = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:Write ;
      acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${base}> .`
    t.equal((await owner('PUT', rule, ttl(body))).status, 201)
    const send = nt(triple('x'), { 'If-Match': '*' })
    t.equal((await world.as('stranger')('POST', graph(`${base}absent/`), send)).status, 412)
    t.equal((await owner('DELETE', rule)).status, 204)
  })
  await row('RFC 9110 §15.5.2: only here anonymous clients are asked for a password or a token', async (t) => {
    const asked = /^Basic realm="Triplegate", charset="UTF-8", .*\bBearer realm="Triplegate"$/
    const anonymous = world.as('anonymous')
    for (const url of [
      query(all),
      graph(hidden),
      graph('urn:ex:shown'),
      at('/data'),
      query('ASK { ?s !<urn:a>* ?o }', ''),
    ]) {
      const { status, fields } = await anonymous('GET', url)
      t.match([status, fields['www-authenticate']], [401, asked], url)
    }
    for (const [agent, url] of [
      ['stranger', graph(hidden)],
      ['anonymous', '/hidden/'],
      ['anonymous', query(all).replace('/ds', '')],
    ] as const) {
      const { status, fields } = await world.as(agent)('GET', url)
      t.same([status, fields['www-authenticate']], [403, undefined], url)
    }
    const other = { fields: { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' } }
    t.equal(
      (await anonymous('PUT', graph(hidden), { ...nt(triple('x')), fields: { ...nt('').fields, ...other.fields } }))
        .status,
      403,
    )
  })
  await row('a refused POST does not reveal whether the document exists', async (t) => {
    for (const agent of ['anonymous', 'stranger']) {
      const answers = [hidden, `${base}hidde1/`, `${base}no/container/`].map(async (name) => {
        const { status, text, fields } = await world.as(agent)('POST', graph(name), nt(triple('x')))
        // The other fields are about the connection and the request.
        return { status, text, fields: { ...fields, date: '', 'x-request-id': '', connection: '', 'keep-alive': '' } }
      })
      const [there, ...absent] = await Promise.all(answers)
      t.equal(there!.status, agent === 'anonymous' ? 401 : 403)
      for (const answer of absent) t.same(answer, there, agent)
    }
  })
  await row('a refused POST asks the store as often whether the document exists or not', async (t) => {
    await endUser.replace(`${base}behind/there/`, `<${base}behind/there/> <${V}> "hidden" .\n`)
    const asked: number[] = []
    for (const name of ['behind/there/', 'nothing/there/']) {
      const before = counted.asked()
      t.equal((await world.as('stranger')('POST', graph(base + name), nt(triple('x')))).status, 403)
      asked.push(counted.asked() - before)
    }
    t.equal(asked[0], asked[1])
    t.ok(asked[0]! > 0)
  })
  if (kind === 'embedded')
    await row('a graph that is not a document has the same size limit as a document', async (t) => {
      const of = (characters: number): string => triple('a'.repeat(characters), 'urn:ex:grows')
      await endUser.replace('urn:ex:grows', of(32 * 1024 * 1024 - 100_000))
      const statuses: number[] = []
      for (const more of [50_000, 200_000])
        statuses.push((await owner('POST', graph('urn:ex:grows'), nt(of(more)))).status)
      t.same(statuses, [204, 413])
      await endUser.remove('urn:ex:grows')
    })
  await row('OPTIONS says which methods there are', async (t) => {
    for (const [url, methods] of [
      [graph(open), 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
      [graph(base), 'GET, HEAD, POST, PUT, PATCH, OPTIONS'],
      [graph('urn:ex:shown'), 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
      // Nobody learns which spelling a document has.
      [graph(`${base}caf\u00e9/`), 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
      [graph(`${base}caf%C3%A9/`), 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
      [graph(open, '/get'), 'GET, HEAD, OPTIONS'],
      [at('/update'), 'POST, OPTIONS'],
      [at('/data'), 'GET, HEAD, POST, OPTIONS'],
    ] as const)
      t.equal((await world.as('anonymous')('OPTIONS', url)).fields.allow, methods, url)
  })
  await row('validators, ages and conditions of another graph', async (t) => {
    for (const url of [graph('urn:ex:shown'), graph(open), at('/data')]) {
      const first = await owner('GET', url)
      const tag = first.fields.etag!
      const second = await owner('GET', url, { fields: { 'If-None-Match': tag } })
      t.same([first.status, second.status, second.text], [200, 304, ''], url)
      if (url !== at('/data')) t.match(second.fields.age, /^\d+$/, url)
      const head = await owner('HEAD', url)
      t.same([head.status, head.fields.etag, head.text], [200, tag, ''], url)
    }
    const url = graph('urn:ex:shown')
    const tag = (await owner('GET', url)).fields.etag!
    const again = (): Promise<Answer> => owner('PUT', url, nt(triple('once'), { 'If-Match': tag }))
    t.same([(await again()).status, (await again()).status], [204, 412])
    t.match((await owner('GET', url, { fields: { Accept: NT } })).text, /"once"/)
    t.equal((await owner('GET', url, { fields: { 'If-None-Match': tag } })).status, 200)
  })
  await row('a revoked right shows in the next answer', async (t) => {
    const reader = world.as('stranger')
    t.same([(await reader('GET', graph('urn:ex:shown'))).status, (await reader('GET', graph(open))).status], [200, 200])
    await grant(world, [open])
    t.same([(await reader('GET', graph('urn:ex:shown'))).status, (await reader('GET', graph(open))).status], [403, 200])
    t.notMatch((await reader('GET', at('/data'), NQ)).text, /urn:ex:shown/)
  })
})

void forEachStore(t, 'every graph has a history', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const store = lateStore(stores.endUser)
  const flags = ['--dataset-path', '/ds', '--history', 'local']
  const world = await makeWorld(t, { ...stores, endUser: store }, { flags })
  const row = rowsOf(t, kind)
  const [owner, { base }] = [world.as('owner'), world]
  await grant(world, ['urn:ex:h', `${base}x/`])
  const graph = (name: string, more = ''): string => `${at('/data', { graph: name })}${more}`
  if (kind === 'embedded') {
    await row('an embedded store accepts documents only, since other graphs would be lost', async (t) => {
      t.equal((await owner('PUT', graph('urn:ex:h'), nt(triple('x')))).status, 422)
      t.equal((await owner('PUT', graph(`${base}x/`), nt(triple('x')))).status, 201)
      const explained = await owner('GET', '/access?graph=urn:ex:h&mode=Read', { fields: { Accept: 'text/turtle' } })
      t.match(explained.text, 'The embedded store holds only documents, so this graph does not exist.')
    })
    return
  }
  await stores.endUser.update(
    `INSERT DATA { GRAPH <urn:ex:h> { ${triple('behind')} } GRAPH <urn:ex:quiet> { ${triple('behind')} } }`,
  )
  const update = (text: string): Send => sent('application/sparql-update', text)
  const WRITES: [method: string, url: string, send: Send, status: number][] = [
    ['PUT', graph('urn:ex:h'), nt(triple('put')), 204],
    ['POST', graph('urn:ex:h'), nt(`${triple('posted')}_:a <${V}> _:a .\n`), 204],
    [
      'POST',
      '/ds/update',
      update(`INSERT DATA { GRAPH <urn:ex:h> { ${triple('updated')} } ${triple('in default')} }`),
      200,
    ],
    ['POST', '/ds/update', update(`DELETE { GRAPH ?g { ?s ?p "posted" } } WHERE { GRAPH ?g { ?s ?p "posted" } }`), 200],
    ['DELETE', graph('urn:ex:h'), {}, 204],
    ['PUT', at('/data', { default: '' }), nt(triple('default')), 204],
    ['PUT', graph(`${base}x/`), nt(triple('document')), 201],
  ]
  for (const [method, url, send, status] of WRITES)
    t.equal((await owner(method, url, send)).status, status, `${method} ${url}`)
  const listed = async (agent: string, url: string): Promise<{ version: string; uri?: string; method: string }[]> => {
    const { text } = await world.as(agent)('GET', url, { fields: { Accept: 'application/json' } })
    return (JSON.parse(text) as { versions: { version: string; uri?: string; method: string }[] }).versions
  }
  await row('a version for each write, and for the state before the first', async (t) => {
    const versions = await listed('owner', graph('urn:ex:h', '&timemap'))
    t.same(
      versions.map(({ method }) => method),
      ['SWEEP', 'PUT', 'POST', 'UPDATE', 'UPDATE', 'DELETE'],
    )
    const texts: string[] = []
    for (const { uri } of versions.slice(0, 5)) texts.push((await owner('GET', uri!, { fields: { Accept: NT } })).text)
    for (const [i, value] of ['behind', 'put', 'posted', 'updated', 'updated'].entries())
      t.match(texts[i], `"${value}"`)
    t.match([texts[2], texts[4]], [/"posted"/, /_:\S+ <urn:value> _:/])
    t.notMatch(texts[4], /"posted"/)
  })
  await row('the default graph has one', async (t) => {
    const versions = await listed('owner', `${at('/data', { default: '' })}&timemap`)
    t.same(
      versions.map(({ method }) => method),
      ['UPDATE', 'PUT'],
    )
    t.match((await owner('GET', versions[0]!.uri!, { fields: { Accept: NT } })).text, /"in default"/)
  })
  await row('a document has its own', async (t) => {
    const [version] = await listed('owner', graph(`${base}x/`, '&timemap'))
    t.equal(version!.uri, `${base}x/?version=${version!.version}`)
  })
  const [first, second] = (await listed('owner', graph('urn:ex:h', '&timemap'))).map(({ version }) => version) as [
    string,
    string,
  ]
  // prettier-ignore
  const ROWS: [name: string, agent: string, url: string, status: number, text?: RegExp][] = [
    ['the TimeMap', 'stranger', graph('urn:ex:h', '&timemap'), 200, /data\?graph=urn%3Aex%3Ah&timegate>; rel="timegate"/],
    ['the TimeMap without the right', 'anonymous', graph('urn:ex:h', '&timemap'), 401],
    ['a version', 'stranger', graph('urn:ex:h', `&version=${first}`), 200, /"behind"/],
    ['a version at the dataset', 'stranger', `/ds?graph=urn:ex:h&version=${first.slice(0, 8)}`, 200, /"behind"/],
    ['a version without the right', 'anonymous', graph('urn:ex:h', `&version=${first}`), 401],
    ['a difference', 'stranger', graph('urn:ex:h', `&version=${second}&diff=${first}`), 200, /put/],
    ['the TimeGate', 'stranger', graph('urn:ex:h', '&timegate'), 302],
    ['an invalid version', 'owner', graph('urn:ex:h', '&version=0123456789'), 404],
    ['two questions', 'owner', graph('urn:ex:h', '&version=0123&timemap'), 400],
    ['a graph that nobody has written here', 'owner', graph('urn:ex:quiet', '&timemap'), 404],
    ['another graph without the right', 'stranger', graph('urn:ex:quiet', '&timemap'), 403],
    ['a document', 'stranger', graph(`${base}x/`, '&timemap'), 200],
    ['a document without the right', 'stranger', graph(base, '&timemap'), 403],
  ]
  for (const [name, agent, url, status, text] of ROWS) {
    await row(`${agent}: ${name}: ${status}`, async (t) => {
      const answer = await world.as(agent)('GET', url, {
        fields: { Accept: 'application/link-format, application/n-triples' },
      })
      t.equal(answer.status, status, answer.text)
      if (text) t.match(answer.text, text)
    })
  }
  await row('conditions and updates see a graph when no earlier write of it is in doubt', async (t) => {
    const url = graph('urn:ex:late')
    const put = async (value: string, tag?: string): Promise<number> =>
      (await owner('PUT', url, nt(triple(value), tag === undefined ? {} : { 'If-Match': tag }))).status
    const move = async (value: string): Promise<number> => {
      const named = ['urn:ex:late', `${base}moved/`].map((name) => `GRAPH <${name}> { <urn:s> <${V}> "${value}" }`)
      const text = `DELETE { ${named[0]} } INSERT { ${named[1]} } WHERE { ${named[0]} }`
      return (await owner('POST', '/ds/update', update(text))).status
    }
    t.equal((await owner('PUT', graph(`${base}moved/`), nt(triple('moved')))).status, 201)
    t.equal(await put('first'), 201)
    const tag = (await owner('GET', url)).fields.etag!
    store.isLate = store.isBusy = true
    t.equal(await put('late'), 502)
    for (const condition of [tag, '"other"']) t.equal(await put('next', condition), 503, condition)
    for (const value of ['first', 'absent']) t.equal(await move(value), 503, value)
    store.isBusy = false
    let status: number | undefined
    await until(async () => (status = await put('next', tag)) !== 503)
    t.equal(status, 412, 'the late write has changed the graph')
    t.equal(await move('late'), 200)
    t.match((await owner('GET', graph(`${base}moved/`), { fields: { Accept: NT } })).text, /"late"/)
  })
  await row('the time gate and the graph link one another', async (t) => {
    const gate = await owner('GET', graph('urn:ex:h', '&timegate'), {
      fields: { 'Accept-Datetime': 'Thu, 01 Jan 2015 00:00:00 GMT' },
    })
    t.match(gate.fields.location, /data\?graph=urn%3Aex%3Ah&version=[0-9a-f]{40}$/)
    t.equal((await owner('PUT', graph('urn:ex:h'), nt(triple('again')))).status, 201)
    t.match((await owner('GET', graph('urn:ex:h'))).fields.link, /graph=urn%3Aex%3Ah&timemap>; rel="timemap"/)
  })
})

async function grant({ as, webIdOf }: World, graphs: readonly string[]): Promise<void> {
  const to = graphs.map((name) => `<${name}>`).join(' , ')
  const body = `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
    <#this> a acl:Authorization ; acl:mode acl:Read ; acl:agent <${webIdOf('stranger')}> ; acl:accessTo ${to} .`
  await as('owner')('PUT', '/admin/acl/authorizations/part/', ttl(body))
}
