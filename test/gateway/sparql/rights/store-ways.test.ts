// Queries that a store evaluates in its own way: with restrictions it evaluates them in the same way, or the query is
// refused (design 4). Each row was a difference that `npm run fuzz` found.
import t, { type Test } from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import type { GraphRights } from '../../../../policies/authorizations/graph-rights.js'
import { FUSEKI_KINDS, hasKinds, overFuseki, type FusekiKind } from '../../../support/fuseki-kinds.js'
import { overOxigraph } from '../../../support/over-oxigraph.js'
import { overView } from '../../../../gateway/sparql/rights/restrict-query.js'
import { read, type ComparedStores } from '../../../support/over-views.js'
import { FUSEKI } from '../../../support/stores.js'
import { groundsOf, randomCase, visible } from '../../../support/view-cases.js'

const [A, B] = ['https://d.test/a/', 'https://d.test/b/']
const NAMED: GraphRights = {
  reach: { ...randomCase(0).rights.reach, alone: true },
  ...{ everything: false, documents: false, others: false, defaultGraph: true, items: false, containers: false },
  ...{ graphs: [A], prefixes: [], otherPrefixes: [], classes: [], owner: undefined, fingerprint: '' },
}
/** The query tests `FROM <a>`. */
const TYPED: GraphRights = { ...NAMED, graphs: [], classes: ['urn:c:1'] }
const SEEN = [
  ['<urn:e:1> <urn:p> <urn:e:2>', A],
  ['<urn:e:3> <urn:p> <urn:e:4>', A],
  ['<urn:e:3> <urn:q> <urn:e:1>', A],
  ['<urn:e:2> <urn:q> <urn:e:5>', A],
  [`<${A}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:c:1>`, A],
  // In the default graph.
  ['<urn:e:6> <urn:p> <urn:e:7>', ''],
] as const
const HIDDEN = [
  ['<urn:e:1> <urn:q> <urn:e:5>', B],
  ['<urn:e:1> <urn:hidden> <urn:e:5>', B],
] as const
/** The default graph of a store that dataspaces share: the merge of readable graphs, which the query reads. */
const SHARED: GraphRights = { ...NAMED, reach: { ...NAMED.reach, alone: false }, defaultGraph: false }

/** Jena loses a FILTER next to this. */
const ALTERNATIVES =
  '{ GRAPH ?h { ?x <urn:p> ?y } } UNION { GRAPH ?h { ?x <urn:q> ?y } FILTER(?y = <urn:e:2> || ?y > 1) }'

