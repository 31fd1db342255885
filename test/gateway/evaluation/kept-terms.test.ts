// Terms are returned as they were stored and matched as terms (SPARQL 1.1 §12.6, §18.3) by the engine that computes
// writes, while expressions use values (§17).
import t from 'tap'
import fc from 'fast-check'
import { withCoveredStore } from '../../../gateway/evaluation/covered-store.js'
import { makeNewLabels, runPatch } from '../../../gateway/evaluation/run-patch.js'
import { runUpdate, type CopiedGraph } from '../../../gateway/evaluation/run-update.js'
import { isFailure } from '../../../gateway/problem.js'
import { graphOf, iri, literal, nTriplesOf, nTriplesTerm, quad, typed, type Quad } from '../../../gateway/rdf/graph.js'
import { RDF, XSD } from '../../../gateway/rdf/vocabulary.js'
import { readOwnSolutions } from '../../../gateway/rdf/read-sparql-results.js'
import { analysePatch } from '../../../gateway/sparql/language/patch.js'
import { defaultGraph } from 'oxigraph/web.js'
import { openOxigraph } from '../../../gateway/stores/bounded-oxigraph.js'
import { makeCovers } from '../../../gateway/stores/covers.js'

const oxigraph = openOxigraph(512 * 2 ** 20)
const DOC = 'https://data.example.org/a/'
const PREFIXES = 'PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> '

const written = (short: string): string =>
  short.replace(/(\^\^|<)xsd:(\w+)>?/g, (_, mark: string, name: string) => `${mark === '<' ? '' : mark}<${XSD(name)}>`)

/**
 * The values of ?x on a document in which the literals are the objects of <urn:p>, and their positions the subjects.
 */
function found(literals: readonly string[], pattern: string): unknown {
  const nTriples = literals.map((one, i) => `<urn:${i}> <urn:p> ${written(one)} .\n`).join('')
  const patch = analysePatch(`${PREFIXES} INSERT { :new :x ?x } WHERE { ${pattern} }`, DOC)
  if (isFailure(patch)) return patch.detail
  const patched = runPatch({ oxigraph, growth: 1e6, newLabels: makeNewLabels() }, nTriples, patch)
  return isFailure(patched)
    ? patched.detail
    : patched.added.map((line) => line.slice('<urn:new> <urn:x> '.length, -2)).sort()
}

