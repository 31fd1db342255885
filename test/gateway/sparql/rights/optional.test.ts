// OPTIONAL next to a restricted GRAPH: Jena drops it if one of its FILTERs mentions a variable that an outer FILTER
// limits to a list of values (design 4).
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { overView } from '../../../../gateway/sparql/rights/restrict-query.js'
import type { GraphRights } from '../../../../policies/authorizations/graph-rights.js'
import { FUSEKI_KINDS, hasKinds, overFuseki } from '../../../support/fuseki-kinds.js'
import { read } from '../../../support/over-views.js'
import { FUSEKI } from '../../../support/stores.js'
import { groundsOf, randomCase, visible } from '../../../support/view-cases.js'

const [A, C, HIDDEN] = ['https://d.test/a/', 'https://d.test/c/', 'https://d.test/h/']
const NAMED: GraphRights = {
  reach: { ...randomCase(0).rights.reach, alone: true },
  ...{ everything: false, documents: false, others: false, defaultGraph: false, items: false, containers: false },
  ...{ graphs: [A, C], prefixes: [], otherPrefixes: [], classes: [], owner: undefined, fingerprint: '' },
}
const RIGHTS: readonly (readonly [name: string, rights: GraphRights])[] = [
  ['two names', NAMED],
  ['one name', { ...NAMED, graphs: [A] }],
  ['names and ownership', { ...NAMED, owner: 'urn:me' }],
  ['a name and a container', { ...NAMED, graphs: [A], prefixes: ['https://d.test/c'] }],
]
const quads = [A, C, HIDDEN].flatMap((graph, i) => [
  [`<urn:e:${i}> <urn:a> <urn:Item>`, graph] as const,
  [`<urn:e:${i}> <urn:t> "${i}"`, graph] as const,
])
const ITEMS = 'GRAPH ?g { ?s <urn:a> <urn:Item> }'
const TITLE = 'OPTIONAL { GRAPH ?g { ?s <urn:t> ?t } }'
const QUERIES = [
  `SELECT ?s ?t { ${ITEMS} ${TITLE} }`,
  `SELECT ?g (COUNT(?t) AS ?n) { ${ITEMS} ${TITLE} } GROUP BY ?g`,
  `SELECT ?s ?t ?u { ${ITEMS} ${TITLE} OPTIONAL { GRAPH ?g { ?s <urn:a> ?u } } }`,
  `SELECT ?s ?t ?u { ${ITEMS} OPTIONAL { GRAPH ?g { ?s <urn:t> ?t } OPTIONAL { GRAPH ?g { ?s <urn:a> ?u } } } }`,
  `SELECT ?s ?t { ${ITEMS} ${TITLE} FILTER(?g = <${A}>) }`,
  `SELECT ?s ?t { ${ITEMS} ${TITLE} FILTER(?g IN (<${A}>, <${C}>)) }`,
  `SELECT ?s ?t { VALUES ?g { <${A}> <${C}> } ${ITEMS} ${TITLE} }`,
  `SELECT ?s ?t { ${ITEMS} OPTIONAL { GRAPH ?h { ?s <urn:t> ?t } FILTER(?g = ?h) } }`,
  `SELECT ?s ?t { ${ITEMS} OPTIONAL { ?s <urn:t> ?t FILTER(STRENDS(STR(?g), "a/")) } }`,
  'SELECT ?s ?t { GRAPH ?g { ?s <urn:a> <urn:Item> OPTIONAL { ?s <urn:t> ?t } } }',
  `SELECT ?s { ${ITEMS} MINUS { GRAPH ?g { ?s <urn:t> "0" } } }`,
  `SELECT ?s { ${ITEMS} FILTER NOT EXISTS { GRAPH ?g { ?s <urn:t> "0" } } }`,
  `SELECT ?s ?t { ?s <urn:a> <urn:Item> ${TITLE} }`,
]

const hasFuseki = FUSEKI !== undefined && (await hasKinds(FUSEKI))
const skip = process.env['CI'] !== 'true' && !hasFuseki && 'no Fuseki with these datasets: npm test starts one'
for (const kind of FUSEKI_KINDS) {
  void t.test(kind, { skip }, async (t) => {
    const stores = overFuseki(FUSEKI!, kind, 'optional')
    t.teardown(stores.close)
    for (const [name, rights] of RIGHTS) {
      const dataset = { quads, rights, query: '', compared: 'rows' as const }
      await stores.load(quads, visible(dataset))
      const sight = { rights, store: await stores.traits(), nothing: 'urn:test:nothing', grounds: groundsOf(dataset) }
      for (const query of QUERIES) {
        const restricted = overView(read(query)!, sight)
        if (isFailure(restricted)) return void t.fail(`${name}: ${query}: ${restricted.detail}`)
        const got = await stores.ask('all', restricted.text)
        t.same([...got].sort(), [...(await stores.ask('visible', query))].sort(), `${name}: ${query}`)
      }
    }
  })
}
