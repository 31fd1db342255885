// RDF in and out of HTTP: every media type read (design 3), RDF/POST (LinkedDataHub 3.1), every format
// written, what attackers send, and that what is written reads back as the same graph.
import t, { type Test } from 'tap'
import fc from 'fast-check'
import {
  blankNode,
  flawOf,
  graphOf,
  literal,
  namedNode,
  nTriplesLine,
  quad,
  type Graph,
  type Quad,
} from '../../../gateway/rdf/graph.js'
import { N_TRIPLES, parseAccept, RDF_FORMATS, RDF_XML, TURTLE, type Format } from '../../../gateway/http/media-type.js'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import {
  ACCEPT_POST,
  isReadable,
  READABLE_ACCEPT,
  readGraph,
  readNTriples,
  readTrig,
} from '../../../gateway/rdf/read.js'
import { writeGraph } from '../../../gateway/rdf/write.js'
import { PREFIXES, RDF, XSD } from '../../../gateway/rdf/vocabulary.js'

const DOC = 'https://x.example/d/'
const CONTEXTS: Readonly<Record<string, unknown>> = {
  'https://c.example/ok': { '@context': { title: 'http://purl.org/dc/terms/title', type: '@type' } },
  'https://c.example/self': { '@context': ['https://c.example/self'] },
  'https://c.example/a': { '@context': 'https://c.example/b' },
  'https://c.example/b': { '@context': 'https://c.example/a' },
  'https://c.example/none': { title: 'http://purl.org/dc/terms/title' },
  'https://c.example/text': 'no context',
}
const loadContext = async (url: string): Promise<unknown> => {
  return url.startsWith('https://c.example/many/') ? { '@context': {} } : CONTEXTS[url]
}
const read = (body: string | Buffer, contentType?: string, base = DOC): Promise<Quad[] | Problem> =>
  readGraph(Buffer.from(body as string), contentType, base, { loadContext })

/** Canonical lines; blank nodes are named by order of appearance. */
function linesOf(quads: readonly Quad[]): string[] {
  const labels = new Map<string, string>()
  const line = (triple: Quad): string =>
    nTriplesLine(triple).replace(/_:(d\d+b\d+)/g, (_, label: string) => {
      if (!labels.has(label)) labels.set(label, `_:b${labels.size}`)
      return labels.get(label)!
    })
  return quads.map(line)
}

type Row = readonly [behaviour: string, body: string | Buffer, expected: readonly string[] | string]