void t.test('the values of a pattern', (t) => {
  const numbers = ['"5"^^xsd:nonNegativeInteger', '"5"^^xsd:int', '"5"^^xsd:integer', '"05"^^xsd:integer', '"5.0"^^xsd:decimal'] // prettier-ignore
  const odd = [...numbers, '"1"^^xsd:boolean', '"P12M"^^xsd:duration', '"2026-01-01T00:00:00.500Z"^^xsd:dateTime', '"colour"@en-gb', '"x"^^xsd:int', '"1e3"^^xsd:double', '"<urn:a> .\\n\\"1\\"^^<urn:b>"'] // prettier-ignore
  const [five, other] = ['"05"^^xsd:integer', '"7"^^xsd:int']
  // prettier-ignore
  const rows: [name: string, literals: readonly string[], pattern: string, values: readonly string[]][] = [
    ['every term is returned as it was stored', odd, '?s :p ?x', odd],
    ['a constant matches only its own spelling', numbers, '?s :p 05 ; :p ?x', [five]],
    ['… the canonical one too', numbers, '?s :p 5 ; :p ?x', ['"5"^^xsd:integer']],
    ['… and its own datatype', numbers, '?s :p "5"^^xsd:int ; :p ?x', ['"5"^^xsd:int']],
    ['VALUES', numbers, 'VALUES ?x { 05 "5"^^xsd:int 6 } ?s :p ?x', [five, '"5"^^xsd:int']],
    ['variables are joined by terms, not by values', [five, '"5"^^xsd:integer'], ':0 :p ?x . :1 :p ?x', []],
    ['MINUS', numbers, '?s :p ?x MINUS { ?s :p 5 }', numbers.filter((one) => one !== '"5"^^xsd:integer')],
    ['FILTER compares values', numbers, '?s :p ?x FILTER(?x = 5)', numbers],
    ['IN compares values', numbers, '?s :p ?x FILTER(?x IN (4, 5))', numbers],
    ['NOT IN', numbers, '?s :p ?x FILTER(?x NOT IN (4, 5))', []],
    ['a FILTER in EXISTS', numbers, '?s :p ?x FILTER EXISTS { ?s :p ?y FILTER(?y + 1 > 5.5) }', numbers],
    ['sameTerm', numbers, '?s :p ?x FILTER(SAMETERM(?x, 05))', [five]],
    ['DATATYPE', numbers, '?s :p ?x FILTER(DATATYPE(?x) = xsd:int)', ['"5"^^xsd:int']],
    ['DATATYPE of a choice', numbers, '?s :p ?x FILTER(DATATYPE(COALESCE(?none, ?x)) = xsd:int)', ['"5"^^xsd:int']],
    ['DATATYPE gives an IRI', ['"5"^^xsd:int'], '?s :p ?y BIND(DATATYPE(?y) AS ?x)', ['<xsd:int>']],
    ['STR gives the spelling', [five, '"1.50"^^xsd:decimal'], '?s :p ?y BIND(STR(?y) AS ?x)', ['"05"', '"1.50"']],
    ['LANG gives the tag', ['"a"@en-gb', '"b"@en', five], '?s :p ?y BIND(LANG(?y) AS ?x)', ['""', '"en"', '"en-gb"']],
    ['LANGMATCHES', ['"a"@en-gb', '"b"@de'], '?s :p ?x FILTER(LANGMATCHES(LANG(?x), "en"))', ['"a"@en-gb']],
    ['a tag matches in any case', ['"a"@en-gb'], '?s :p "a"@EN-gb ; :p ?x', ['"a"@en-gb']],
    ['a function of a string keeps its language tag', ['"colour"@en-gb'], '?s :p ?y BIND(UCASE(?y) AS ?x)', ['"COLOUR"@en-gb']],
    ['BIND, IF, COALESCE', [five], ':0 :p ?y BIND(IF(?y = 5, COALESCE(?none, ?y), 1) AS ?x)', [five]],
    ['a constant of BIND', [], 'BIND("07"^^xsd:int AS ?x)', ['"07"^^xsd:int']],
    ['a computed value is canonical', [five], ':0 :p ?y BIND(?y + 1 AS ?x)', ['"6"^^xsd:integer']],
    ['… and matches', [five, '"6"^^xsd:integer'], ':0 :p ?y BIND(?y + 1 AS ?x) :1 :p ?x', ['"6"^^xsd:integer']],
    ['STRDT makes the literal that it says', ['"07"', '"7"'], '?s :p ?y BIND(STRDT(?y, xsd:int) AS ?x)', ['"07"^^xsd:int', other]],
    ['… of a longer expression', ['"7"'], '?s :p ?y BIND(STRDT(CONCAT("0", ?y), xsd:integer) AS ?x)', ['"07"^^xsd:integer']],
    ['STRLANG', ['"a"'], '?s :p ?y BIND(STRLANG(?y, "en-gb") AS ?x)', ['"a"@en-gb']],
    ['a cast', ['"07"^^xsd:int'], '?s :p ?y BIND(xsd:integer(?y) AS ?x)', ['"7"^^xsd:integer']],
    ['GROUP BY is by terms', [five, five, other], '{ SELECT ?x { ?s :p ?x } GROUP BY ?x }', [five, other]],
    ['COUNT DISTINCT', numbers, '{ SELECT (COUNT(DISTINCT ?y) AS ?x) { ?s :p ?y } }', ['"5"^^xsd:integer']],
    ['SUM', numbers, '{ SELECT (SUM(?y) AS ?x) { ?s :p ?y } }', ['"25"^^xsd:decimal']],
    ['SAMPLE', [five], '{ SELECT (SAMPLE(?y) AS ?x) { ?s :p ?y } }', [five]],
    ['MIN and MAX give a term of the group', [five, other, '"06"^^xsd:integer'], '{ SELECT (MIN(?y) AS ?m) (MAX(?y) AS ?n) { ?s :p ?y } } VALUES ?x { 05 06 7 "7"^^xsd:int } FILTER(SAMETERM(?x, ?m) || SAMETERM(?x, ?n))', [five, other]],
    ['MIN by a group', [five, other, '"06"^^xsd:integer'], '{ SELECT (MIN(?y) AS ?x) { ?s :p ?y } GROUP BY ?s }', [five, other, '"06"^^xsd:integer']],
    ['HAVING', [five, other], '{ SELECT ?x { ?s :p ?x } GROUP BY ?x HAVING(MIN(?x) > 6) }', [other]],
    ['ORDER BY is by values', ['"10"^^xsd:int', '"9"^^xsd:int', '"08"^^xsd:integer'], '{ SELECT ?x { ?s :p ?x } ORDER BY DESC(?x) LIMIT 01 }', ['"10"^^xsd:int']],
    ['GROUP_CONCAT', [five], '{ SELECT (GROUP_CONCAT(?y; SEPARATOR = "01") AS ?x) { { :0 :p ?y } UNION { :0 :p ?y } } }', ['"050105"']],
    ['a path', [five], ':0 (:q|:p)/:q* ?x', [five]],
    ['an aggregate over nothing', [], '{ SELECT (COUNT(*) AS ?x) { FILTER(false) } }', ['"0"^^xsd:integer']],
  ]
  for (const [name, literals, pattern, values] of rows) {
    t.strictSame(found(literals, pattern), values.map(written).sort(), name)
  }
  t.end()
})