type Kind = FusekiKind | typeof EMBEDDED
const EMBEDDED = 'embedded'
const TDB2 = ['fuseki-union', 'tdb2'] as const
const UNION = ['fuseki-union'] as const
// prettier-ignore
const ROWS: readonly (readonly [name: string, query: string, refused?: readonly Kind[]])[] = [
  ['a sub-query selects the name of a GRAPH next to it, without a value', 'SELECT * { { SELECT ?x ?y { } } GRAPH ?x { ?s <urn:p> ?o } }'],
  ['the same in GRAPH', 'SELECT * { GRAPH ?g { SELECT DISTINCT ?x ?y { } } GRAPH ?x { ?s <urn:p> ?o } }'],
  ['the same in groups', 'SELECT * { GRAPH ?x { ?s <urn:p> ?o } { SELECT ?x (COUNT(*) AS ?n) { } GROUP BY ?x } }'],
  ['the same VALUES', 'SELECT * { GRAPH ?x { ?s <urn:p> ?y } VALUES (?x ?y) { (UNDEF <urn:e:2>) (<urn:none> UNDEF) } }'],
  ['the same in OPTIONAL', 'SELECT * { OPTIONAL { GRAPH ?x { ?s <urn:p> ?o } { SELECT ?x (COUNT(*) AS ?n) { } GROUP BY ?x } } }'],
  ['a sub-query selects * with a blank node, next to a FILTER', 'SELECT * { { SELECT * { ?s <urn:p> [] OPTIONAL { ?s <urn:q> ?x } } } OPTIONAL { ?x <urn:p> ?y } FILTER(!BOUND(?x) || ?x != <urn:e:1>) }'],
  ['the same: each row once', 'SELECT * { { SELECT DISTINCT * { ?s <urn:p> [] OPTIONAL { ?s <urn:q> ?x } } } OPTIONAL { ?x <urn:p> ?y } FILTER(!BOUND(?x) || ?x != <urn:e:1>) }', UNION],
  ['the same on a variable that always has a value', 'SELECT * { { SELECT DISTINCT * { ?s <urn:p> [] OPTIONAL { ?s <urn:q> ?x } } } FILTER(?s != <urn:e:1>) }'],
  ['the same in GRAPH', 'SELECT * { GRAPH ?g { { SELECT * { ?s <urn:p> [] OPTIONAL { ?s <urn:q> ?x } } } FILTER(!BOUND(?x) || ?x != <urn:e:1>) } }', TDB2],
  ['DISTINCT * is counted over a blank node', 'SELECT (COUNT(DISTINCT *) AS ?n) { [] ?p ?o }', UNION],
  ['the same in a sub-query', 'SELECT * { GRAPH ?g { SELECT (COUNT(DISTINCT *) AS ?n) { [] ?p ?o } } }', [...TDB2, EMBEDDED]],
  ['the same over a path', 'SELECT * { GRAPH ?g { SELECT (COUNT(DISTINCT *) AS ?n) { ?s <urn:p>/<urn:q> ?o } } }', [...TDB2, EMBEDDED]],
  ['the same over a sub-query', 'SELECT (COUNT(DISTINCT *) AS ?n) { { SELECT * { ?s <urn:p> [] } } }', UNION],
  ['a FILTER on the name of a GRAPH that begins with nothing, with a value later', `SELECT * { GRAPH ?g { MINUS { ?s ?p ?o } } VALUES ?g { <${A}> } FILTER(STRSTARTS(STR(?g), "https://d.test/")) }`, TDB2],
  ['the same without a value', 'SELECT * { GRAPH ?g { MINUS { ?s ?p ?o } } FILTER(STRSTARTS(STR(?g), "https://d.test/")) }'],
  ['the same if triples bind it', 'SELECT * { GRAPH ?g { ?s ?p ?o MINUS { ?s <urn:p> ?o } } FILTER(STRSTARTS(STR(?g), "https://d.test/")) }'],
  ['the same if a group of triples binds it', 'SELECT * { GRAPH ?g { { ?s <urn:p> ?o } UNION { ?s <urn:q> ?o } } FILTER(STRSTARTS(STR(?g), "https://d.test/")) }'],
  ['the same if a sub-query binds it', 'SELECT * { GRAPH ?g { SELECT DISTINCT * { ?s <urn:p> ?o } } FILTER(STRSTARTS(STR(?g), "https://d.test/")) }'],
  ['a FILTER in GRAPH on its name', 'SELECT * { GRAPH ?g { FILTER(STRSTARTS(STR(?g), "https://d.test/")) ?s ?p ?o } }'],
  ['an OPTIONAL in GRAPH on its name', 'SELECT * { GRAPH ?g { ?s <urn:p> ?o OPTIONAL { ?g <urn:q> ?x } } }'],
  ['a FILTER in GRAPH on its name, in a separate group', 'SELECT * { { SELECT ?g ?s { } } OPTIONAL { GRAPH ?g { FILTER(STRSTARTS(STR(?g), "https://d.test/")) ?s ?p ?o } } }', FUSEKI_KINDS],
  ['the same next to the same GRAPH', 'SELECT * { GRAPH ?g { ?s ?p ?o } GRAPH ?g { FILTER(STRSTARTS(STR(?g), "https://d.test/")) } }', FUSEKI_KINDS],
  ['the same in EXISTS', 'SELECT * { ?x <urn:q> ?z FILTER NOT EXISTS { GRAPH ?x { FILTER EXISTS { ?y <urn:p> ?x } } } }', FUSEKI_KINDS],
  ['OPTIONAL in GRAPH before the triples that bind the graph', 'SELECT * { GRAPH ?g { OPTIONAL { ?z <urn:hidden> ?w } ?s <urn:p>? <urn:e:2> } }'],
  ['OPTIONAL alone in GRAPH, whose name has a value elsewhere', `SELECT * { GRAPH ?g { OPTIONAL { ?s <urn:p> ?o } } VALUES ?g { <urn:none> <${A}> } }`, TDB2],
  ['the same without a value elsewhere', 'SELECT * { GRAPH ?g { OPTIONAL { ?s <urn:p> ?o } } }'],
  ['MINUS in EXISTS on the name of the GRAPH around', 'SELECT * { GRAPH ?g { ?s <urn:p> ?o FILTER EXISTS { ?s <urn:p> ?x MINUS { GRAPH ?g { ?y <urn:q> ?z } } } } }', TDB2],
  ['the same on another name', 'SELECT * { GRAPH ?g { ?s <urn:p> ?o FILTER EXISTS { ?s <urn:p> ?x MINUS { GRAPH ?h { ?y <urn:q> ?z } } } } }'],
  ['the same in a sub-query', 'SELECT * { GRAPH ?g { ?s <urn:q> ?o OPTIONAL { OPTIONAL { ?z <urn:hidden> ?w } ?x <urn:p> ?y } } }'],
  ['a sub-query that begins with OPTIONAL, next to GRAPH of the same name', 'SELECT * { GRAPH ?g { ?v <urn:p> ?z { SELECT DISTINCT ?x ?y { OPTIONAL { ?y <urn:q> ?v } GRAPH ?g { ?v ?q ?v } } } } }', TDB2],
  ['SELECT * { } in GRAPH, next to another', 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <urn:p>/^<urn:p> ?s } GRAPH ?g { SELECT * { } } }', [...TDB2, EMBEDDED]],
  ['equal rows of VALUES, after the query', 'SELECT ?v ?q { [] ?q ?z } VALUES (?v ?k) { (UNDEF 1) (UNDEF 1) }'],
  ['equal rows before the merge of graphs', 'SELECT ?v ?s { { SELECT ?v { VALUES (?v ?k) { (1 1) (1 2) } } } ?s <urn:p> ?o }'],
  ['two patterns of the default graph, next to a name that a sub-query leaves unbound', 'SELECT * { ?s <urn:p> ?o . ?s ?q ?z { GRAPH ?x { ?a <urn:q> ?c } } UNION { SELECT ?x { } } }'],
  ['an EXISTS with variables that a sub-query does not select, next to a leading MINUS', `SELECT * { FILTER EXISTS { GRAPH <${A}> { ?w ?p ?z } } MINUS { ?a <urn:none> ?b } GRAPH ?g { SELECT ?x { ?x <urn:p> ?w . ?x ?q ?z } ORDER BY ?x } }`, ["fuseki"]],
  ['FROM without FROM NAMED: no graph', `SELECT * FROM <${A}> { GRAPH ?g { VALUES ?x { 1 } } }`],
  ['the same OPTIONAL', `SELECT * FROM <${A}> { ?s <urn:p> ?o GRAPH ?g { OPTIONAL { ?s <urn:q> ?x } } }`],
  ['FROM NAMED: this graph', `SELECT * FROM <${A}> FROM NAMED <${A}> { GRAPH ?g { MINUS { ?s <urn:none> ?o } } }`],
  ['a leading MINUS, next to a path', 'SELECT * { MINUS { } ?x ?q ?v . GRAPH ?g { ?v <urn:none>? ?v } }'],
  ['a group of OPTIONAL in NOT EXISTS, next to a pattern that matches nothing', 'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { ?x <urn:none> ?z { OPTIONAL { ?z <urn:p> ?v } } } }'],
  ['the same next to others in the group', 'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { ?x <urn:none> ?z { ?y <urn:p> ?w OPTIONAL { ?z <urn:p> ?v } } } }'],
  ['the same in a sub-query', 'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { ?x <urn:none> ?z { SELECT * { OPTIONAL { ?z <urn:p> ?v } } } } }'],
  ['the same with MINUS', 'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { ?x <urn:none> ?z { ?y <urn:p> ?w MINUS { ?z <urn:p> ?v } } } }'],
  ['the same by itself', 'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { { ?x <urn:none> ?z OPTIONAL { ?z <urn:p> ?v } } } }'],
  ['OPTIONAL in NOT EXISTS', 'SELECT * { ?s <urn:p> ?o FILTER NOT EXISTS { ?x <urn:none> ?z OPTIONAL { ?z <urn:p> ?v } } }'],
  ['VALUES say the name of a GRAPH of a sub-query that does not select it', 'SELECT * { VALUES ?g { <urn:none> } GRAPH ?g { SELECT ?y { ?s <urn:p> ?y } } }', TDB2],
  ['the same for one that selects it', 'SELECT * { VALUES ?g { <urn:none> } GRAPH ?g { SELECT ?g ?y { ?s <urn:p> ?y } } }', TDB2],
  ['equal rows of VALUES, after a pattern', 'SELECT * { ?w <urn:p> ?y VALUES ?y { <urn:e:2> <urn:e:2> } }'],
  ['the same after a group', 'SELECT * { { ?y ^<urn:p> ?w } VALUES ?y { <urn:e:2> <urn:e:2> } }'],
  ['the same with UNDEF', 'SELECT * { ?w <urn:p> ?y VALUES ?y { <urn:e:2> UNDEF } }'],
  ['a FILTER of alternatives in a UNION, before GRAPH', `SELECT * { ${ALTERNATIVES} GRAPH ?g { ?a ?b ?c } }`],
  ['the same after it', `SELECT * { GRAPH ?g { ?a ?b ?c } ${ALTERNATIVES} }`],
  ['the same in a list', 'SELECT * { { GRAPH ?h { ?x <urn:p> ?y } } UNION { GRAPH ?h { ?x <urn:q> ?y } FILTER(?y IN (<urn:e:2>, ?z, 1)) } GRAPH ?g { ?a ?b ?c } }'],
  ['the same in a group', `SELECT * { { ${ALTERNATIVES} } GRAPH ?g { ?a ?b ?c } }`],
  ['the same in EXISTS', `SELECT * { ?s <urn:p> ?o FILTER EXISTS { ${ALTERNATIVES} GRAPH ?g { ?a <urn:hidden> ?c } } }`],
  ['the same in OPTIONAL', `SELECT * { ?s <urn:p> ?o OPTIONAL { ${ALTERNATIVES} GRAPH ?g { ?a ?b ?c } } }`],
  ['the same in GRAPH', `SELECT * { GRAPH ?g { { ?x <urn:p> ?y } UNION { ?x <urn:q> ?y FILTER(?y = <urn:e:2> || ?y > 1) } ?a ?b ?c } }`],
  ['the same next to the default graph', `SELECT * { ${ALTERNATIVES} ?a ?b ?c }`],
  ['the same next to a triple without variables', `SELECT * { ${ALTERNATIVES} <urn:e:1> <urn:hidden> <urn:e:5> }`],
  ['the same next to a path that names a property', `SELECT * { ${ALTERNATIVES} ?a !(<urn:p>|^<urn:q>) ?c }`],
  ['EXISTS begins with MINUS', 'SELECT * { ?s <urn:p> ?o FILTER EXISTS { MINUS { ?s <urn:q> ?x } } }'],
  ['the same in a group', 'SELECT * { ?s <urn:p> ?o FILTER EXISTS { { MINUS { ?s <urn:q> ?x } } } }'],
  ['the same for OPTIONAL', 'SELECT * { GRAPH ?g { } FILTER NOT EXISTS { MINUS { OPTIONAL { ?s <urn:q> ?x } } } }'],
]