/** Expected are the lines, short for `<https://x.example/d/…>`; or the code of the problem and a part of its detail. */
async function table(t: Test, contentType: string | undefined, rows: readonly Row[]): Promise<void> {
  for (const [behaviour, body, expected] of rows) {
    const result = await read(body, contentType)
    const name = `${contentType}: ${behaviour}`
    if (typeof expected !== 'string') {
      const lines = expected.map((line) =>
        line.replaceAll('<>', `<${DOC}>`).replace(/(?<=^| |\^)<(#?\w+)>/g, `<${DOC}$1>`),
      )
      t.strictSame(isFailure(result) ? result.detail : linesOf(result).sort(), lines.map((l) => `${l} .`).sort(), name)
    } else if (!isFailure(result)) t.fail(`${name}: ${linesOf(result).join('\n')}`)
    else {
      const [code, ...part] = expected.split(': ')
      t.equal(result.failure, code, name)
      t.ok(result.detail.includes(part.join(': ')), `${name}: ${result.detail}`)
      t.ok(result.detail.length < 500, `${name}: a short detail`)
    }
  }
}

void t.test('Turtle', (t) =>
  table(t, 'text/turtle', [
    [
      'relative IRIs against the document',
      '<> <#p> <../e> , <x> , <?q> .',
      ['<> <#p> <https://x.example/e>', '<> <#p> <x>', '<> <#p> <https://x.example/d/?q>'],
    ],
    ['its own base', '@base <http://o/> . <a> <b> "c" .', ['<http://o/a> <http://o/b> "c"']],
    [
      'literals',
      '<> <p> "a"@EN-gb , 1 , 1.0 , 1e0 , true , "x"^^<#t> .',
      [
        '<> <p> "a"@en-gb',
        `<> <p> "1"^^<${XSD('integer')}>`,
        `<> <p> "1.0"^^<${XSD('decimal')}>`,
        `<> <p> "1e0"^^<${XSD('double')}>`,
        `<> <p> "true"^^<${XSD('boolean')}>`,
        '<> <p> "x"^^<#t>',
      ],
    ],
    ['a datatype of xsd:string is none', `<> <p> "a"^^<${XSD('string')}> .`, ['<> <p> "a"']],
    ['labelled and anonymous blank nodes are distinct', '_:n3-0 <p> [] , _:b0 .', ['_:b0 <p> _:b1', '_:b0 <p> _:b2']],
    ['a byte order mark', '\ufeff<> <p> "a" .', ['<> <p> "a"']],
    ['no triples', '# nothing\n', []],
    ['an error with line and column', '<> <p>\n <o> ; ; ,', 'content.syntax: line 2, column 10'],
    ['a long token is not echoed whole', `<> <p> ${'a'.repeat(100_000)}`, 'content.syntax: line 1'],
    ['truncated', '<> <p> "a', 'content.syntax: line 1'],
    ['not UTF-8', Buffer.from([0x3c, 0xff, 0x3e]), 'content.syntax: UTF-8'],
    ['UTF-16', Buffer.from('\ufeff<a> <b> <c> .', 'utf16le'), 'content.syntax: UTF-8'],
    ['an IRI with a space', '<> <p> <a\\u0020b> .', 'content.syntax: line 1'],
    ['an undeclared prefix', '<> a:b <c> .', 'content.syntax: Undefined prefix'],
    ['N3 formulas are not Turtle', '{ <a> <b> <c> } => { <a> <b> <d> } .', 'content.syntax: line 1'],
    ['a named graph is not Turtle', '<g> { <a> <b> <c> }', 'content.syntax: line 1'],
    ['RDF 1.2 triple terms', '<> <p> <<( <a> <b> <c> )>> .', 'content.syntax: RDF 1.2'],
    ['RDF 1.2 reified triples', '<< <a> <b> <c> >> <p> "x" .', 'content.syntax: RDF 1.2'],
    ['RDF 1.2 annotations', '<a> <b> <c> {| <p> "x" |} .', 'content.syntax: RDF 1.2'],
    ['RDF 1.2 base direction', '<> <p> "a"@en--ltr .', 'content.syntax: RDF 1.2'],
    ['half a surrogate pair', '<> <p> "\\uD800" .', 'content.syntax: line 1'],
    ['a language tag that is none', '<> <p> "a"@waytoolongtag .', 'content.syntax: language tag'],
  ]),
)

void t.test('N-Triples', (t) =>
  table(t, 'application/n-triples', [
    ['a triple', '<http://a> <http://b> _:c .\n', ['<http://a> <http://b> _:b0']],
    ['relative IRIs are an error', '<a> <http://b> "c" .', 'content.syntax: Invalid IRI'],
    ['and as datatype', '<http://a> <http://b> "c"^^<d> .', 'content.syntax: Invalid IRI'],
    ['escapes', '<http://a> <http://b> "\\u00e9\\U0001F600\\n\\"" .', ['<http://a> <http://b> "é😀\\n\\""']],
    ['no prefixes', '@prefix a: <http://a> .', 'content.syntax: @prefix'],
    ['no prefixed names', '<http://a> a:b <http://c> .', 'content.syntax: line 1'],
    ['no abbreviated type', '<http://a> a <http://c> .', 'content.syntax: line 1'],
    ['no numbers', '<http://a> <http://b> 1 .', 'content.syntax: line 1'],
    ['no predicate lists', '<http://a> <http://b> <http://c> ; <http://b> <http://d> .', 'content.syntax: line 1'],
    ['no object lists', '<http://a> <http://b> <http://c> , <http://d> .', 'content.syntax: line 1'],
    ['no single quotes', "<http://a> <http://b> 'c' .", 'content.syntax: line 1'],
    ['no long strings', '<http://a> <http://b> """c""" .', 'content.syntax: line 1'],
    ['no line break in a string', '<http://a> <http://b> "c\nd" .', 'content.syntax: line 1'],
    ['no collections', '<http://a> <http://b> () .', 'content.syntax: line 1'],
    ['no anonymous blank nodes', '<http://a> <http://b> [] .', 'content.syntax: line 1'],
    ['no blank predicate', '<http://a> _:b <http://c> .', 'content.syntax: line 1'],
    ['no literal subject', '"a" <http://b> <http://c> .', 'content.syntax: line 1'],
    ['no fourth term', '<http://a> <http://b> <http://c> <http://g> .', 'content.syntax: line 1'],
    ['no unknown escape', '<http://a> <http://b> "\\q" .', 'content.syntax: line 1'],
    ['no escaped forbidden character in an IRI', '<http://a\\u003E> <http://b> "c" .', 'content.syntax: line 1'],
    ['the full stop is needed', '<http://a> <http://b> "c"', 'content.syntax: line 1'],
    ['the line of the error', '<http://a> <http://b> "c" .\n<http://a> x .', 'content.syntax: line 2'],
    ['RDF 1.2', '<http://a> <http://b> <<( <http://a> <http://b> "c" )>> .', 'content.syntax: RDF 1.2'],
  ]),
)

void t.test('one graph of a dataset', async (t) => {
  await table(t, 'application/trig', [
    ['the default graph', '<> <p> "a" .', ['<> <p> "a"']],
    ['the default graph in braces', '{ <> <p> "a" }', ['<> <p> "a"']],
    ['the graph of the document', '<> { <> <p> "a" , "b" }', ['<> <p> "a"', '<> <p> "b"']],
    [
      'another graph',
      '<g> { <> <p> "a" }',
      `content.syntax: must be one graph, that of the document: it has <${DOC}g>`,
    ],
    ['two graphs', '<> <p> "a" . <> { <> <p> "b" }', 'content.syntax: it has several'],
    ['a blank graph', '_:g { <> <p> "a" }', 'content.syntax: that of the document'],
  ])
  await table(t, 'application/n-quads', [
    ['the default graph', '<http://a> <http://b> "c" .', ['<http://a> <http://b> "c"']],
    ['the graph of the document', `<http://a> <http://b> "c" <${DOC}> .`, ['<http://a> <http://b> "c"']],
    ['another graph', '<http://a> <http://b> "c" <http://g> .', 'content.syntax: that of the document'],
    ['a relative graph', '<http://a> <http://b> "c" <> .', 'content.syntax: line 1'],
  ])
})

const XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
const about = (inside: string): string => `${XML}<rdf:Description rdf:about="">${inside}</rdf:Description></rdf:RDF>`
const XML_LITERAL = RDF('XMLLiteral')

void t.test('RDF/XML', (t) =>
  table(t, 'application/rdf+xml', [
    [
      'relative IRIs against the document',
      about('<e:p rdf:resource="x"/><e:p rdf:resource="../e"/>'),
      ['<> <http://e/p> <x>', '<> <http://e/p> <https://x.example/e>'],
    ],
    [
      'xml:base on the element and on the property',
      `${XML}<rdf:Description rdf:about="a" xml:base="http://o/"><e:p rdf:resource="b"/><e:p xml:base="http://k/" rdf:resource="c"/></rdf:Description></rdf:RDF>`,
      ['<http://o/a> <http://e/p> <http://o/b>', '<http://o/a> <http://e/p> <http://k/c>'],
    ],
    [
      'rdf:type as a relative attribute',
      `${XML}<rdf:Description rdf:about="" rdf:type="T"/></rdf:RDF>`,
      [`<> <${RDF('type')}> <T>`],
    ],
    [
      'literals',
      about('<e:p xml:lang="EN">a</e:p><e:p rdf:datatype="http://t">b</e:p><e:p/><e:p>  </e:p>'),
      ['<> <http://e/p> "a"@en', '<> <http://e/p> "b"^^<http://t>', '<> <http://e/p> ""', '<> <http://e/p> "  "'],
    ],
    [
      'text around CDATA and comments',
      about('<e:p>a&amp;<![CDATA[b<]]>c<!-- no -->d</e:p>'),
      ['<> <http://e/p> "a&b<cd"'],
    ],
    [
      'an XML literal',
      about('<e:p rdf:parseType="Literal">a &lt; <b xmlns="http://h/" c="&quot;&lt;">d<i>e</i></b><e:f/></e:p>'),
      [
        `<> <http://e/p> "a &lt; <b xmlns=\\"http://h/\\" c=\\"&quot;&lt;\\">d<i>e</i></b><e:f xmlns:e=\\"http://e/\\"></e:f>"^^<${XML_LITERAL}>`,
      ],
    ],
    [
      'nodeID and anonymous nodes are distinct',
      about('<e:p rdf:nodeID="b0"/><e:p><rdf:Description/></e:p>'),
      ['<> <http://e/p> _:b0', '<> <http://e/p> _:b1'],
    ],
    [
      'one node element without rdf:RDF',
      '<e:T xmlns:e="http://e/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" rdf:about="a"><e:p>b</e:p></e:T>',
      [`<a> <${RDF('type')}> <http://e/T>`, '<a> <http://e/p> "b"'],
    ],
    [
      'entities that stand for plain text',
      `<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/"> <!-- c --> <!ENTITY f 'http://f/'>]>${XML}<rdf:Description rdf:about="&f;a"><e:p>&e;</e:p></rdf:Description></rdf:RDF>`,
      ['<http://f/a> <http://e/p> "http://e/"'],
    ],
    [
      'a predefined entity stays what it is',
      `<!DOCTYPE rdf:RDF [<!ENTITY lt "evil">]>${about('<e:p>&lt;</e:p>')}`,
      ['<> <http://e/p> "<"'],
    ],
    ['a declaration', `<?xml version="1.0" encoding="utf-8"?>${about('<e:p>é</e:p>')}`, ['<> <http://e/p> "é"']],
    [
      'another encoding is declared',
      `<?xml version="1.0" encoding="ISO-8859-1"?>${about('<e:p>é</e:p>')}`,
      'content.syntax: ISO-8859-1',
    ],
    ['line and column', `${XML}\n<rdf:Description>\n<e:p>x</e:q>`, 'content.syntax: line 3'],
    ['truncated', `${XML}<rdf:Description rdf:about=""><e:p>a</e:p>`, 'content.syntax: unclosed'],
    ['only white space', ' ', 'content.syntax: root element'],
    ['HTML', '<html><body/></html>', 'content.syntax: no namespace'],
    ['an undeclared prefix', '<rdf:RDF/>', 'content.syntax: unbound'],
    ['an undeclared entity', about('<e:p>&x;</e:p>'), 'content.syntax: undefined entity'],
    [
      'an entity by the name of an inherited property',
      about('<e:p>&constructor;</e:p>'),
      'content.syntax: undefined entity',
    ],
    [
      'an IRI with a space',
      `${XML}<rdf:Description rdf:about="a b"><e:p>c</e:p></rdf:Description></rdf:RDF>`,
      'content.syntax: malformed IRI',
    ],
    [
      'a relative namespace',
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="e"><rdf:Description><e:p/></rdf:Description></rdf:RDF>',
      'content.syntax: relative IRI',
    ],
    [
      'a datatype with a quotation mark',
      about('<e:p rdf:datatype="http://t&quot;">b</e:p>'),
      'content.syntax: malformed',
    ],
    [
      'RDF 1.2 triple terms',
      `${XML}<rdf:Description rdf:about="" rdf:version="1.2"><e:p rdf:parseType="Triple"><rdf:Description rdf:about="a"><e:p>x</e:p></rdf:Description></e:p></rdf:Description></rdf:RDF>`,
      'content.syntax: RDF 1.2',
    ],
  ]),
)

void t.test('JSON-LD', async (t) => {
  await table(t, 'application/ld+json', [
    [
      'relative IRIs against the document',
      '{"@id":"","http://b/c":[{"@id":"x"},{"@id":"../e"}]}',
      ['<> <http://b/c> <x>', '<> <http://b/c> <https://x.example/e>'],
    ],
    [
      'a context, also when it comes last',
      '{"@id":"","t":"a","@type":"T","@context":{"@vocab":"http://v/"}}',
      ['<> <http://v/t> "a"', `<> <${RDF('type')}> <http://v/T>`],
    ],
    [
      'literals',
      '{"@id":"","http://p/":[1,1.5,true,"x",{"@value":"y","@language":"EN"},{"@value":"z","@type":"http://t/"}]}',
      [
        `<> <http://p/> "1"^^<${XSD('integer')}>`,
        `<> <http://p/> "1.5E0"^^<${XSD('double')}>`,
        `<> <http://p/> "true"^^<${XSD('boolean')}>`,
        '<> <http://p/> "x"',
        '<> <http://p/> "y"@en',
        '<> <http://p/> "z"^^<http://t/>',
      ],
    ],
    [
      'a number with many digits',
      '{"@id":"","http://p/":12345678901234567890}',
      [`<> <http://p/> "12345678901234567000"^^<${XSD('integer')}>`],
    ],
    ['@reverse and @graph', '{"@graph":[{"@id":"a","@reverse":{"http://p/":{"@id":"b"}}}]}', ['<b> <http://p/> <a>']],
    [
      'the named graph of the document',
      `{"@id":"${DOC}","@graph":[{"@id":"a","http://p/":"x"}]}`,
      ['<a> <http://p/> "x"'],
    ],
    [
      'another named graph',
      '{"@id":"g","@graph":[{"@id":"a","http://p/":"x"}]}',
      'content.syntax: that of the document',
    ],
    [
      'blank nodes are shared within the document',
      '[{"@id":"_:é","http://p/":"1"},{"@id":"_:é","http://q/":{}}]',
      ['_:b0 <http://p/> "1"', '_:b0 <http://q/> _:b1'],
    ],
    ['the last of duplicate keys', '{"@id":"","http://p/":"1","http://p/":"2"}', ['<> <http://p/> "2"']],
    [
      'a remote context that may be loaded',
      '{"@context":"https://c.example/ok","@id":"","title":"x","type":"http://T/"}',
      ['<> <http://purl.org/dc/terms/title> "x"', `<> <${RDF('type')}> <http://T/>`],
    ],
    [
      'a remote context that may not',
      '{"@context":"http://169.254.169.254/","@id":""}',
      'content.syntax: http://169.254.169.254/: it could not be had, or is not allowed',
    ],
    [
      'a remote context without @context',
      '{"@context":"https://c.example/none","@id":""}',
      'content.syntax: Missing @context',
    ],
    [
      'a remote context that is a text',
      '{"@context":"https://c.example/text","@id":""}',
      'content.syntax: could not be had',
    ],
    ['a context that includes itself', '{"@context":"https://c.example/self","@id":""}', 'content.syntax: cyclic'],
    ['contexts that include each other', '{"@context":"https://c.example/a","@id":""}', 'content.syntax: cyclic'],
    [
      'many remote contexts',
      `{"@context":${JSON.stringify(Array.from({ length: 20 }, (_, i) => `https://c.example/many/${i}`))}}`,
      'content.syntax: too many remote contexts',
    ],
    ['line and column', '{"a":\n1,}', 'content.syntax: line 2, column 3'],
    ['truncated', '{"a":', 'content.syntax: line 1'],
    ['text after the document', '{} x', 'content.syntax: line 1'],
    ['two documents', '{}{}', 'content.syntax: line 1'],
    ['not an object', '"x"', 'content.syntax: neither an object nor an array'],
    ['null', 'null', 'content.syntax: neither an object nor an array'],
    ['half a surrogate pair', '{"http://p/":"\\ud800"}', 'content.syntax: surrogate'],
    [
      'a base direction (RDF 1.2)',
      '{"http://p/":{"@value":"x","@language":"en","@direction":"ltr"}}',
      'content.syntax: RDF 1.2',
    ],
    [
      'an annotation (RDF 1.2)',
      '{"@id":"","http://p/":{"@id":"a","@annotation":{"http://q/":"x"}}}',
      'content.syntax: ',
    ],
    ['a wrong context', '{"@context":5}', 'content.syntax: '],
    ['a wrong term', '{"@context":{"a":{"@id":5}},"a":1}', 'content.syntax: '],
    [
      'an @id with a space, which would be dropped',
      '{"@id":"x y","http://p/":1}',
      'content.syntax: not read as an IRI',
    ],
    [
      'an @id with an IPv6 address, likewise',
      '{"@id":"","http://p/":{"@id":"http://[::1]/"}}',
      'content.syntax: not read as an IRI',
    ],
    ['a property with an IPv6 address, likewise', '{"@id":"","http://[::1]/":1}', 'content.syntax: not read as an IRI'],
    ['a type with two fragments, likewise', '{"@id":"","@type":["http://x/##"]}', 'content.syntax: not read as an IRI'],
    [
      'a literal may be anything',
      '{"@id":"","http://p/":["http://[::1]/##",{"@value":"http://[::1]/##"}]}',
      ['<> <http://p/> "http://[::1]/##"', '<> <http://p/> "http://[::1]/##"'],
    ],
    ['a term that is defined by itself', '{"@context":{"a":"a:b"},"a":1}', 'content.syntax: '],
  ])
  const many = Array.from({ length: 1000 }, (_, i) => ({ '@id': `_:n${i % 10}`, p: i }))
  const context = { p: 'http://p/' }
  for (const [behaviour, value] of [
    ['an array', many.map((node) => ({ '@context': context, ...node }))],
    ['a graph', { '@context': context, '@graph': many }],
    ['the named graph', { '@context': context, '@id': DOC, '@graph': many }],
    ['the members of one node', { '@context': context, '@id': '', p: many.map(({ p }) => p) }],
  ] as const) {
    const quads = await read(JSON.stringify(value), 'application/ld+json')
    if (isFailure(quads)) t.fail(quads.detail)
    else {
      t.equal(quads.length, 1000, `${behaviour} of many, read in pieces: all triples`)
      t.equal(
        new Set(quads.map(({ subject }) => subject.value)).size,
        behaviour.startsWith('the members') ? 1 : 10,
        `${behaviour}: the same nodes`,
      )
    }
  }
})

const island = (json: string, type = 'application/ld+json'): string => `<script type="${type}">${json}</script>`

void t.test('HTML', (t) =>
  table(t, 'text/html', [
    ['an island', `<p>x</p>${island('{"@id":"","http://p/":"a<b>&amp;"}')}`, ['<> <http://p/> "a<b>&amp;"']],
    [
      'several islands are merged and share blank nodes',
      `${island('{"@id":"_:a","http://p/":"1"}')}<p>${island('[{"@id":"_:a","http://p/":"2"}]', 'Application/LD+JSON; profile=x')}`,
      ['_:b0 <http://p/> "1"', '_:b0 <http://p/> "2"'],
    ],
    [
      'the base element',
      `<base href="/e/">${island('{"@id":"a","http://p/":"1"}')}<base href="/f/">`,
      ['<https://x.example/e/a> <http://p/> "1"'],
    ],
    ['upper case', '<SCRIPT TYPE=APPLICATION/LD+JSON>{"@id":"","http://p/":"1"}</SCRIPT>', ['<> <http://p/> "1"']],
    [
      'other scripts do not count',
      `${island('{', 'text/javascript')}<!-- ${island('{}')} -->`,
      'content.syntax: no RDF',
    ],
    ['no islands', '<p>x</p>', 'content.syntax: no RDF'],
    ['an island with an error', island('{"a":}'), 'content.syntax: JSON-LD'],
    ['one of several with an error', island('{}') + island('{'), 'content.syntax: JSON-LD'],
    ['an empty island', island(''), 'content.syntax: JSON-LD'],
  ]),
)

void t.test('RDF/POST', async (t) => {
  const rows: readonly Row[] = [
    ['IRIs', 'rdf=&su=http://a/&pu=http://p/&ou=http://o/', ['<http://a/> <http://p/> <http://o/>']],
    [
      'relative IRIs against the request URI',
      'rdf=&su=&pu=%23p&ou=..%2Fe&ou=x',
      ['<> <#p> <https://x.example/e>', '<> <#p> <x>'],
    ],
    ['blank nodes', 'rdf=&sb=a&pu=http://p/&ob=b&ob=a', ['_:b0 <http://p/> _:b1', '_:b0 <http://p/> _:b0']],
    ['a default namespace', 'rdf=&v=http://v/&sv=s&pv=p&ov=o', ['<http://v/s> <http://v/p> <http://v/o>']],
    [
      'prefixes',
      'rdf=&n=a&v=http://a/&n=b&v=http://b/&sn=a&sv=s&pn=b&pv=p&on=a&ov=o',
      ['<http://a/s> <http://b/p> <http://a/o>'],
    ],
    [
      'a prefix does not change the default namespace',
      'rdf=&v=http://v/&n=a&v=http://a/&sv=s&pv=p&ov=o',
      ['<http://v/s> <http://v/p> <http://v/o>'],
    ],
    ['a literal', 'rdf=&su=&pu=http://p/&ol=a', ['<> <http://p/> "a"']],
    ['with a datatype after', 'rdf=&su=&pu=http://p/&ol=a&lt=http://t/', ['<> <http://p/> "a"^^<http://t/>']],
    ['with a datatype before', 'rdf=&su=&pu=http://p/&lt=http://t/&ol=a', ['<> <http://p/> "a"^^<http://t/>']],
    ['with a language after', 'rdf=&su=&pu=http://p/&ol=a&ll=EN', ['<> <http://p/> "a"@en']],
    ['with a language before', 'rdf=&su=&pu=http://p/&ll=en&ol=a', ['<> <http://p/> "a"@en']],
    [
      'a qualifier belongs to one literal',
      'rdf=&su=&pu=http://p/&ol=a&ll=en&ol=b',
      ['<> <http://p/> "a"@en', '<> <http://p/> "b"'],
    ],
    [
      'each literal has its own before',
      'rdf=&su=&pu=http://p/&ll=en&ol=a&ll=de&ol=b',
      ['<> <http://p/> "a"@en', '<> <http://p/> "b"@de'],
    ],
    [
      'empty qualifiers are none',
      'rdf=&su=&pu=http://p/&ol=a&lt=&ll=en&ol=b&ll=&lt=',
      ['<> <http://p/> "a"@en', '<> <http://p/> "b"'],
    ],
    ['an empty literal is dropped, with its qualifier', 'rdf=&su=&pu=http://p/&ol=&ll=en&ol=b', ['<> <http://p/> "b"']],
    [
      'qualifiers without a literal are ignored',
      'rdf=&su=&pu=http://p/&lt=http://t/&ou=o&ol=b',
      ['<> <http://p/> <o>', '<> <http://p/> "b"'],
    ],
    [
      'objects repeat with the predicate',
      'rdf=&su=&pu=http://p/&ou=a&ol=b&ob=c',
      ['<> <http://p/> <a>', '<> <http://p/> "b"', '<> <http://p/> _:b0'],
    ],
    [
      'predicates repeat with the subject',
      'rdf=&su=&pu=http://p/&ou=a&pu=http://q/&ou=b',
      ['<> <http://p/> <a>', '<> <http://q/> <b>'],
    ],
    [
      'a new subject forgets the predicate',
      'rdf=&su=&pu=http://p/&ou=a&su=s&ou=b&pu=http://q/&ou=c',
      ['<> <http://p/> <a>', '<s> <http://q/> <c>'],
    ],
    ['a subject without predicates is ignored', 'rdf=&su=s&su=&pu=http://p/&ou=a', ['<> <http://p/> <a>']],
    ['what comes too early is skipped', 'rdf=&ou=x&pu=http://q/&ou=x&su=&pu=http://p/&ou=a', ['<> <http://p/> <a>']],
    ['unknown keys are skipped', 'rdf=&csrf=1&su=&sx=1&pu=http://p/&submit=&ou=a', ['<> <http://p/> <a>']],
    ['plus, percent and UTF-8', 'rdf&su=&pu=http://p/&ol=a+b%2Bc%C3%A9%0D%0A%26=', ['<> <http://p/> "a b+cé\\r\\n&="']],
    ['empty pairs', '&rdf=&&su=&pu=http://p/&ou=a&', ['<> <http://p/> <a>']],
    ['no triples', 'rdf=', []],
    ['a prefix that is not declared', 'rdf=&sn=a&sv=s&pu=http://p/&ou=a', 'content.syntax: prefix "a" is not declared'],
    ['a percent sign alone', 'rdf=&su=%&pu=http://p/&ou=a', 'content.syntax: percent-encoding'],
    ['an encoding that is not UTF-8', 'rdf=&su=%E9&pu=http://p/&ou=a', 'content.syntax: percent-encoding'],
    [
      'an IRI that would break out of its brackets',
      'rdf=&su=http://a/%3E&pu=http://p/&ou=a',
      'content.syntax: malformed IRI',
    ],
    ['a datatype with a quotation mark', 'rdf=&su=&pu=http://p/&ol=a&lt=http://a/%22', 'content.syntax: malformed'],
    ['an ordinary form', 'query=ASK{}&rdf=', 'content.unsupported: RDF/POST'],
    ['rdf as a prefix of the key only', 'rdfs=&su=', 'content.unsupported: RDF/POST'],
  ]
  await table(t, 'application/x-www-form-urlencoded', rows)
  await table(t, 'application/rdf+x-www-form-urlencoded;charset=UTF-8', rows.slice(0, 2))
})

void t.test('media types, charsets and empty content', async (t) => {
  const triple = '<> <p> "é" .'
  const rows: readonly [behaviour: string, contentType: string | undefined, body: string, expected: number | string][] =
    [
      ['no Content-Type', undefined, triple, 'content.unsupported'],
      ['no Content-Type, no content', undefined, '', 0],
      ['no content', 'text/turtle', '', 0],
      ['no content, where the syntax needs some', 'application/rdf+xml', '', 0],
      ['no content of an unsupported type', 'image/png', '', 'content.unsupported'],
      ['an unknown media type', 'text/plain', triple, 'content.unsupported'],
      ['the name of an inherited property', 'constructor', triple, 'content.unsupported'],
      ['a malformed media type', 'text/turtle, text/html', triple, 'content.unsupported'],
      ['application/x-turtle', 'application/x-turtle', triple, 1],
      ['case', 'Text/TURTLE;Charset="UTF-8"', triple, 1],
      ['us-ascii', 'text/turtle;charset=us-ascii', triple, 1],
      ['another charset', 'text/turtle;charset=iso-8859-1', triple, 'content.unsupported'],
      ['an unknown parameter', 'text/turtle;version=1.1', triple, 1],
      ['JSON', 'application/json', '{}', 'content.unsupported'],
      ['a SPARQL update', 'application/sparql-update', 'DELETE WHERE {}', 'content.unsupported'],
    ]
  for (const [behaviour, contentType, body, expected] of rows) {
    const result = await read(body, contentType)
    t.equal(isFailure(result) ? result.failure : result.length, expected, behaviour)
    if (isFailure(result)) {
      t.strictSame(
        result.fields,
        [
          ['Accept-Post', ACCEPT_POST],
          ['Accept', ACCEPT_POST],
        ],
        `${behaviour}: what is supported`,
      )
    }
    if (contentType !== undefined && body === triple && !contentType.includes('8859')) {
      t.equal(isReadable(contentType), expected === 1, `isReadable: ${behaviour}`)
    }
  }
  for (const { type } of parseAccept(READABLE_ACCEPT)) t.ok(isReadable(type), `${type} is asked for and read`)
  t.equal(isReadable(undefined), false)
  for (const { contentType } of RDF_FORMATS) t.ok(isReadable(contentType), `${contentType} is read as well as written`)
})

void t.test('what attackers send ends soon, with a problem or a graph that is not too large', async (t) => {
  const times = (text: string, count: number): string => text.repeat(count)
  const million = times('a', 1_000_000)
  const lol = Array.from({ length: 10 }, (_, i) => `<!ENTITY l${i + 1} "${times(`&l${i};`, 10)}">`).join('')
  const types = Array.from({ length: 3000 }, (_, i) => ({ '@id': `http://x/${i}`, '@type': 'http://t/' }))
  const terms = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, `http://t/${i}`]))
  const rows: readonly [attack: string, contentType: string, body: string, expected: string | number][] = [
    [
      '100,000 nested blank nodes',
      'text/turtle',
      `<> <p> ${times('[ <p> ', 100_000)}1${times(']', 100_000)} .`,
      100_001,
    ],
    ['100,000 nested lists', 'text/turtle', `<> <p> ${times('( ', 100_000)}1${times(')', 100_000)} .`, 200_001],
    ['100,000 open brackets', 'text/turtle', `<> <p> ${times('[ <p> ', 100_000)}`, 'content.syntax'],
    ['100,000 open triple terms', 'text/turtle', `<> <p> ${times('<<( ', 100_000)}`, 'content.syntax'],
    [
      'a prefix of a megabyte, used 80,000 times',
      'text/turtle',
      `@prefix a: <http://${million}/> . <> <p> ${times('a:b,', 80_000)} a:c .`,
      'content.too-large',
    ],
    [
      'a subject of a megabyte with 80,000 objects',
      'text/turtle',
      `<http://${million}> <p> ${times('1,', 80_000)} 2 .`,
      'content.too-large',
    ],
    ['a graph name of a megabyte', 'application/trig', `<http://${million}/> { <> <p> 1 }`, 'content.syntax'],
    ['a literal of a megabyte of escapes', 'text/turtle', `<> <p> "${times('\\u0041', 200_000)}" .`, 1],
    ['an IRI of dot segments', 'text/turtle', `<> <p> <${times('a/../', 200_000)}> .`, 1],
    [
      'a billion laughs',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [<!ENTITY l0 "lol">${lol}]>${about('<e:p>&l10;</e:p>')}`,
      'content.syntax',
    ],
    [
      'quadratic blow-up in text',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [<!ENTITY e "${times('a', 1000)}">]>${about(`<e:p>${times('&e;', 300_000)}</e:p>`)}`,
      'content.syntax',
    ],
    [
      'quadratic blow-up in attributes',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [<!ENTITY e "${times('a', 1000)}">]>${about(times('<e:p rdf:resource="x:&e;&e;&e;"/>', 50_000))}`,
      'content.syntax',
    ],
    [
      'a long entity',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [<!ENTITY e "${million}">]>${about('<e:p>&e;</e:p>')}`,
      'content.syntax',
    ],
    [
      'an external entity',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [<!ENTITY e SYSTEM "file:///etc/passwd">]>${about('<e:p>&e;</e:p>')}`,
      'content.syntax',
    ],
    [
      'an external subset',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF SYSTEM "http://169.254.169.254/">${about('')}`,
      'content.syntax',
    ],
    [
      'a parameter entity',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [<!ENTITY % e SYSTEM "http://169.254.169.254/"> %e;]>${about('')}`,
      'content.syntax',
    ],
    [
      'half an entity declaration, many times',
      'application/rdf+xml',
      `<!DOCTYPE rdf:RDF [${times('<!ENTITY a ', 100_000)}]>${about('')}`,
      'content.syntax',
    ],
    [
      'a namespace of a megabyte, used 80,000 times',
      'application/rdf+xml',
      about(`<e:p xmlns:a="http://${million}"><rdf:Description>${times('<a:b/>', 80_000)}</rdf:Description></e:p>`),
      'content.too-large',
    ],
    [
      '30,000 namespaces in scope of 80,000 elements',
      'application/rdf+xml',
      `${XML.slice(0, -1)}${Array.from({ length: 30_000 }, (_, i) => ` xmlns:n${i}="x:y"`).join('')}><rdf:Description>${times('<e:p/>', 80_000)}</rdf:Description></rdf:RDF>`,
      80_000,
    ],
    ['20,000 nested elements', 'application/rdf+xml', XML + times('<rdf:Description><e:p>', 20_000), 'content.syntax'],
    [
      '20,000 nested elements in an XML literal',
      'application/rdf+xml',
      about(`<e:p rdf:parseType="Literal">${times('<e:x>', 20_000)}`),
      'content.syntax',
    ],
    ['100,000 nested arrays', 'application/ld+json', times('[', 100_000) + times(']', 100_000), 'content.syntax'],
    ['100,000 open arrays', 'application/ld+json', times('[', 100_000), 'content.syntax'],
    [
      '100,000 nested objects',
      'application/ld+json',
      `${times('{"http://p/":', 100_000)}1${times('}', 100_000)}`,
      'content.syntax',
    ],
    [
      'a million values in one node',
      'application/ld+json',
      `{"@id":"","http://p/":[${times('1,', 900_000)}1]}`,
      'content.too-large',
    ],
    ['a million values', 'application/ld+json', `[${times('1,', 900_000)}1]`, 'content.too-large'],
    [
      'thousands of types, which the parser compares with all others',
      'application/ld+json',
      JSON.stringify(types),
      3000,
    ],
    [
      'a vocabulary of a megabyte',
      'application/ld+json',
      `{"@context":{"@vocab":"http://${million}/"},${types.map((_, i) => `"t${i}":1`).join()}}`,
      'content.syntax',
    ],
    [
      'an id of a megabyte with thousands of values',
      'application/ld+json',
      `{"@id":"http://${million}","http://p/":[${times('1,', 5000)}1]}`,
      'content.too-large',
    ],
    [
      'a scoped context, used thousands of times',
      'application/ld+json',
      JSON.stringify({
        '@context': { ...terms(1000), p: { '@id': 'http://p/', '@context': { q: 'http://q/' } } },
        '@graph': Array.from({ length: 2000 }, () => ({ p: { q: 1 } })),
      }),
      'content.syntax',
    ],
    [
      'thousands of nested contexts',
      'application/ld+json',
      JSON.stringify({
        '@context': terms(1000),
        '@graph': Array.from({ length: 2000 }, () => ({ '@context': { p: 'http://p/' }, p: 1 })),
      }),
      'content.syntax',
    ],
    [
      '__proto__ as a key',
      'application/ld+json',
      '{"@context":{"@vocab":"http://v/"},"__proto__":{"polluted":"yes"}}',
      'content.syntax',
    ],
    [
      '__proto__ as a term',
      'application/ld+json',
      '{"@context":{"__proto__":{"@id":"http://v/"}},"a":1}',
      'content.syntax',
    ],
    [
      'constructor as a key',
      'application/ld+json',
      '{"@context":{"@vocab":"http://v/"},"constructor":{"prototype":{"polluted":"yes"}}}',
      'content.syntax',
    ],
    [
      'a blank node label that ends the term',
      'application/ld+json',
      '{"@id":"_:a> <http://p/> <http://x> .\\n<http://evil","http://p/":1}',
      'content.syntax',
    ],
    ['200,000 nested elements of HTML', 'text/html', times('<div>', 200_000), 'content.syntax'],
    ['200,000 open comments of HTML', 'text/html', times('<!--', 200_000), 'content.syntax'],
    [
      '200,000 pairs of a form',
      'application/x-www-form-urlencoded',
      `rdf=&su=&pu=http://p/${times('&ol=a', 200_000)}`,
      200_000,
    ],
    [
      'a namespace of a megabyte in a form',
      'application/x-www-form-urlencoded',
      `rdf=&v=http://${million}/&su=&pu=http://p/${times('&ov=a', 80_000)}`,
      'content.too-large',
    ],
  ]
  for (const [attack, contentType, body, expected] of rows) {
    const started = performance.now()
    const result = await read(body, contentType)
    t.equal(isFailure(result) ? result.failure : result.length, expected, attack)
    const took = Math.round(performance.now() - started)
    t.ok(took < 15_000, `${attack}: ${took} ms`)
    if (!isFailure(result)) t.notOk(result.some(flawOf), `${attack}: no flawed triple`)
    else t.ok(result.detail.length < 500, `${attack}: a short detail`)
  }
  t.equal(({} as { polluted?: string }).polluted, undefined, 'Object.prototype is as it was')
})