/** The object of the triple that an update inserts into one of these graphs; undefined if it inserts nothing. */
function inserted(pattern: string, template: string, copies: Readonly<Record<string, string>>): unknown {
  const graphs = Object.entries(copies).map(([graph, nTriples]): CopiedGraph => ({ graph, nTriples, isVisible: true }))
  const update = `${PREFIXES} INSERT { ${template} } WHERE { ${pattern} }`
  const on = { update, base: DOC, graphs, solutions: undefined }
  const updated = runUpdate({ oxigraph, growth: 1e6, newLabels: makeNewLabels() }, on)
  if (isFailure(updated)) return updated.detail
  const added = updated.edits.flatMap(({ added }) => added)
  return added.map((line) => line.slice('<urn:new> <urn:x> '.length, -2))
}

void t.test('SPARQL 1.1 Update §3.1.3: a triple with an illegal term is not inserted', (t) => {
  const [TAGGED, DIRECTED] = [`<${RDF('langString')}>`, `<${RDF('dirLangString')}>`]
  const tagged = `"x"^^${TAGGED}`
  // prettier-ignore
  const rows: [name: string, literals: readonly string[], pattern: string, values: readonly string[]][] = [
    ['STRDT with rdf:langString', [], `BIND(STRDT("x", ${TAGGED}) AS ?x)`, []],
    ['… with rdf:dirLangString', [], `BIND(STRDT("x", ${DIRECTED}) AS ?x)`, []],
    ['… in a sub-query', [], `{ SELECT (STRDT("x", ${TAGGED}) AS ?x) {} }`, []],
    ['… in GROUP BY', [], `{ SELECT ?x {} GROUP BY (STRDT("x", ${TAGGED}) AS ?x) }`, []],
    ['… only the triple with it is left out', ['"a"'], `VALUES ?type { ${TAGGED} xsd:token } BIND(STRDT("x", ?type) AS ?x)`, ['"x"^^xsd:token']],
    ['a datatype that STRDT makes', [], 'BIND(STRDT("x", IRI("http://ex.example/%zz")) AS ?x)', []],
    ['IRI of a text', [], 'BIND(IRI("http://ex.example/%zz") AS ?x)', []],
    ['… with two fragments', [], 'BIND(IRI(CONCAT("http://ex.example/#a", "#b")) AS ?x)', []],
    ['STRLANG', [], 'BIND(STRLANG("x", "verylongtag") AS ?x)', []],
    ['such terms of the store are copied', [tagged, '<http://ex.example/[x]>'], '?s :p ?x', [tagged, '<http://ex.example/[x]>']],
    ['… through BIND too', [tagged, '"x"@verylongtag'], '?s :p ?y BIND(?y AS ?x)', [tagged, '"x"@verylongtag']],
    ['… but not if they are only a part of a text', ['"<http://ex.example/%zz>"'], 'BIND(IRI("http://ex.example/%zz") AS ?x)', []],
  ]
  const graph = 'urn:g'
  for (const [name, literals, pattern, values] of rows) {
    const expected = values.map(written).sort()
    t.strictSame(found(literals, pattern), expected, `PATCH: ${name}`)
    const nTriples = literals.map((one, i) => `<urn:${i}> <urn:p> ${written(one)} .\n`).join('')
    const updated = inserted(`GRAPH <${graph}> { ${pattern} }`, 'GRAPH <urn:g> { :new :x ?x }', { [graph]: nTriples })
    t.strictSame([updated].flat().sort(), expected, `update: ${name}`)
  }
  const odd = { 'http://ex.example/#a#b': '<urn:s> <urn:p> "1" .\n' }
  const added = inserted('GRAPH ?g { ?s :p ?o }', 'GRAPH ?g { :new :x "y" }', odd)
  t.strictSame(added, ['"y"'], 'triples may be added to a graph with such a name')
  t.end()
})

