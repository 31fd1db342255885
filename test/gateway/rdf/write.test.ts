// Writing RDF: the same graph gives the same bytes, and reading them gives the same graph.
import t from 'tap'
import fc from 'fast-check'
import {
  EXPANDED_JSON_LD,
  JSON_LD,
  N_TRIPLES,
  OTHER_RDF_NAMES,
  RDF_FORMATS,
  RDF_XML,
  TURTLE,
  type Format,
} from '../../../gateway/http/media-type.js'
import { isFailure } from '../../../gateway/problem.js'
import {
  blankNode,
  flawOf,
  graphOf,
  isOfRdf12,
  literal,
  namedNode,
  nTriplesLine,
  quad,
  withNodes,
  type Graph,
  type Quad,
} from '../../../gateway/rdf/graph.js'
import { canonicalLines } from '../../../gateway/rdf/canonical.js'
import { readNTriples } from '../../../gateway/rdf/read.js'
import { PREFIXES, RDF, XSD } from '../../../gateway/rdf/vocabulary.js'
import { writeGraph } from '../../../gateway/rdf/write.js'
import { read } from './reading.js'

// prettier-ignore
const UNWRITABLE: readonly [behaviour: string, predicate: string, text: string, detail: string][] = [
  ['a property that ends in a digit', 'http://e/1', '', 'http://e/1'],
  ['a property that ends in a slash', 'http://e/', '', 'as an XML element'],
  ['rdf:li', RDF('li'), '', 'as an XML element'],
  ['rdf:Description', RDF('Description'), '', 'as an XML element'],
  ['a character that XML cannot contain', 'http://e/p', '\u0001', 'U+0001'],
  ['another such character', 'http://e/p', '\uffff', 'U+FFFF'],
]

