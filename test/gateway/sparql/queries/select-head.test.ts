// The variables of SELECT * (SPARQL 1.1 §18.2.1): an agent with restricted rights gets the same variables, in the same
// order, as an agent with all rights.
import t from 'tap'
import { forEachStore, row, WITH_UNION } from '../../../support/stores.js'
import { makeWorld, ttl } from '../../../support/world.js'

const MERGED = 'FROM <http://www.w3.org/ns/solid/sparql#union-default-graph>'
const PATTERNS: readonly string[] = [
  // The restricted pattern does not contain the name of the graph.
  '{ GRAPH ?g { { SELECT ?s { ?s ?p ?o } } } }',
  '{ GRAPH ?g { { SELECT * { ?s ?p ?o } } } }',
  '{ GRAPH ?g { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } } }',
  '{ GRAPH ?g { GRAPH ?h { ?s ?p ?o } } }',
  '{ GRAPH ?g { GRAPH <urn:g:1> { ?s ?p ?o } } }',
  '{ GRAPH ?g { BIND(1 AS ?w) } }',
  '{ GRAPH ?g { VALUES (?v ?w) { (1 UNDEF) } } }',
  // The variable is found in another order.
  '{ GRAPH ?g { ?s ?p ?o } }',
  '{ GRAPH ?g { ?s ?p ?o BIND(?o AS ?w) } GRAPH ?a { ?s ?q ?r } }',
  '{ GRAPH ?g { { ?s ?p ?o } UNION { ?a ?b ?c } } }',
  '{ GRAPH ?g { ?s <urn:p>+ ?o } }',
  '{ OPTIONAL { ?x <urn:p> ?y } OPTIONAL { GRAPH ?g { ?z <urn:p> ?w } } }',
  // Blank nodes and paths become variables that are not shown.
  '{ [] ?p ?o . ?o ?q [ ?r ?t ] }',
  '{ [ ?r ?t ] ?p ([ ?a ?b ] ?x) }',
  '{ ?z <urn:p>/<urn:p> ?a }',
  '{ <urn:e> <urn:p>* ?o . ?o ?p ?a }',
  '{ [] ?p ?o } VALUES (?w ?a) { (1 2) }',
  // Unreadable graphs are left out.
  '{ GRAPH <urn:hidden> { ?z ?y ?x } }',
  '{ ?z ?y ?x OPTIONAL { GRAPH <urn:hidden> { ?x ?w ?v } } }',
  'FROM <urn:hidden> { ?z ?y ?x MINUS { ?z ?y ?w } FILTER NOT EXISTS { ?z ?v ?x } }',
  'FROM NAMED <urn:hidden> { GRAPH ?g { ?z ?y ?x } }',
  // The query is answered over a copy.
  `${MERGED} { ?z <urn:p>+ ?a }`,
  `${MERGED} { ?z <urn:p>+ ?a . [] <urn:p> ?o } VALUES (?c ?b) { (1 2) }`,
  // The store evaluates the FILTER last.
  '{ GRAPH ?g { ?z <urn:p> ?v FILTER(REGEX(?v, "(a|b)*")) ?z ?a ?w } } VALUES (?c ?b) { (1 2) }',
]

void forEachStore(t, { name: 'variables of SELECT *', kinds: WITH_UNION }, async (t, makeStores, kind) => {
  const stores = await makeStores()
  const { as, base } = await makeWorld(t, stores)
  const rules = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#rule> a acl:Authorization ; acl:mode acl:Read ;
    acl:accessTo <${base}sparql>, <${base}open/>, <urn:g:1> ; acl:agentClass <http://xmlns.com/foaf/0.1/Agent> .`
  t.equal((await as('owner')('PUT', '/admin/acl/authorizations/heads/', ttl(rules))).status, 201)
  const graphs = [`${base}open/`, 'urn:g:1', 'urn:hidden'].map((graph) => `GRAPH <${graph}> { <urn:e> <urn:p> 1 }`)
  t.equal(await stores.endUser.update(`INSERT DATA { ${graphs.join(' ')} }`), undefined)
  for (const pattern of PATTERNS) {
    await row(t, kind, `SELECT * ${pattern}`, async (t) => {
      const fields = { 'Content-Type': 'application/sparql-query', Accept: 'text/csv' }
      const body = `SELECT * ${pattern}`
      const [whole, restricted] = [
        await as('owner')('POST', '/sparql', { fields, body }),
        await as('stranger')('POST', '/sparql', { fields, body }),
      ]
      t.same([whole.status, restricted.status], [200, 200], restricted.text)
      t.equal(headOf(restricted), headOf(whole))
    })
  }
})

const headOf = ({ text }: { readonly text: string }): string => text.slice(0, text.search(/\r?\n/))