void t.test('the store’s N-Triples, and configuration files', async (t) => {
  t.strictSame(
    readNTriples('<http://a> <http://b> _:c-1 .\n')?.map(nTriplesLine),
    ['<http://a> <http://b> _:c-1 .'],
    'labels are kept',
  )
  t.strictSame(readNTriples(''), [], 'nothing')
  for (const malformed of [
    '<a> <http://b> "c" .',
    '<http://a> <http://b> "c"',
    'no',
    '<http://a> <http://b> "c"@en--ltr .',
  ]) {
    t.equal(readNTriples(malformed), undefined, `malformed: ${malformed}`)
  }
  const quads = readTrig('<#a> <p> "x" . <g> { <a> <p> [] }', DOC)
  t.ok(Array.isArray(quads) && quads.length === 2 && quads[1]!.graph.value === `${DOC}g`, 'TriG with its graphs')
  t.match(readTrig('<a> <b> <c> .\n<a> b', DOC), { line: 2, message: /line 2/ }, 'the line of an error')
  const [one, two] = [readTrig('<a> <b> [] , _:x .', DOC), readTrig('<a> <b> [] , _:x .', DOC)].map(
    (found) => new Set((found as Quad[]).map(({ object }) => object.value)),
  )
  t.equal(new Set([...one!, ...two!]).size, 4, 'blank nodes of two files are distinct')
})

