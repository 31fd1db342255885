// Paths on which Jena runs out of stack: none leads through a hidden graph, so that its length has no effect (design
// 4).
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { overView } from '../../../../gateway/sparql/rights/restrict-query.js'
import { FUSEKI_KINDS, hasKinds, overFuseki } from '../../../support/fuseki-kinds.js'
import { read, rowsOfEach } from '../../../support/over-views.js'
import { FUSEKI } from '../../../support/stores.js'
import { groundsOf, noRights } from '../../../support/view-cases.js'

const [READABLE, OTHER, HIDDEN] = ['https://d.test/a/', 'https://d.test/a/b/', 'http://x.test/g']
const NONE = noRights()
const RIGHTS = {
  name: { ...NONE, graphs: [READABLE, OTHER] },
  class: { ...NONE, classes: ['urn:c:1'] },
  container: { ...NONE, prefixes: ['https://d.test/'] },
}
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const chain = (length: number, graph: string, step = 'next'): readonly (readonly [string, string])[] =>
  Array.from({ length }, (_, i) => [`<urn:n:${i}> <urn:${step}> <urn:n:${i + 1}>`, graph] as const)
/** A path with this many steps needs more than the stack of a Java thread. */
const DEEP = 6000
const SEEN = [
  ...[READABLE, OTHER].map((graph) => [`<${graph}> <${TYPE}> <urn:c:1>`, graph] as const),
  ...chain(4, READABLE),
  ['<urn:n:2> <urn:p> "two"', READABLE],
  ['<urn:n:0> <urn:p> "zero"', OTHER],
  ['<urn:n:0> <urn:next> _:b', OTHER],
  ...chain(DEEP, READABLE, 'far'),
] as const
const UNSEEN = [
  ...chain(DEEP, HIDDEN),
  ['<urn:n:0> <urn:p> "zero"', HIDDEN],
  ['<urn:guess> <urn:p> <urn:n:0>', HIDDEN],
] as const

// prettier-ignore
const ROWS: readonly (readonly [name: string, isExact: boolean, query: string])[] = [
  ['a path', true, 'SELECT * { GRAPH ?g { <urn:n:0> <urn:next>* ?y } }'],
  ['a path of a step at least', true, 'SELECT * { GRAPH ?g { ?x <urn:next>+ <urn:n:3> } }'],
  ['behind triples', true, 'SELECT * { GRAPH ?g { ?x <urn:p> ?v . ?x <urn:next>* ?y } }'],
  ['before triples', true, 'SELECT * { GRAPH ?g { <urn:n:0> <urn:next>* ?y . ?y <urn:p> ?v } }'],
  ['with a FILTER', true, 'SELECT * { GRAPH ?g { <urn:n:0> <urn:next>+ ?y FILTER(?y != <urn:n:1>) } }'],
  ['with a blank node', true, 'SELECT * { GRAPH ?g { [] <urn:p> "zero" ; <urn:next>+ ?y } }'],
  ['from the name of the graph', true, 'SELECT * { GRAPH ?g { ?g <urn:next>* ?y } }'],
  ['a part of a path', true, 'SELECT * { GRAPH ?g { <urn:n:0> <urn:next>*/<urn:p> ?v } }'],
  ['in alternatives', true, 'SELECT * { { GRAPH ?g { <urn:n:0> <urn:next>+ ?y } } UNION { GRAPH ?g { ?x <urn:p> ?v } } }'],
  ['next to other patterns', true, 'SELECT * { GRAPH ?h { ?x <urn:p> ?v } GRAPH ?g { ?x <urn:next>+ ?y } MINUS { ?x <urn:none> ?z } }'],
  ['in MINUS', true, 'SELECT * { GRAPH ?h { ?x <urn:p> ?v } MINUS { GRAPH ?g { ?x <urn:next>+ ?y } } }'],
  ['around a sub-query', true, 'SELECT * { { SELECT ?g (COUNT(*) AS ?c) { GRAPH ?g { <urn:n:0> <urn:next>+ ?y } } GROUP BY ?g } }'],
  ['in OPTIONAL', false, 'SELECT * { GRAPH ?h { ?x <urn:p> ?v } OPTIONAL { GRAPH ?g { ?x <urn:next>+ ?y } } }'],
  ['in EXISTS', false, 'SELECT * { GRAPH ?h { ?x <urn:p> ?v } FILTER EXISTS { GRAPH ?g { ?x <urn:next>+ ?y } } }'],
  ['from hidden data, through readable data', true, `SELECT * { GRAPH ?h { <urn:guess> ?q ?x } GRAPH <${READABLE}> { ?x <urn:far>* ?y } }`],
  ['the same in OPTIONAL', true, `SELECT * { GRAPH ?h { <urn:guess> ?q ?x } OPTIONAL { GRAPH <${READABLE}> { ?x <urn:far>* ?y } } }`],
  ['the same in EXISTS', false, `SELECT * { GRAPH ?h { <urn:guess> ?q ?x } FILTER EXISTS { GRAPH <${READABLE}> { ?x <urn:far>* <urn:none> } } }`],
  ['in EXISTS in GRAPH', false, 'SELECT * { GRAPH ?g { ?x <urn:p> ?v FILTER EXISTS { ?x <urn:next>+ ?y } } }'],
  ['in a sub-query in GRAPH', false, 'SELECT * { GRAPH ?g { SELECT ?y { <urn:n:0> <urn:next>* ?y } } }'],
  ['members of a container', false, 'SELECT * { GRAPH ?g { ?c <http://www.w3.org/2000/01/rdf-schema#member> ?m } }'],
]

const hasFuseki = FUSEKI !== undefined && (await hasKinds(FUSEKI))
const skip = process.env['CI'] !== 'true' && !hasFuseki && 'no Fuseki with these datasets: npm test starts one'
for (const kind of FUSEKI_KINDS) {
  for (const [ground, rights] of Object.entries(RIGHTS)) {
    void t.test(`on ${kind}, rights by ${ground}`, { skip }, async (t) => {
      const stores = overFuseki(FUSEKI!, kind, 'deep')
      t.teardown(stores.close)
      await stores.load([...SEEN, ...UNSEEN], SEEN)
      const sight = {
        rights,
        store: await stores.traits(),
        nothing: 'urn:test:nothing',
        grounds: groundsOf({ quads: SEEN, rights }),
      }
      for (const [name, isExact, query] of ROWS) {
        const restricted = overView(read(query)!, sight)
        t.equal(!isFailure(restricted), isExact, `${name}: ${query}`)
        if (isFailure(restricted)) continue
        const [got, overVisible, wanted] = await rowsOfEach(stores, restricted.text, query)
        t.same(got, overVisible, `${name}: nothing hidden decides, ${query}`)
        t.same(got, wanted, `${name}: ${query}`)
      }
    })
  }
}
