// Minimised queries that once revealed hidden graphs, or lost rows of readable ones. Each is asked with every kind of
// right on every store (design 4). This finds leaks that come back; random queries (rights/restrict-query.test.ts) look
// for new ones.
import t, { type Test } from 'tap'
import { ACL, RDF } from '../../../../gateway/rdf/vocabulary.js'
import { MERGED_GRAPHS } from '../../../../policies/authorizations/reach.js'
import type { GraphRights } from '../../../../policies/authorizations/graph-rights.js'
import { FUSEKI_KINDS, hasKinds, overFuseki } from '../../../support/fuseki-kinds.js'
import { overOxigraph } from '../../../support/over-oxigraph.js'
import { compareCases, type ComparedStores } from '../../../support/over-views.js'
import { FUSEKI } from '../../../support/stores.js'
import { ME, noRights } from '../../../support/view-cases.js'

const [A, BELOW, D] = ['https://d.test/a/', 'https://d.test/a/b/', 'https://d.test/d/']
const NONE = noRights()
const RIGHTS: Readonly<Record<string, GraphRights>> = {
  names: { ...NONE, graphs: [A, BELOW] },
  'a class': { ...NONE, classes: ['urn:c:1'] },
  ownership: { ...NONE, owner: ME },
  'a container': { ...NONE, graphs: [A], prefixes: [A] },
  'names, in a shared store': { ...NONE, reach: { ...NONE.reach, alone: false }, graphs: [A, BELOW] },
}
const shown = (graph: string): readonly (readonly [triple: string, graph: string])[] =>
  [
    `<${graph}> <${RDF('type')}> <urn:c:1>`,
    `<${graph}> <${ACL('owner')}> <${ME}>`,
    '<urn:e:1> <urn:p> "shown"',
    '<urn:e:1> <urn:k> "literal"',
    '<urn:e:1> <urn:q> <urn:e:2>',
    '<urn:e:1> <urn:next> <urn:e:2>',
    '<urn:e:3> <urn:next> <urn:e:4>',
    '<urn:e:1> <urn:n> 4',
    '<urn:e:1> <urn:t> "2026-01-02T03:04:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
  ].map((triple) => [triple, graph])
const QUADS = [
  ...shown(A),
  ...shown(BELOW),
  [`<urn:e:1> <urn:only> "here"`, BELOW],
  // Hidden triples: they continue where the readable ones end, cause failures, and name them.
  ...[
    '<urn:e:1> <urn:p> "hidden"',
    '<urn:e:2> <urn:p> "hidden"',
    '<urn:e:2> <urn:p> "hidden"@en--ltr',
    '<urn:e:2> <urn:next> <urn:e:3>',
    '<urn:e:2> <urn:q> <urn:e:1>',
    '<urn:e:1> <urn:hidden> <urn:e:2>',
    '<urn:e:2> <urn:n> "P1M"^^<http://www.w3.org/2001/XMLSchema#yearMonthDuration>',
    '<urn:e:2> <urn:t> <urn:e:3>',
    '_:b <urn:p4> <urn:e:2>',
    `<${D}> <urn:q> <${A}>`,
    '<urn:e:1> <urn:is> <<( <urn:e:1> <urn:p> "hidden" )>>',
  ].map((triple) => [triple, D] as const),
  [`<urn:e:1> <urn:p> "default"`, ''],
] as const

const HERE = `GRAPH <${A}> { ?e <urn:n> 4 }`
const P = '?s <urn:p> ?o'
const MERGED = `FROM <${MERGED_GRAPHS}>`
const E = 'STRLEN(?o) / (STRLEN(?o) - 6)'
const EITHER = '{ GRAPH ?h { ?x <urn:n> ?y } } UNION { GRAPH ?h { ?x <urn:q> ?y } FILTER(?y = <urn:e:2> || ?y > 1) }'
const LESS = 'MINUS { ?a <urn:none> ?b }'
const ANY_NAME = 'FILTER(STRSTARTS(STR(?g), "https://d.test/"))'