void t.test('formats written', async (t) => {
  const graph = graphOf([
    quad(namedNode('http://a/'), namedNode(RDF('type')), namedNode(PREFIXES.foaf + 'Agent')),
    quad(namedNode('http://a/'), namedNode(PREFIXES.dct + 'title'), literal('x', 'en')),
    quad(namedNode('http://a/'), namedNode(PREFIXES.dct + 'title'), literal('1', namedNode(XSD('integer')))),
    quad(blankNode('0'), namedNode('http://e/p'), literal('a & <b>\r\n"\\')),
  ])
  const text = Object.fromEntries(RDF_FORMATS.map((format) => [format.code, writeGraph(graph, format)]))
  t.matchOnlyStrict(text, {
    ttl: `@prefix dct: <http://purl.org/dc/terms/>.
@prefix foaf: <http://xmlns.com/foaf/0.1/>.

<http://a/> dct:title 1, "x"@en;
    a foaf:Agent.
_:0 <http://e/p> "a & <b>\\r\\n\\"\\\\".
`,
    nt: `<http://a/> <http://purl.org/dc/terms/title> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://a/> <http://purl.org/dc/terms/title> "x"@en .
<http://a/> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Agent> .
_:0 <http://e/p> "a & <b>\\r\\n\\"\\\\" .
`,
    rdfxml: `<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dct="http://purl.org/dc/terms/" xmlns:ns2="http://e/">
<rdf:Description rdf:about="http://a/">
  <dct:title rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</dct:title>
  <dct:title xml:lang="en">x</dct:title>
  <rdf:type rdf:resource="http://xmlns.com/foaf/0.1/Agent"/>
</rdf:Description>
<rdf:Description rdf:nodeID="b0">
  <ns2:p>a &amp; &lt;b&gt;&#xD;
"\\</ns2:p>
</rdf:Description>
</rdf:RDF>
`,
    jsonld: `[
{"@id":"http://a/","http://purl.org/dc/terms/title":[{"@value":"1","@type":"http://www.w3.org/2001/XMLSchema#integer"},{"@value":"x","@language":"en"}],"@type":["http://xmlns.com/foaf/0.1/Agent"]},
{"@id":"_:0","http://e/p":[{"@value":"a & <b>\\r\\n\\"\\\\"}]}
]
`,
  })
  const reversed = graphOf([...graph.triples].reverse())
  for (const format of RDF_FORMATS)
    t.equal(writeGraph(reversed, format), text[format.code], `${format.code}: the same graph, the same bytes`)
  for (const format of RDF_FORMATS) t.type(writeGraph(graphOf([]), format), 'string', `${format.code}: the empty graph`)
  const colliding = writeGraph(
    graphOf([quad(namedNode('acl:Read'), namedNode(PREFIXES.acl + 'mode'), namedNode('http:sc'))]),
    TURTLE,
  )
  t.match(colliding, '<acl:Read>', 'an IRI that looks like a prefixed name')

  const unwritable: readonly [behaviour: string, predicate: string, text: string, detail: string][] = [
    ['a property that ends in a digit', 'http://e/1', '', 'http://e/1'],
    ['a property that ends in a slash', 'http://e/', '', 'no XML name'],
    ['rdf:li', RDF('li'), '', 'no XML name'],
    ['rdf:Description', RDF('Description'), '', 'no XML name'],
    ['a character that XML cannot hold', 'http://e/p', '\u0001', 'U+0001'],
    ['another', 'http://e/p', '\uffff', 'U+FFFF'],
  ]
  for (const [behaviour, predicate, value, detail] of unwritable) {
    const problem = writeGraph(graphOf([quad(namedNode('http://a/'), namedNode(predicate), literal(value))]), RDF_XML)
    t.match(problem, { failure: 'negotiation.not-acceptable' }, behaviour)
    t.ok(
      isFailure(problem) && problem.detail.includes(detail) && problem.detail.includes('text/turtle'),
      `${behaviour}: what is wrong and what there is`,
    )
  }
})

