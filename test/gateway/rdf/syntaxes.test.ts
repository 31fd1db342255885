// Detects the syntax of content by its media type, its name or its first characters, and makes content of other servers
// readable.
import t from 'tap'
import { gzipSync } from 'node:zlib'
import { isFailure } from '../../../gateway/problem.js'
import { readableContent } from '../../../gateway/rdf/foreign-content.js'
import { mediaTypeOf, syntaxIn } from '../../../gateway/rdf/syntaxes.js'
import { linksIn } from '../../../gateway/http/link-field.js'
import { about, XML } from './reading.js'

const [TTL, NT, NQ, TRIG, LD, HTML, RDFXML] = [
  'text/turtle',
  'application/n-triples',
  'application/n-quads',
  'application/trig',
  'application/ld+json',
  'text/html',
  'application/rdf+xml',
]
const BYTES = 'application/octet-stream'
const TRIPLE = '<http://s/> <http://p/> "x" .'

void t.test('the media type, otherwise the file ending, otherwise the beginning', (t) => {
  const rows: readonly [type: string | undefined, name: string, start: string | undefined, expected?: string][] = [
    [TTL, 'a.rdf', undefined, TTL],
    ['text/plain', 'https://x/a.ttl?v=1#x', undefined, TTL],
    ['text/plain; charset=utf-8', 'a.TTL', 'no Turtle', TTL],
    [BYTES, 'a.nt', undefined, NT],
    ['binary/octet-stream', 'a.nq', undefined, NQ],
    [undefined, 'a.trig', undefined, TRIG],
    ['application/gzip', 'a.jsonld.gz', undefined, LD],
    [BYTES, 'a.owl', undefined, RDFXML],
    [BYTES, 'a.owl', '@prefix a: <b> .', TTL],
    [BYTES, 'a.owl', XML, RDFXML],
    ['text/plain', 'https://x/raw/a', TRIPLE, TTL],
    ['text/plain', 'https://x/raw/a', 'Hello world', 'text/plain'],
    [BYTES, 'a', undefined, BYTES],
    [undefined, 'a', 'Hello', undefined],
    ['image/png', 'a.ttl', TRIPLE, 'image/png'],
    ['text/plain', 'a.csv', TRIPLE, 'text/csv'],
    ['text/plain', 'a.n3', undefined, TTL],
  ]
  for (const [type, name, start, expected] of rows)
    t.equal(
      mediaTypeOf(type, name, start === undefined ? start : Buffer.from(start)),
      expected,
      `${type} ${name} ${start}`,
    )
  t.end()
})

void t.test('the syntax that a beginning looks like', (t) => {
  const rows: readonly [behaviour: string, start: string, expected: string | undefined][] = [
    ['a directive', '@prefix a: <http://a/> .\na:b a:c a:d .', TTL],
    ['a directive of SPARQL, after comments', '# a\n\n  # b\nPREFIX a: <http://a/>\na:b a:c a:d .', TTL],
    ['a base', '@base <http://a/> . <b> <c> <d> .', TTL],
    ['a statement', TRIPLE, TTL],
    ['a statement about a blank node', '_:a <http://p/> 5 .', TTL],
    ['one without a name', '[] a <http://c/> .', TTL],
    ['a statement with a graph', '<http://s/> <http://p/> "x\\"y"@en <http://g/> .', NQ],
    ['one with a datatype', '<http://s/> <http://p/> "1"^^<http://t/> <http://g/> .', NQ],
    ['graphs', '@prefix a: <http://a/> . a:g { a:b a:c a:d . }', TRIG],
    ['a document of JSON-LD', '\ufeff {"@context": {}, "a": 1}', LD],
    ['a list of nodes', '[ {"@id": "a"} ]', LD],
    ['JSON', '{"a": 1}', undefined],
    ['RDF/XML', XML, RDFXML],
    ['after a declaration and comments', `<?xml version="1.0"?>\n<!-- <html> -->\n${XML}`, RDFXML],
    ['with a document type', '<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY a "b">]>', RDFXML],
    ['one element', '<e:T xmlns:e="http://e/" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', RDFXML],
    ['other XML', '<svg xmlns="http://www.w3.org/2000/svg"/>', undefined],
    ['a page', '<!DOCTYPE html><html>', HTML],
    ['text', 'The quick brown fox: jumps.', undefined],
    ['CSV', 'a,b\n1,2', undefined],
    ['nothing', '', undefined],
  ]
  for (const [behaviour, start, expected] of rows) t.equal(syntaxIn(Buffer.from(start)), expected, behaviour)
  t.equal(syntaxIn(Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${XML}`, 'utf16le')), RDFXML, 'UTF-16')
  const long = ['#', '<', '"', '[ ', '<!--', '<a ', '_:a ', '\\"', '@prefix '].map((part) => part.repeat(20_000))
  for (const text of long) t.doesNotThrow(() => syntaxIn(Buffer.from(text)), 'whatever it is, it takes linear time')
  t.end()
})

void t.test('content of other servers', async (t) => {
  const get = (type: string, body: string | Buffer, link?: string) =>
    readableContent(
      { body: Buffer.from(body), url: 'https://x.example/d/a', fields: { 'content-type': type, link } },
      1e6,
    )
  const packed = await get('application/gzip', gzipSync(TRIPLE))
  t.match(packed, { contentType: TTL, body: Buffer.from(TRIPLE) }, 'packed, of an unknown type')
  t.match(await get(RDFXML, gzipSync(about(''))), { contentType: RDFXML, body: Buffer.from(about('')) }, 'packed')
  const bomb = await get(TTL, gzipSync(Buffer.alloc(2e6)))
  t.match(bomb, { failure: 'content.too-large' }, 'it stands for too much')
  t.match(await get(TTL, gzipSync(TRIPLE).subarray(0, 20)), { failure: 'content.syntax' }, 'broken packing')
  const context = '<../c>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
  const json = await get('application/json', '\ufeff{"a":1}', context)
  t.same(!isFailure(json) && JSON.parse(String(json.body)), { '@context': 'https://x.example/c', '@graph': { a: 1 } })
  t.match(json, { contentType: LD }, 'JSON with the context that its server names')
  t.match(await get(LD, '{"a":1}', context), { body: Buffer.from('{"a":1}') }, 'JSON-LD has its own')
  t.match(await get('application/json', '{}', `${context}, ${context}`), { failure: 'content.syntax' }, 'two contexts')
  t.match(await get('application/activity+json', '{"@context":{}}'), { contentType: LD }, 'JSON-LD of another name')
})

void t.test('Link fields (RFC 8288 §3)', (t) => {
  const field =
    '<a>; rel="next", </b>;REL=alternate;type="a/b;c=\\"d,e\\"", <c>; rel="up Alternate"; rel=no, <d>; rel=alternate; anchor="#x", <ftp://e>; rel=alternate'
  t.same(
    linksIn(field, 'https://x.example/d/', 'alternate').map(({ target, parameters }) => [
      target,
      parameters.get('type'),
    ]),
    [
      ['https://x.example/b', 'a/b;c="d,e"'],
      ['https://x.example/d/c', undefined],
    ],
  )
  t.same(linksIn(undefined, 'https://x.example/', 'alternate'), [])
  t.end()
})