void t.test('prefixes of common vocabularies are written if they are used', async (t) => {
  const label = 'http://www.w3.org/2004/02/skos/core#prefLabel'
  const graph = graphOf([quad(namedNode('http://a/'), namedNode(label), literal('x'))])
  const written = (format: Format): string => writeGraph(graph, format) as string
  t.equal(written(TURTLE), '@prefix skos: <http://www.w3.org/2004/02/skos/core#>.\n\n<http://a/> skos:prefLabel "x".\n')
  t.match(written(RDF_XML), 'xmlns:skos="http://www.w3.org/2004/02/skos/core#"')
  t.match(written(JSON_LD), '"@context":{"skos":"http://www.w3.org/2004/02/skos/core#"}')
  t.equal(new Set(Object.values(PREFIXES)).size, Object.keys(PREFIXES).length, 'one prefix for each')
  for (const namespace of Object.values(PREFIXES)) t.match(namespace, /^(?:https?:|urn:).*[/#]$/, 'names follow it')
})

void t.test('an empty prefix of the dataset is written in Turtle, and never in JSON-LD', (t) => {
  const own = 'http://own.example/ns#'
  const skos = `${PREFIXES.skos}`
  // prettier-ignore
  const rows: readonly [behaviour: string, format: Format, prefixes: Readonly<Record<'', string>>, expected: string][] = [
    ['Turtle', TURTLE, { '': own }, `@prefix : <${own}>.\n\n:a :p "x".\n`],
    ['JSON-LD', JSON_LD, { '': own }, `{"@context":{},"@graph":[\n{"@id":"${own}a","${own}p":"x"}\n]}\n`],
    ['JSON-LD, with another prefix', JSON_LD, { '': own, ...{ own } }, `{"@context":{"own":"${own}"},"@graph":[\n{"@id":"own:a","own:p":"x"}\n]}\n`],
    ['JSON-LD, with the usual prefix', JSON_LD, { '': skos }, `{"@context":{"skos":"${skos}"},"@graph":[\n{"@id":"skos:a","skos:p":"x"}\n]}\n`],
  ]
  for (const [behaviour, format, prefixes, expected] of rows) {
    const { '': namespace } = prefixes
    const graph = graphOf([quad(namedNode(`${namespace}a`), namedNode(`${namespace}p`), literal('x'))])
    t.equal(writeGraph(graph, { ...format, prefixes }), expected, behaviour)
  }
  t.end()
})

/** Its code without the revision of the writers. */
const nameOf = ({ code }: Format): string => code.replace(/\d+$/, '')

void t.test('formats written', async (t) => {
  const graph = graphOf([
    quad(namedNode('http://a/'), namedNode(RDF('type')), namedNode(PREFIXES.foaf + 'Agent')),
    quad(namedNode('http://a/'), namedNode(PREFIXES.dct + 'title'), literal('x', 'en')),
    quad(namedNode('http://a/'), namedNode(PREFIXES.dct + 'title'), literal('1', namedNode(XSD('integer')))),
    quad(blankNode('0'), namedNode('http://e/p'), literal('a & <b>\r\n"\\')),
  ])
  const text = Object.fromEntries(RDF_FORMATS.map((format) => [nameOf(format), writeGraph(graph, format)]))
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
    jsonldc: `{"@context":{"dct":"http://purl.org/dc/terms/","foaf":"http://xmlns.com/foaf/0.1/"},"@graph":[
{"@id":"http://a/","dct:title":[1,{"@value":"x","@language":"en"}],"@type":"foaf:Agent"},
{"@id":"_:0","http://e/p":"a & <b>\\r\\n\\"\\\\"}
]}
`,
    jsonld: `[
{"@id":"http://a/","http://purl.org/dc/terms/title":[{"@value":"1","@type":"http://www.w3.org/2001/XMLSchema#integer"},{"@value":"x","@language":"en"}],"@type":["http://xmlns.com/foaf/0.1/Agent"]},
{"@id":"_:0","http://e/p":[{"@value":"a & <b>\\r\\n\\"\\\\"}]}
]
`,
  })
  const reversed = graphOf([...graph.triples].reverse())
  for (const format of RDF_FORMATS)
    t.equal(writeGraph(reversed, format), text[nameOf(format)], `${format.code}: the same graph, the same bytes`)
  for (const format of RDF_FORMATS) t.type(writeGraph(graphOf([]), format), 'string', `${format.code}: the empty graph`)
  for (const format of OTHER_RDF_NAMES)
    t.equal(writeGraph(graph, format), text[nameOf(format.source!)], `${format.mediaType}: the bytes of its source`)
  const colliding = writeGraph(
    graphOf([quad(namedNode('acl:Read'), namedNode(PREFIXES.acl + 'mode'), namedNode('http:sc'))]),
    TURTLE,
  )
  t.match(colliding, '<acl:Read>', 'an IRI that looks like a prefixed name')

  for (const [behaviour, predicate, value, detail] of UNWRITABLE) {
    const problem = writeGraph(graphOf([quad(namedNode('http://a/'), namedNode(predicate), literal(value))]), RDF_XML)
    t.match(problem, { failure: 'negotiation.not-acceptable' }, behaviour)
    t.ok(
      isFailure(problem) && problem.detail.includes(detail) && problem.detail.includes('text/turtle'),
      `${behaviour}: the detail names the reason and the formats`,
    )
  }
})

/** Graphs with everything that RDF 1.1 allows, or 1.2. A triple of each blank node identifies it. */
const graphs = (isRdf12 = false): fc.Arbitrary<Graph> => {
  const MARK = namedNode('urn:mark')
  const odd = fc.constantFrom(...`az09é日😀-._~!$&'()*+,;=:@%20/?·`, '%C3%A9', '\u200c', '\u037e', '\ue000')
  // No dot segments: readers of RDF/XML resolve them in absolute IRIs too (RFC 3986 §5.2.2).
  const tail = fc.array(odd, { maxLength: 8 }).map((parts) => parts.join('').replaceAll('.', '.a'))
  const starts = ['http://e/', 'http://e/a#', 'urn:x:', 'mailto:', 'acl:', 'http:', 'xsd:', 'tag:a,2:']
  const start = fc.constantFrom(...starts, ...Object.values(PREFIXES))
  const iris = fc.tuple(start, tail).map(([namespace, local]) => namedNode(namespace + local))
  const predicates = fc.oneof(
    iris,
    fc.constantFrom('type', '_1', '_12', 'value').map((name) => namedNode(RDF(name))),
  )
  const nodes = fc.nat(4).map((i) => blankNode(`${i}x`))
  const characters = '\0\x01\b\t\n\f\r"\\\'<>&;{}[]()@^.,-_ 1aé\u007f\u0085\u2028\ufeff\ufffe\uffff😀'
  const numbers = ['1', '-1', '+1.', '1.5', '.5', '1e3', '1.E-3', ' 1']
  const lexical = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...characters, ']]>', '<!--', '&amp;', '\\u0041') }),
    fc.constantFrom('', ...numbers, 'true', 'TRUE', '{"a": 1}', '{', '<b>x</b>'),
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
  const plain: fc.Arbitrary<Quad> = fc
    .tuple(fc.oneof(iris, nodes), predicates, fc.oneof(iris, nodes, literals))
    .map(([s, p, o]) => quad(s, p, o))
  const directed = fc
    .tuple(lexical, fc.constantFrom('ltr', 'rtl'))
    .map(([value, direction]) => literal(value, { language: 'ar', direction } as never))
  const { triple: nested } = fc.letrec<{ triple: Quad; object: Quad['object'] }>((tie) => ({
    triple: fc.tuple(fc.oneof(iris, nodes), predicates, tie('object')).map(([s, p, o]) => quad(s, p, o)),
    object: fc.oneof({ maxDepth: 4 }, iris, literals, directed, nodes, tie('triple')),
  }))
  const triples = isRdf12 ? nested : plain
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
  return graphOf(quads.map((one) => withNodes(one, (label) => blankNode(names.get(label))))).lines
}