/** Graphs with everything that RDF 1.1 allows. Each blank node has a triple that says which it is. */
const graphs = (): fc.Arbitrary<Graph> => {
  const MARK = namedNode('urn:mark')
  const odd = fc.constantFrom(...`az09é日😀-._~!$&'()*+,;=:@%20/?·`, '%C3%A9', '\u200c', '\u037e', '\ue000')
  // Dot segments are left out: readers of RDF/XML resolve them in absolute IRIs too (RFC 3986 §5.2.2).
  const tail = fc.array(odd, { maxLength: 8 }).map((parts) => parts.join('').replaceAll('.', '.a'))
  const start = fc.constantFrom(
    'http://e/',
    'http://e/a#',
    'urn:x:',
    'mailto:',
    'acl:',
    'http:',
    'xsd:',
    'tag:a,2:',
    ...Object.values(PREFIXES),
  )
  const iris = fc.tuple(start, tail).map(([namespace, local]) => namedNode(namespace + local))
  const predicates = fc.oneof(
    iris,
    fc.constantFrom('type', '_1', '_12', 'value').map((name) => namedNode(RDF(name))),
  )
  const nodes = fc.nat(4).map((i) => blankNode(`${i}x`))
  const lexical = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        ...'\0\x01\b\t\n\f\r"\\\'<>&;{}[]()@^.,-_ 1aé\u007f\u0085\u2028\ufeff\ufffe\uffff😀',
        ']]>',
        '<!--',
        '&amp;',
        '\\u0041',
      ),
    }),
    fc.constantFrom(
      '',
      '1',
      '-1',
      '+1.',
      '1.5',
      '.5',
      '1e3',
      '1.E-3',
      'true',
      'TRUE',
      ' 1',
      '{"a": 1}',
      '{',
      '<b>x</b>',
    ),
  )
  const datatypes = fc.oneof(
    fc.constantFrom('integer', 'decimal', 'double', 'boolean', 'dateTime').map((name) => namedNode(XSD(name))),
    fc.constantFrom('JSON', 'XMLLiteral', 'HTML').map((name) => namedNode(RDF(name))),
    iris,
  )
  const literals = fc.oneof(
    lexical.map((value) => literal(value)),
    fc
      .tuple(lexical, fc.constantFrom('en', 'de-CH', 'zh-Hant-TW', 'x-a1'))
      .map(([value, language]) => literal(value, language)),
    fc.tuple(lexical, datatypes).map(([value, datatype]) => literal(value, datatype)),
  )
  const triples = fc
    .tuple(fc.oneof(iris, nodes), predicates, fc.oneof(iris, nodes, literals))
    .map(([s, p, o]) => quad(s, p, o))
  const marks = Array.from({ length: 5 }, (_, i) => quad(blankNode(`${i}x`), MARK, literal(String(i))))
  return fc
    .array(triples, { maxLength: 12 })
    .map((some) => graphOf([...some.filter((triple) => !flawOf(triple)), ...marks]))
}