const LEXICAL = fc.oneof(
  fc.constantFrom('0', '-0', '1', '01', '+1', '-7', '1.0', '1.5', '-0.5', '.5', '1.', '1e0', '1.0E1', 'INF', '-INF', '+INF', 'NaN', 'true', 'false', 'TRUE', '2026-02-30', '2026', '-0001', '12026', '--02', '--02-03', '---04', 'P1Y', 'P12M', 'P1D', 'PT24H', 'PT1H', '-P1D', 'P0D', 'PT0.50S', ' 1', '', 'x', '99999999999999999999', '123456789.123456789', '0.1234567', '1234567.1234567'), // prettier-ignore
  fc.integer().map(String),
  fc.float({ noNaN: true, min: -1000, max: 1000 }).map(String),
  fc.tuple(
    fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
    fc.constantFrom('Z', '', '+00:00', '-00:00', '+05:30', '-13:59', '+14:00'),
    fc.constantFrom([0, 23], [0, 19], [0, 22], [11, 23], [0, 10], [11, 19], [0, 4], [0, 7]),
  ).map(([date, zone, [from, to]]) => date.toISOString().slice(from, to) + zone), // prettier-ignore
  fc.constantFrom('24:00:00', '2026-01-01T24:00:00Z', '0000-01-01', '10:00:60'),
)
const NAMES = ['boolean', 'integer', 'decimal', 'double', 'float', 'string', 'dateTime', 'date', 'time', 'gYear', 'gYearMonth', 'gMonth', 'gMonthDay', 'gDay', 'duration', 'dayTimeDuration', 'yearMonthDuration', 'dateTimeStamp', 'byte', 'short', 'int', 'long', 'unsignedByte', 'unsignedShort', 'unsignedInt', 'unsignedLong', 'positiveInteger', 'negativeInteger', 'nonPositiveInteger', 'nonNegativeInteger', 'anyURI', 'hexBinary', 'base64Binary', 'token', 'language', 'normalizedString', 'Name', 'QName'] // prettier-ignore
const LITERAL = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(LEXICAL, fc.constantFrom(...NAMES.map((name) => XSD(name)), RDF('HTML'), RDF('JSON'), 'urn:type')).map(([value, type]) => typed(value, type)) }, // prettier-ignore
  { weight: 1, arbitrary: fc.tuple(LEXICAL, fc.constantFrom('en', 'EN', 'en-GB', 'de-Latn-CH-1996', 'zh-Hant-x-Private')).map(([value, tag]) => literal(value, tag)) }, // prettier-ignore
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }).map((value) => literal(value)) },
)

void t.test('property: every literal is returned as it was stored', (t) => {
  fc.assert(
    fc.property(fc.array(LITERAL, { minLength: 1, maxLength: 300 }), (literals) => {
      const lines = literals.map((one, i) => `<urn:${i}> <urn:p> ${nTriplesTerm(one)} .`)
      const store = new oxigraph.Store()
      const covers = makeCovers()
      store.load(lines.map(covers.line).join('\n'), { format: 'application/n-triples' })
      const dump = store.dump({ format: 'application/n-triples', from_graph_name: defaultGraph() })
      t.strictSame(covers.uncovered(dump).split('\n').filter(Boolean).sort(), [...lines].sort())
    }),
    { numRuns: 60 },
  )
  t.end()
})

