// Which content can be read (design 3); also reading answers of stores and configuration files.
import t from 'tap'
import { parseAccept, RDF_FORMATS } from '../../../gateway/http/media-type.js'
import { isFailure } from '../../../gateway/problem.js'
import { nTriplesLine, type Quad } from '../../../gateway/rdf/graph.js'
import { ACCEPT_POST, isReadable, READABLE_ACCEPT, readNTriples, readTrig } from '../../../gateway/rdf/read.js'
import { about, DOC, read } from './reading.js'

const TRIPLE = '<> <p> "é" .'
const XML_TRIPLE = about('<e:p>é</e:p>')
const JSON_TRIPLE = '{"@id":"","http://p/":"é"}'
const HTML_TRIPLE = `<html><script type="application/ld+json">${JSON_TRIPLE}</script></html>`
type Content = readonly [behaviour: string, contentType: string | undefined, body: string, expected: number | string]
const MEDIA_TYPES: readonly Content[] = [
  ['no Content-Type', undefined, TRIPLE, 'content.unsupported'],
  ['no Content-Type, no content', undefined, '', 0],
  ['no content', 'text/turtle', '', 0],
  ['no content, where the syntax needs some', 'application/rdf+xml', '', 0],
  ['no content of an unsupported type', 'image/png', '', 'content.unsupported'],
  ['an unknown media type', 'application/octet-stream', TRIPLE, 'content.unsupported'],
  ['text/plain is N-Triples, as in answers', 'text/plain', '<http://a/> <http://p/> "é" .', 1],
  ['and no Turtle', 'text/plain', TRIPLE, 'content.syntax'],
  ['XML is RDF/XML', 'application/xml', XML_TRIPLE, 1],
  ['text/xml too', 'text/xml;charset=utf-8', XML_TRIPLE, 1],
  ['XHTML is HTML', 'application/xhtml+xml', HTML_TRIPLE, 1],
  ['names of Turtle', 'text/rdf+n3', TRIPLE, 1],
  ['names of N-Quads', 'text/x-nquads', '<http://a/> <http://p/> "é" .', 1],
  ['the name of an inherited property', 'constructor', TRIPLE, 'content.unsupported'],
  ['a malformed media type', 'text/turtle, text/html', TRIPLE, 'content.unsupported'],
  ['application/x-turtle', 'application/x-turtle', TRIPLE, 1],
  ['case', 'Text/TURTLE;Charset="UTF-8"', TRIPLE, 1],
  ['us-ascii', 'text/turtle;charset=us-ascii', TRIPLE, 1],
  ['another charset', 'text/turtle;charset=iso-8859-1', TRIPLE, 'content.unsupported'],
  ['an unknown parameter', 'text/turtle;version=1.1', TRIPLE, 1],
  ['JSON is JSON-LD', 'application/json', JSON_TRIPLE, 1],
  ['JSON that means nothing', 'application/json', '{"name":"x","tags":[1]}', 'content.syntax'],
  ['no JSON-LD', 'application/geo+json', '{}', 'content.unsupported'],
  ['a SPARQL update', 'application/sparql-update', 'DELETE WHERE {}', 'content.unsupported'],
]

void t.test('media types, charsets and empty content', async (t) => {
  for (const [behaviour, contentType, body, expected] of MEDIA_TYPES) {
    const result = await read(body, contentType)
    t.equal(isFailure(result) ? result.failure : result.length, expected, behaviour)
    if (isFailure(result) && expected === 'content.unsupported') {
      t.strictSame(
        result.fields,
        [
          ['Accept-Post', ACCEPT_POST],
          ['Accept', ACCEPT_POST],
        ],
        `${behaviour}: the supported types`,
      )
    }
    if (contentType !== undefined && body === TRIPLE && !contentType.includes('8859')) {
      t.equal(isReadable(contentType), expected !== 'content.unsupported', `isReadable: ${behaviour}`)
    }
  }
  for (const { type } of parseAccept(READABLE_ACCEPT)) t.ok(isReadable(type), `${type} is requested and read`)
  t.equal(isReadable(undefined), false)
  for (const { contentType } of RDF_FORMATS) t.ok(isReadable(contentType), `${contentType} is read as well as written`)
})

void t.test('the store’s N-Triples, and configuration files', async (t) => {
  t.strictSame(
    readNTriples('<http://a> <http://b> _:c-1 .\n')?.map(nTriplesLine),
    ['<http://a> <http://b> _:c-1 .'],
    'labels are unchanged',
  )
  t.strictSame(readNTriples(''), [], 'nothing')
  const triple = '<http://a> <http://b> "c"'
  for (const malformed of [
    triple,
    'no',
    `${triple} . x`,
    '<a> "b" "c" .',
    '"a" <b> "c" .',
    '<a> <b> "\\q" .',
    '<a> <b> "\\uD800" .',
  ]) {
    t.equal(readNTriples(malformed), undefined, `malformed: ${malformed}`)
  }
  const quads = readTrig('<#a> <p> "x" . <g> { <a> <p> [] }', DOC)
  t.ok(Array.isArray(quads) && quads.length === 2 && quads[1]!.graph.value === `${DOC}g`, 'TriG with its graphs')
  t.match(readTrig('<a> <b> <c> .\n<a> b', DOC), { line: 2, detail: /line 2/ }, 'the line of an error')
  const [one, two] = [readTrig('<a> <b> [] , _:x .', DOC), readTrig('<a> <b> [] , _:x .', DOC)].map(
    (found) => new Set((found as Quad[]).map(({ object }) => object.value)),
  )
  t.equal(new Set([...one!, ...two!]).size, 4, 'blank nodes of two files are distinct')
})