/** The lines, with blank nodes named by their marks. */
function marked(quads: readonly Quad[]): readonly string[] {
  const names = new Map(
    quads
      .filter(({ predicate }) => predicate.value === 'urn:mark')
      .map(({ subject, object }) => [subject.value, `m${object.value}`]),
  )
  const named = <T extends Quad['subject'] | Quad['object']>(term: T): T =>
    (term.termType === 'BlankNode' ? blankNode(names.get(term.value)) : term) as T
  return graphOf(quads.map(({ subject, predicate, object }) => quad(named(subject), predicate, named(object)))).lines
}

void t.test('what is written reads back as the same graph', async (t) => {
  const inXml = (graph: Graph): Graph =>
    graphOf(graph.triples.filter((triple) => typeof writeGraph(graphOf([triple]), RDF_XML) === 'string'))
  const roundTrip = async (graph: Graph, format: Format): Promise<void> => {
    const text = writeGraph(graph, format)
    if (isFailure(text)) throw new Error(text.detail)
    const back = await read(text, format.contentType)
    if (isFailure(back)) throw new Error(`${back.detail}\n${text}`)
    const [expected, found] = [marked(graph.triples), marked(back)]
    if (expected.join('\n') !== found.join('\n'))
      throw new Error(`${expected.join('\n')}\n\n${found.join('\n')}\n\n${text}`)
  }
  for (const format of RDF_FORMATS) {
    await fc.assert(
      fc.asyncProperty(graphs(), (graph) => roundTrip(format === RDF_XML ? inXml(graph) : graph, format)),
      { numRuns: 200 },
    )
    t.pass(format.mediaType)
  }
  const compare = (graph: Graph): boolean =>
    readNTriples(writeGraph(graph, N_TRIPLES) as string)
      ?.map(nTriplesLine)
      .join() === graph.lines.join()
  fc.assert(fc.property(graphs(), compare), { numRuns: 200 })
})