/** A triple pattern: variables are their names. */
type Pattern = readonly [string, string, string]

/** SPARQL 1.1 §18.3.1: the solutions of a basic graph pattern, found one pattern after the other. */
function solutionsOf(graph: readonly Pattern[], patterns: readonly Pattern[]): Map<string, string>[] {
  let solutions = [new Map<string, string>()]
  for (const pattern of patterns) {
    solutions = solutions.flatMap((solution) =>
      graph.flatMap((triple) => {
        const extended = new Map(solution)
        for (const [i, term] of pattern.entries()) {
          const value = term.startsWith('?') ? extended.get(term) : term
          if (value !== undefined && value !== triple[i]) return []
          if (value === undefined) extended.set(term, triple[i]!)
        }
        return [extended]
      }),
    )
  }
  return solutions
}

void t.test('property: basic graph patterns match terms, as a matcher of terms does', (t) => {
  // Few terms, so that patterns match; all spellings of few values, so that terms and values differ.
  const values = fc.constantFrom(...['"1"^^xsd:integer', '"01"^^xsd:integer', '"1"^^xsd:int', '"1.0"^^xsd:decimal', '"1"^^xsd:decimal', '"1"', '"1"@en', '"1"@de-ch', '"true"^^xsd:boolean', '"1"^^xsd:boolean', '<urn:1>'].map(written)) // prettier-ignore
  const nodes = fc.constantFrom('<urn:1>', '<urn:2>', '<urn:3>')
  const names = fc.constantFrom('?a', '?b', '?c')
  const graphs = fc.array(fc.tuple(nodes, fc.constantFrom('<urn:p>', '<urn:q>'), values), { maxLength: 12 })
  const patterns = fc.array(
    fc.tuple(fc.oneof(nodes, names), fc.oneof(fc.constantFrom('<urn:p>', '<urn:q>'), names), fc.oneof(values, names)),
    { minLength: 1, maxLength: 3 },
  )
  fc.assert(
    fc.property(graphs, patterns, (graph, patterns) => {
      const distinct = [...new Map(graph.map((triple) => [triple.join(' '), triple])).values()]
      const where = patterns.map((pattern) => `${pattern.join(' ')} .`).join(' ')
      const json = withCoveredStore(oxigraph, (store) => {
        store.load(distinct.map((triple) => `${triple.join(' ')} .`))
        return store.select(`SELECT ?a ?b ?c { ${where} }`)
      })
      const solutions = readOwnSolutions(json).map((solution) =>
        ['a', 'b', 'c'].map((name) => (solution.has(name) ? nTriplesTerm(solution.get(name)!) : '')).join(' '),
      )
      const expected = solutionsOf(distinct, patterns).map((solution) =>
        ['?a', '?b', '?c'].map((name) => solution.get(name) ?? '').join(' '),
      )
      t.strictSame(solutions.sort(), expected.sort())
    }),
    { numRuns: 300 },
  )
  t.end()
})

void t.test('property: a property that is renamed keeps its values', (t) => {
  fc.assert(
    fc.property(fc.array(LITERAL, { minLength: 1, maxLength: 30 }), (literals) => {
      const of = (predicate: string): Quad[] => literals.map((one) => quad(iri('urn:s'), iri(predicate), one))
      const [before, after] = [graphOf(of('urn:p')), graphOf(of('urn:q'))]
      const patch = analysePatch('DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }', DOC)
      if (isFailure(patch)) throw new Error(patch.detail)
      const patched = runPatch({ oxigraph, growth: 1e6, newLabels: makeNewLabels() }, nTriplesOf(before), patch)
      if (isFailure(patched)) throw new Error(patched.detail)
      t.strictSame([...patched.removed].sort(), [...before.lines].sort())
      t.strictSame([...patched.added].sort(), [...after.lines].sort())
    }),
    { numRuns: 60 },
  )
  t.end()
})
