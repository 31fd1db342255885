// CONSTRUCT over rows (gateway/evaluation/run-construct.ts): a pattern about a single row is answered from its cells,
// with the same result as a graph per row.
import t from 'tap'
import { constructRows, type ConstructRow } from '../../../gateway/evaluation/run-construct.js'
import { isFailure } from '../../../gateway/problem.js'
import { analyseConstruct } from '../../../gateway/sparql/language/construct.js'
import { openOxigraph } from '../../../gateway/stores/bounded-oxigraph.js'

const BASE = 'https://localhost/uploads/x'
const rowOf = (number: number, cells: Readonly<Record<string, string>>): ConstructRow => ({
  name: `${BASE}#row=${number}`,
  cells: Object.entries(cells).map(([name, value]) => [`<${BASE}#${name}>`, JSON.stringify(value)] as const),
})
const ROWS: readonly ConstructRow[] = [
  rowOf(2, { id: '1', name: 'Ann', city: 'Ghent' }),
  rowOf(3, { id: '2', name: 'Bob' }),
  rowOf(4, { name: 'no id', city: 'Oslo' }),
  rowOf(5, { id: '10', name: 'quoted " \\ and {}', city: 'a\nb' }),
  rowOf(6, { id: 'x y', name: '?row', city: 'Ghent' }),
  rowOf(7, { name: 'Same', city: 'Same' }),
]

const sorted = (made: ReturnType<typeof constructRows>): unknown => (isFailure(made) ? made : [...made].sort())

void t.test('a pattern about one row', (t) => {
  const oxigraph = openOxigraph(64 * 2 ** 20)
  const graph = 'BIND(IRI(CONCAT(STR(?base), "g/", ENCODE_FOR_URI(?id), "/")) AS ?g)'
  const rows: [name: string, query: string, isOfRow: boolean, triples: number][] = [
    ['columns alone', '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n }', true, 6],
    ['columns, one of which is optional', '{ ?r <urn:name> ?n ; <urn:city> ?c } WHERE { ?r <#name> ?n OPTIONAL { ?r <#city> ?c } }', true, 11], // prettier-ignore
    ['a name that follows from a column', `{ GRAPH ?g { ?g <urn:name> ?n ; <urn:node> [ <urn:of> ?id ] } } WHERE { ?r <#id> ?id ; <#name> ?n ${graph} }`, true, 12], // prettier-ignore
    ['a filter', `{ GRAPH ?g { ?g <urn:name> ?n } } WHERE { ?r <#id> ?id ; <#name> ?n . FILTER(STRLEN(?id) = 1) ${graph} }`, true, 2], // prettier-ignore
    ['a filter that looks at a column that may be empty', '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n OPTIONAL { ?r <#city> ?c } FILTER(!BOUND(?c)) }', true, 1], // prettier-ignore
    ['a name that several rows share', '{ GRAPH ?g { ?r <urn:name> ?n ; <urn:node> [ <urn:of> ?g ] } } WHERE { ?r <#name> ?n ; <#city> ?c BIND(IRI(CONCAT("urn:", ENCODE_FOR_URI(?c))) AS ?g) }', true, 15], // prettier-ignore
    ['a value that has an error', '{ ?r <urn:name> ?x } WHERE { ?r <#name> ?n BIND(?n + 1 AS ?x) }', true, 0],
    ['a number', '{ ?r <urn:id> ?x } WHERE { ?r <#id> ?n BIND(<http://www.w3.org/2001/XMLSchema#integer>(?n) AS ?x) }', true, 3], // prettier-ignore
    ['a variable that occurs twice', '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n ; <#city> ?n }', false, 1],
    ['any column', '{ ?r ?p ?o } WHERE { ?r ?p ?o }', false, 15],
    ['a constant', '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n ; <#city> "Ghent" }', false, 2],
    [
      'two alternatives',
      '{ ?r <urn:name> ?n } WHERE { ?r <#id> ?i { ?r <#name> ?n } UNION { ?r <#city> ?n } }',
      false,
      7,
    ],
    ['a condition on another pattern', '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n FILTER NOT EXISTS { ?r <#city> ?c } }', false, 1], // prettier-ignore
    ['a path', '{ ?r <urn:name> ?n } WHERE { ?r <#name>|<#city> ?n }', false, 10],
    ['two nodes', '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n . ?s <#city> ?c }', false, 5],
    [
      'a column after a filter',
      '{ ?r <urn:name> ?n } WHERE { ?r <#name> ?n FILTER(?n != "x") ?r <#city> ?c }',
      false,
      5,
    ],
  ]
  for (const [name, query, isOfRow, triples] of rows) {
    const construct = analyseConstruct(`CONSTRUCT ${query}`, BASE, 'https://localhost/')
    if (isFailure(construct)) {
      t.fail(`${name}: ${construct.detail}`)
      continue
    }
    t.equal(construct.ofRow !== undefined, isOfRow, name)
    const { query: select, batched, template, volatile } = construct
    const byGraphs = { query: select, template, volatile, ...(batched !== undefined && { batched }) }
    const seeded = { seed: 's', target: BASE }
    const made = constructRows(oxigraph, construct, ROWS, seeded)
    t.same(sorted(made), sorted(constructRows(oxigraph, byGraphs, ROWS, seeded)), `${name}: the same triples`)
    t.equal(isFailure(made) ? made.detail : new Set(made.map(String)).size, triples, `${name}: so many triples`)
  }
  t.end()
})