// prettier-ignore
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'names of graphs': [
    `SELECT * { GRAPH ?g { ${P} } }`, 'SELECT ?g { GRAPH ?g { } }', `SELECT * { GRAPH <${D}> { ${P} } }`, `SELECT * FROM <${D}> { ${P} }`,
    `SELECT * FROM <${A}> FROM NAMED <${D}> { ${P} GRAPH ?g { ?s ?q ?x } }`, `SELECT * FROM <${A}> { GRAPH ?g { VALUES ?x { 1 } } }`,
    `SELECT * { VALUES ?g { <${D}> <${A}> } GRAPH ?g { ${P} } }`, `SELECT * { GRAPH ?g { ${P} } VALUES (?g ?z) { (<${D}> 2) } }`, `SELECT * { BIND(IRI("${D}") AS ?g) GRAPH ?g { ${P} } }`,
    `SELECT * { GRAPH ?g { ${P} } FILTER(?g = <${D}>) }`, `SELECT * { GRAPH ?g { ?g ?q ?x } }`, `SELECT * { GRAPH ?g { ${P} } GRAPH ?x { ?x <urn:q> ?g } }`,
    `SELECT * { GRAPH ?g { ${P} OPTIONAL { ?g <urn:q> ?x } } }`, `SELECT * { GRAPH ?g { ${ANY_NAME} ${P} } }`, `SELECT * { GRAPH ?g { ${P} GRAPH ?h { ?s <urn:q> ?x } } }`,
    'CONSTRUCT { ?s <urn:in> ?g } { GRAPH ?g { ?s <urn:p> ?o BIND(STR(?g) AS ?k) } }', 'SELECT (COUNT(DISTINCT ?g) AS ?c) { GRAPH ?g { ?s ?p ?o } }',
  ],
  'the default graph and the merge': [
    `SELECT * { ${P} }`, 'SELECT * { ?s <urn:next>/<urn:next> ?o }', 'SELECT * { <urn:e:1> <urn:next>+ ?o }', 'SELECT * { ?s <urn:p> ?o . ?s <urn:q> ?x }', 'ASK { ?s ?p "hidden" }',
    `SELECT * ${MERGED} { ${P} }`, `SELECT * ${MERGED} { ${P} GRAPH ?g { ?s <urn:only> ?x } }`, `SELECT * ${MERGED} FROM NAMED <${D}> { ${P} GRAPH ?g { ?s ?q ?x } }`, `SELECT * ${MERGED} { ?s ?p ?o OPTIONAL { ?a ?o ?b . ?b ?c ?d } }`,
    `SELECT (COUNT(*) AS ?c) ${MERGED} { ${P} }`, `SELECT * ${MERGED} { ?s !(<urn:p>|^<urn:q>) ?o }`, 'DESCRIBE <urn:e:1>', `DESCRIBE <${D}>`, 'SELECT (COUNT(DISTINCT *) AS ?n) { [] ?p ?o }',
  ],
  'sub-queries in GRAPH': [
    `SELECT * { GRAPH ?g { SELECT ?s { ${P} } } }`, `SELECT * { GRAPH ?g { { SELECT (COUNT(*) AS ?c) { ${P} } } ?s <urn:only> ?x } }`, `SELECT * { GRAPH ?g { SELECT ?g ?s { ${P} } } }`,
    `SELECT * { VALUES ?g { <urn:none> } GRAPH ?g { SELECT ?s { ${P} } } }`, `SELECT * { GRAPH ?g { SELECT (MAX(?o) AS ?x) { ${P} } } }`, `SELECT * { GRAPH ?g { SELECT DISTINCT * { ${P} } } ${ANY_NAME} }`,
    'SELECT * { { SELECT ?x ?y { } } GRAPH ?x { ?s <urn:p> ?o } }', 'SELECT * { GRAPH ?x { ?s <urn:p> ?o } { SELECT ?x (COUNT(*) AS ?n) { } GROUP BY ?x } }', `SELECT * { GRAPH ?g { ?y <urn:none> ?v { SELECT (COUNT(*) AS ?n) { ${P} } } } }`,
    `SELECT * { { SELECT ?o { GRAPH ?g { ${P} } } ORDER BY ?o LIMIT 2 } }`, 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <urn:p>/^<urn:p> ?s } GRAPH ?g { SELECT * { } } }',
  ],
  OPTIONAL: [
    `SELECT * { ${HERE} OPTIONAL { GRAPH ?g { ?e <urn:hidden> ?x } } }`, `SELECT * { GRAPH ?g { ?s <urn:n> ?n } OPTIONAL { GRAPH ?g { ${P} } } }`, `SELECT * { GRAPH ?g { ?s <urn:n> ?n OPTIONAL { ${P} } } }`,
    `SELECT * { GRAPH ?g { OPTIONAL { ${P} } } }`, 'SELECT * { GRAPH ?g { OPTIONAL { ?z <urn:hidden> ?w } ?s <urn:next>? <urn:e:2> } }', 'SELECT * { GRAPH ?g { ?s ?p ?y OPTIONAL { ?s ?q ?t OPTIONAL { ?y ?r ?z } } } }',
    `SELECT * { ${HERE} OPTIONAL { ?e <urn:hidden> ?x } }`, `SELECT ?g (COUNT(?o) AS ?c) { GRAPH ?g { ?g a ?t OPTIONAL { ${P} FILTER(?s != ?g) } } } GROUP BY ?g`, `SELECT * { GRAPH ?g { ?s <urn:n> ?n } OPTIONAL { GRAPH ?h { ${P} } FILTER(?g = ?h) } }`,
    `SELECT * { GRAPH ?g { ?s <urn:n> ?n } OPTIONAL { GRAPH ?g { ?s <urn:p> ?o } OPTIONAL { GRAPH ?g { ?s <urn:q> ?u } } } FILTER(?g IN (<${A}>, <${D}>)) }`, `SELECT * { OPTIONAL { GRAPH ?g { ?s <urn:none> ?x } } GRAPH ?h { ${P} } FILTER(!BOUND(?x)) }`,
    'SELECT * { GRAPH ?g { ?v ?q ?v OPTIONAL { ?x ?p <urn:e:2> { } UNION { ?v <urn:next> ?w . ?x <urn:next> ?z } } } }',
  ],
  'EXISTS and MINUS': [
    `SELECT * { ${HERE} FILTER EXISTS { GRAPH ?g { ?e <urn:hidden> ?x } } }`, `SELECT * { ${HERE} FILTER NOT EXISTS { ?e <urn:hidden> ?x } }`, `SELECT * { ${HERE} MINUS { GRAPH ?g { ?e <urn:hidden> ?x } } }`, `SELECT * { ${HERE} MINUS { ?e <urn:hidden> ?x } }`,
    `SELECT * { GRAPH ?g { { FILTER EXISTS { ?e <urn:hidden> ?x } } ${P} } }`, `SELECT * { GRAPH ?g { ${P} FILTER EXISTS { ?s <urn:n> ?x MINUS { GRAPH ?h { ?y <urn:hidden> ?z } } } } }`, `SELECT * { GRAPH ?g { ?y <urn:none> ?v { ${P} ${LESS} ?c ?r ?d } } }`,
    `SELECT (COUNT(?o) AS ?c) { GRAPH ?g { ${P} } } GROUP BY ?s HAVING (EXISTS { GRAPH <${D}> { ?s ?p ?x } })`, `SELECT (EXISTS { GRAPH ?g { ?e <urn:hidden> ?x } } AS ?y) { ${HERE} }`, `SELECT * { GRAPH ?g { MINUS { ?s <urn:none> ?o } } ${ANY_NAME} }`,
    'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { ?x <urn:none> ?z { OPTIONAL { ?z <urn:p> ?v } } } }', 'SELECT * { ?s <urn:p> ?o FILTER EXISTS { MINUS { ?s <urn:hidden> ?x } } }', `SELECT * { FILTER EXISTS { GRAPH <${A}> { ?w ?p ?z } } MINUS { ?a <urn:none> ?b } GRAPH ?g { SELECT ?x { ?x <urn:p> ?w } } }`,
  ],
  paths: [
    'SELECT * { GRAPH ?g { <urn:e:1> <urn:next>+ ?y } }', 'SELECT * { GRAPH ?g { <urn:e:1> <urn:next>* ?y . ?y <urn:p> ?v } }', 'SELECT * { GRAPH ?g { ?g <urn:q>* ?y } }', 'SELECT * { GRAPH ?g { ?s <urn:next>/<urn:next> ?o } }',
    `SELECT * { ${HERE} OPTIONAL { GRAPH ?g { ?e <urn:next>+ ?y } } }`, `SELECT * { ${HERE} FILTER EXISTS { GRAPH ?g { ?e <urn:next>+ <urn:e:3> } } }`, `SELECT * { GRAPH ?h { <urn:e:2> ?q ?x } GRAPH <${A}> { ?x <urn:next>* ?y } }`, `SELECT * FROM <${A}> FROM <${D}> { <urn:e:1> <urn:next>+ ?y }`,
    `SELECT * ${MERGED} { <urn:e:1> <urn:next>+ ?y }`, 'SELECT * { ?s <urn:next>? ?o }', 'SELECT * { GRAPH ?g { ?s (<urn:next>|^<urn:q>) ?o } }', 'SELECT * { GRAPH ?g { ?s !<urn:p> ?o } }', 'SELECT * { MINUS { } ?x ?q ?v . GRAPH ?g { ?v <urn:none>? ?v } }',
  ],
  'values that fail to be computed': [
    'SELECT * { GRAPH ?g { ?s <urn:t> ?o BIND(HOURS(?o) AS ?x) } }', 'SELECT * { GRAPH ?g { ?s <urn:t> ?o } BIND(TZ(?o) AS ?x) }', `SELECT * { GRAPH ?g { ${P} BIND(${E} AS ?x) } }`, `SELECT * { GRAPH ?g { SELECT (SUM(${E}) AS ?x) { ${P} } } }`,
    'SELECT * { GRAPH ?g { ?s <urn:n> ?o BIND(?o / 3 AS ?x) } }', `SELECT * { GRAPH ?g { ${P} BIND(REPLACE(?o, "hid", "$") AS ?x) } }`, `SELECT * { ${HERE} OPTIONAL { GRAPH ?g { ${P} BIND(${E} AS ?x) } } }`, `SELECT * { GRAPH ?g { ?s <urn:n> ?n OPTIONAL { ${P} FILTER(${E} > 0) } } }`,
    `SELECT * { ${HERE} FILTER NOT EXISTS { GRAPH ?g { ?z <urn:p> ?o BIND(${E} AS ?x) FILTER(?x > 5) } } }`, `SELECT * { GRAPH ?g { ${P} } FILTER(${E} > -9) }`, 'SELECT * { GRAPH ?g { ?s <urn:n> ?n FILTER(?n - ?n > -1) } }', `SELECT * { GRAPH ?g { ${P} FILTER(REGEX(?o, "^(h|i)*dden$")) } }`,
    'SELECT * { GRAPH ?g { ?s <urn:n> ?n } { SELECT (SUM(?m) AS ?all) { GRAPH ?h { ?x <urn:n> ?m } } } }', `SELECT ?s { GRAPH ?g { ${P} } } GROUP BY ?s ORDER BY MAX(?o)`,
  ],
  'alternatives and conditions': [
    `SELECT * { ${EITHER} GRAPH ?g { ?a <urn:hidden> ?c } }`, `SELECT * { GRAPH ?g { ?a <urn:p> ?c } ${EITHER} }`, `SELECT * { { ${EITHER} } GRAPH ?g { ?a <urn:p> ?c } }`, `SELECT * { ${HERE} FILTER EXISTS { ${EITHER} GRAPH ?g { ?a <urn:hidden> ?c } } }`,
    `SELECT * { ${HERE} OPTIONAL { ${EITHER} GRAPH ?g { ?a <urn:hidden> ?c } } }`, `SELECT * { ${EITHER} ?a <urn:hidden> ?c }`, `SELECT * { ${EITHER} <urn:e:1> <urn:hidden> <urn:e:2> }`, 'SELECT ?v ?q { [] ?q ?z } VALUES (?v ?k) { (UNDEF 1) (UNDEF 1) }',
    'SELECT * { { ?s <urn:p> ?o } UNION { GRAPH ?g { ?s <urn:hidden> ?o } } }', `SELECT * { ${P} . ?s ?q ?z { GRAPH ?x { ?a <urn:q> ?c } } UNION { SELECT ?x { } } }`,
  ],
  'terms that cannot be predicates or graphs': [
    `SELECT * { GRAPH ?h { ?s <urn:k> ?z } GRAPH ?g { ?x ?z "a" . ?y <urn:q> ?w } }`, 'SELECT * { GRAPH ?g { ?z <urn:p4> ?v OPTIONAL { ?x ?z "a" . ?y <urn:q> ?w } } }', 'SELECT * { GRAPH ?g { ?z <urn:p4> ?v } GRAPH ?h { ?x ?z "a" . ?y <urn:q> ?w } }',
    'SELECT * { GRAPH ?g { ?s <urn:is> ?o } OPTIONAL { GRAPH ?o { ?a ?q ?b } } }', 'SELECT * { GRAPH ?g { ?s <urn:is> ?o . ?a ?o ?b . ?b ?c ?d } }', 'SELECT * { GRAPH ?g { ?s ?p ?o OPTIONAL { ?p <urn:label> ?l } } }',
  ],
}

