// GRAPHs with constant names only are restricted in a shorter way. It gives the same result as the longer way, which
// restricts the same query inside one more pair of braces.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { analyseQuery } from '../../../../gateway/sparql/language/analysis.js'
import { overView, type StoreTraits } from '../../../../gateway/sparql/rights/restrict-query.js'
import type { Grounds } from '../../../../gateway/sparql/rights/restriction.js'
import { OXIGRAPH } from '../../../../gateway/stores/oxigraph-traits.js'
import type { Ground } from '../../../../policies/authorizations/graph-rights.js'
import { randomCase } from '../../../support/view-cases.js'

const BASE = randomCase(0).rights.reach.base
const [NAMED, BELOW, OWNED, TYPED, HIDDEN] = ['named/', 'open/a/', 'owned/', 'typed/', 'hidden/'].map(
  (name) => BASE + name,
)
const RIGHTS = {
  reach: { ...randomCase(0).rights.reach, alone: true },
  ...{ everything: false, documents: false, others: false, defaultGraph: false, items: true, containers: false },
  ...{ graphs: [NAMED!], prefixes: [`${BASE}open/`], otherPrefixes: [], classes: ['urn:c:1'] },
  ...{ owner: 'https://d.test/me#i', fingerprint: '' },
}
const GROUNDS: Grounds = new Map<string, Ground>([
  [OWNED!, { property: 'urn:owner', value: 'https://d.test/me#i' }],
  [TYPED!, 'no-container'],
])
const JENA: StoreTraits = { ...OXIGRAPH, isJena: true, showsName: false, listsGraphs: false }
const STORES: readonly StoreTraits[] = [
  OXIGRAPH,
  JENA,
  { ...JENA, defaultGraph: 'union' },
  { ...JENA, asQuads: false, looksInItself: false, isJena: false },
]

const oneOf = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts)
const joined = (each: fc.Arbitrary<string>, least: number, most: number): fc.Arbitrary<string> =>
  fc.array(each, { minLength: least, maxLength: most }).map((all) => all.join(' '))
const TRIPLE = fc
  .tuple(
    oneOf('<urn:e:1>', `<${NAMED}>`, '?s', '?o', '_:b'),
    oneOf('<urn:p:1>', 'a', '?p', '?o', '<urn:p:1>+'),
    oneOf('?o', '"a"', '?s', '<<( ?s ?p ?o )>>'),
  )
  .map((parts) => `${parts.join(' ')} .`)
const CONDITION = oneOf(
  'FILTER(?o > 1)',
  'FILTER(?o = ?s || ?p IN (<urn:p:1>))',
  'FILTER(STR(?s) = "a")',
  `FILTER EXISTS { GRAPH <${HIDDEN}> { ?s ?p ?o } }`,
)
const GRAPH = fc
  .tuple(
    oneOf(NAMED!, BELOW!, OWNED!, TYPED!, HIDDEN!, 'urn:other'),
    joined(TRIPLE, 0, 2),
    joined(CONDITION, 0, 1),
    joined(TRIPLE, 0, 1),
  )
  .map(([name, ...inside]) => `GRAPH <${name}> { ${inside.join(' ')} }`)
const WHERE = fc
  .tuple(joined(fc.oneof({ weight: 3, arbitrary: GRAPH }, CONDITION), 1, 3), fc.boolean())
  .map(([where, isTwice]) => (isTwice ? `${where} ${where}` : where))
const HEAD = oneOf(
  'SELECT *',
  'SELECT DISTINCT ?s',
  'SELECT (COUNT(*) AS ?n)',
  'SELECT (?s = ?o AS ?is)',
  'ASK',
  'CONSTRUCT { ?s ?p ?o }',
  `SELECT (EXISTS { GRAPH <${HIDDEN}> { ?s ?p ?o } } AS ?is)`,
)
const END = oneOf(
  '',
  'LIMIT 3',
  'ORDER BY DESC(?s) LIMIT 2 OFFSET 1',
  'GROUP BY ?s HAVING (COUNT(*) > 1) (?s != <urn:e:2>)',
  'VALUES ?s { <urn:e:1> }',
)

void t.test('the shorter way gives the same result as the longer one', (t) => {
  const within = (query: string, store: StoreTraits, isListed: boolean) => {
    const analysis = analyseQuery(query, BASE)
    if (isFailure(analysis) || !analysis.tree) return undefined
    return overView(analysis.tree, { rights: RIGHTS, store, grounds: GROUNDS, nothing: 'urn:nothing', isListed })
  }
  const isSame = (
    [head, where, end]: readonly [string, string, string],
    store: StoreTraits,
    isListed: boolean,
  ): void => {
    const [short, long] = [where, `{ ${where} }`].map((each) =>
      within(`${head} WHERE { ${each} } ${end}`, store, isListed),
    )
    if (!short || isFailure(short)) return assert.deepEqual(long, short)
    const text = short.text.replace(/WHERE \{ (.*?) \}( (?:GROUP|ORDER|LIMIT|VALUES)\b.*)?$/, 'WHERE { { $1 } }$2')
    assert.deepEqual(long, { ...short, text })
  }
  const property = fc.property(fc.tuple(HEAD, WHERE, END), fc.constantFrom(...STORES), fc.boolean(), isSame)
  // Random queries rarely contain this: RDF4J would read other graphs, so another variable replaces the name.
  const named = ['SELECT *', `GRAPH <${NAMED}> { <${NAMED}> a ?o }`, ''] as [string, string, string]
  fc.assert(property, { numRuns: 3000, examples: [[named, STORES.at(-1)!, false]] })
  t.end()
})
