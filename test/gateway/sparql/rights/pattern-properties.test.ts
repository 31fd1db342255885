// What the patterns of a query have, by which the gateway chooses how it restricts the query for Jena (design 4).
import t from 'tap'
import { OXIGRAPH } from '../../../../gateway/stores/oxigraph-traits.js'
import { assigns, mayFail } from '../../../../gateway/sparql/rights/as-bindings.js'
import { hasEachOnce } from '../../../../gateway/sparql/rights/group-properties.js'
import { datasetOf } from '../../../../gateway/sparql/rights/readable-graph-list.js'
import { read } from '../../../support/over-views.js'
import { noRights } from '../../../support/view-cases.js'

const where = (text: string) => read(`SELECT * { ${text} }`)!.body.where
const variable = (value: string) => ({ kind: 'variable', value }) as const

void t.test('an OPTIONAL with an EXISTS that gives values', async (t) => {
  const rows = [
    ['?s ?p ?o', false],
    ['?s ?p ?o FILTER EXISTS { ?s ?q ?x BIND(1 AS ?y) }', false],
    ['?s ?p ?o OPTIONAL { ?s ?q ?x BIND(1 AS ?y) }', false],
    ['?s ?p ?o OPTIONAL { ?s ?q ?x FILTER EXISTS { ?x ?r ?y } }', false],
    ['?s ?p ?o OPTIONAL { ?s ?q ?x FILTER EXISTS { BIND(?o AS ?y) } }', true],
    ['?s ?p ?o OPTIONAL { ?s ?q ?x FILTER NOT EXISTS { { ?x ?r ?y BIND(?o AS ?z) } } }', true],
    ['?s ?p ?o OPTIONAL { { ?s ?q ?x FILTER(!EXISTS { SELECT (1 AS ?y) { ?x ?r ?z } }) } }', true],
  ] as const
  for (const [text, fails] of rows) t.equal(mayFail(where(text)), fails, text)
})

void t.test('a variable that gets its value by AS', async (t) => {
  const rows = [
    ['?s ?p ?x', false],
    ['BIND(1 AS ?x)', true],
    ['BIND(?x AS ?y)', false],
    ['{ SELECT (COUNT(*) AS ?x) { ?s ?p ?o } }', true],
    ['?s ?p ?o FILTER EXISTS { BIND(1 AS ?x) }', true],
  ] as const
  for (const [text, given] of rows) t.equal(assigns(where(text), variable('x')), given, text)
})

void t.test('patterns that have each solution once', async (t) => {
  const rows = [
    ['', false],
    ['?s ?p ?o', true],
    ['?s ?p ?o . ?o <urn:p> "a"', true],
    ['?s ?p <<( ?a <urn:q> ?b )>>', true],
    ['?s ?p <<( ?a <urn:q> <<( ?b ?c ?d )>> )>>', true],
    ['?s ?p []', false],
    ['?s ?p <<( ?a <urn:q> _:b )>>', false],
    ['?s <urn:p>* ?o', false],
    ['?s ?p ?o OPTIONAL { ?o ?q ?x }', false],
  ] as const
  for (const [text, once] of rows) t.equal(hasEachOnce(where(text)), once, text)
})

void t.test('patterns that a store answers alike over graphs of FROM NAMED', async (t) => {
  const store = { ...OXIGRAPH, asQuads: true, asQuadsOfFrom: false, defaultGraph: 'own' } as const
  const sight = { rights: noRights(), store, nothing: 'urn:test:nothing' }
  const rows = [
    ['GRAPH ?g { ?s ?p ?o }', true],
    ['GRAPH ?g { ?s ?p ?o OPTIONAL { ?o ?q ?x } }', true],
    ['GRAPH ?g { }', false],
    ['GRAPH ?g { VALUES ?x { 1 } }', false],
    ['GRAPH ?g { ?s ?p ?o { SELECT ?s { ?s ?q ?x } } }', false],
    ['GRAPH ?g { ?s ?p ?o MINUS { ?o ?q ?x } }', false],
    ['GRAPH ?g { ?s ?p ?o FILTER EXISTS { ?o ?q ?x } }', false],
    ['{ SELECT ?s { GRAPH ?g { ?s ?q ?x } } } MINUS { GRAPH ?h { ?s ?p ?o } }', true],
  ] as const
  for (const [text, alike] of rows) {
    const found = datasetOf(['https://d.test/a/'], read(`SELECT * { ${text} }`)!, sight)
    t.equal(found !== undefined, alike, text)
  }
})