async function judge(t: Test, stores: ComparedStores, kinds: readonly string[]): Promise<void> {
  for (const kind of kinds) {
    const cases = Object.values(QUERIES).flatMap((queries) =>
      queries.map((query) => ({ quads: QUADS, rights: RIGHTS[kind]!, query, compared: 'rows' as const })),
    )
    const { leaks, different, filled, unanswerable } = await compareCases(stores, cases, kind)
    t.same(leaks, [], `rights by ${kind}: hidden data changes no answer`)
    t.same(different, [], `rights by ${kind}: the answer equals that of a store with only readable data`)
    t.ok(filled > cases.length / 3 && unanswerable < cases.length / 4, `${filled} filled, ${unanswerable} refused`)
  }
}

void t.test('the corpus on Oxigraph', (t) => judge(t, overOxigraph(), Object.keys(RIGHTS)))

const hasFuseki = FUSEKI !== undefined && (await hasKinds(FUSEKI))
const skip = process.env['CI'] !== 'true' && !hasFuseki && 'no Fuseki with these datasets: npm test starts one'
for (const kind of FUSEKI_KINDS) {
  void t.test(`the corpus on ${kind}`, { skip }, async (t) => {
    const stores = overFuseki(FUSEKI!, kind, 'corpus')
    t.teardown(stores.close)
    await judge(t, stores, ['names', 'a class', 'a container'])
  })
}