const hasFuseki = FUSEKI !== undefined && (await hasKinds(FUSEKI))
const skip = process.env['CI'] !== 'true' && !hasFuseki && 'no Fuseki with these datasets: npm test starts one'

async function judge(t: Test, stores: ComparedStores, kind: Kind): Promise<void> {
  for (const [by, rights] of [
    ['name', NAMED],
    ['type', TYPED],
    ['name, in a store that dataspaces share', SHARED],
  ] as const) {
    const dataset = { quads: [...SEEN, ...HIDDEN], rights, query: '', compared: 'rows' as const }
    await stores.load(dataset.quads, visible(dataset))
    const sight = {
      rights,
      store: await stores.traits(),
      nothing: 'urn:test:nothing',
      grounds: groundsOf(dataset),
    }
    for (const [name, query, refused = []] of ROWS) {
      const told = `${name}, rights by ${by}: ${query}`
      const restricted = overView(read(query)!, sight)
      // In that case, each store's default graph is merged like the union.
      if (rights !== SHARED) t.equal(isFailure(restricted), refused.includes(kind), `${told}: refused`)
      if (isFailure(restricted)) continue
      t.same(
        [...(await stores.ask('all', restricted.text))].sort(),
        [...(await stores.ask('visible', query))].sort(),
        told,
      )
    }
  }
}

for (const kind of FUSEKI_KINDS) {
  void t.test(kind, { skip }, async (t) => {
    const stores = overFuseki(FUSEKI!, kind, 'ways')
    t.teardown(stores.close)
    await judge(t, stores, kind)
  })
}

void t.test(EMBEDDED, (t) => judge(t, overOxigraph(), EMBEDDED))