void t.test('property: reading a written graph gives the same graph', async (t) => {
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
    t.pass(format.code)
  }
  for (const format of [TURTLE, N_TRIPLES]) {
    await fc.assert(
      fc.asyncProperty(graphs(true), (graph) => roundTrip(graph, format)),
      { numRuns: 200 },
    )
    t.pass(`RDF 1.2 in ${format.mediaType}`)
  }
  const compare = (graph: Graph): boolean =>
    readNTriples(writeGraph(graph, N_TRIPLES) as string)
      ?.map(nTriplesLine)
      .join() === graph.lines.join()
  fc.assert(fc.property(graphs(true), compare), { numRuns: 200 })
})

void t.test('property: any term of a store has one line, and is restored from it', async (t) => {
  const any = fc.string({ unit: 'binary' }).filter((text) => text !== '' && !/^_:/.test(text))
  const odd = fc.string({ unit: fc.constantFrom(...'<>"{}|^`\\ \n\u0000%#[]é\'_:a') }).map((text) => `x:${text}`)
  const iris = fc.oneof(any, odd).map((value) => namedNode(value))
  const tags = fc.constantFrom('en-abcdefghijkl', 'abcdefghijklmn', 'a-b-1234567890', 'en--ltr')
  const literals = fc.oneof(
    fc.tuple(any, tags).map(([value, tag]) => literal(value, tag)),
    fc
      .tuple(
        any,
        iris.filter(({ value }) => !value.includes('"')),
      )
      .map(([value, type]) => literal(value, type)),
  )
  const terms = fc.tuple(iris, iris, fc.oneof(iris, literals)).map(([s, p, o]) => quad(s, p, o))
  const triples = fc
    .tuple(fc.oneof(iris, terms), iris, fc.oneof(iris, literals, terms))
    .map(([s, p, o]) => quad(s, p, o))
  const isSame = (triple: Quad): boolean => {
    const line = nTriplesLine(triple)
    const back = readNTriples(`${line}\n`)
    return back?.length === 1 && back[0]!.equals(triple) && canonicalLines(line)?.join() === line
  }
  fc.assert(fc.property(triples, isSame), { numRuns: 300 })
  // Terms beyond RDF 1.1 exist in neither RDF/XML nor JSON-LD; Turtle writes them like N-Triples.
  fc.assert(
    fc.property(triples, (triple) => {
      const graph = graphOf([triple])
      const isOdd = flawOf(triple) !== undefined || isOfRdf12(triple.object)
      const written = [RDF_XML, JSON_LD, EXPANDED_JSON_LD].map((format) => isFailure(writeGraph(graph, format)))
      return !isOdd || written.every(Boolean)
    }),
    { numRuns: 300 },
  )
  const spaced = graphOf([quad(namedNode('http://a b'), namedNode('http://p'), literal('x'))])
  t.equal(writeGraph(spaced, TURTLE), '<http://a\\u0020b> <http://p> "x" .\n')
})
