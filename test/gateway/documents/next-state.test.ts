// The next state of a document: managed triples (spec 2.1), skolemisation, triples that clients may not set (design 3).
import t from 'tap'
import {
  graphOf,
  iri,
  literal,
  namedNode,
  nTriplesOf,
  quad,
  blankNode,
  triple,
  valuesOf,
  type Quad,
} from '../../../gateway/rdf/graph.js'
import { ancestorsOf, parentOf, typesOf } from '../../../gateway/documents/hierarchy.js'
import { nextState, type Write } from '../../../gateway/documents/next-state.js'
import { ACL, DCT, DEF, DH, RDF, SIOC } from '../../../gateway/rdf/vocabulary.js'

const BASE = 'https://data.example.org/'
const DOC = `${BASE}a/b/`
const NOW = Date.UTC(2026, 6, 10, 20, 53, 1, 123)
const AGENT = 'https://alice.example/#me'
let counter = 0
const put = (content: Quad[], more: Partial<Write> = {}) =>
  nextState({
    method: 'PUT',
    document: DOC,
    base: BASE,
    current: undefined,
    content,
    agent: AGENT,
    now: NOW,
    uuid: () => `u${counter++}`,
    ...more,
  })
const title = triple(DOC, DCT('title'), literal('B'))
const container = triple(DOC, RDF('type'), iri(DH('Container')))
const item = triple(DOC, RDF('type'), iri(DH('Item')))

void t.test('spec 2.1: the parent is the URL with its last segment removed', async (t) => {
  t.equal(parentOf(DOC), `${BASE}a/`)
  t.equal(parentOf(`${BASE}a/`), BASE)
  t.same(ancestorsOf(`${BASE}a/b/c/`, BASE), [`${BASE}a/b/`, `${BASE}a/`, BASE])
  t.same(ancestorsOf(BASE, BASE), [])
  t.same(ancestorsOf(`${BASE}admin/x/`, `${BASE}admin/`), [`${BASE}admin/`], 'ancestors end at the application')
})

void t.test('spec 2.1: managed triples on creation', async (t) => {
  t.equal(
    nTriplesOf(put([])),
    `<${DOC}> <http://purl.org/dc/terms/created> "2026-07-10T20:53:01.123Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
<${DOC}> <http://purl.org/dc/terms/creator> <${AGENT}> .
<${DOC}> <http://rdfs.org/sioc/ns#has_container> <${BASE}a/> .
<${DOC}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://www.w3.org/ns/ldt/document-hierarchy#Item> .
<${DOC}> <http://www.w3.org/ns/auth/acl#owner> <${AGENT}> .
`,
    'an empty body gives an item with the managed triples only',
  )
  const made = put([container, title])
  t.same(valuesOf(made, DOC, RDF('type')), [DH('Container')])
  t.same(valuesOf(made, DOC, SIOC('has_parent')), [`${BASE}a/`])
  t.same(valuesOf(made, DOC, SIOC('has_container')), [])
  const anonymous = put([], { agent: undefined })
  t.same(valuesOf(anonymous, DOC, ACL('owner')), [])
  const root = put([item, container], { document: BASE })
  t.same(valuesOf(root, BASE, RDF('type')), [DEF('Root')], 'the root is def:Root')
  t.same(valuesOf(root, BASE, SIOC('has_parent')), [], 'the root has no parent')
})

void t.test('managed triples that a client sends are replaced', async (t) => {
  const evil = 'https://mallory.example/#me'
  const claims = [
    triple(DOC, ACL('owner'), iri(evil)),
    triple(DOC, DCT('creator'), iri(evil)),
    triple(DOC, DCT('created'), literal('1999-01-01T00:00:00Z')),
    triple(DOC, DCT('modified'), literal('1999-01-01T00:00:00Z')),
    triple(DOC, SIOC('has_container'), iri(BASE)),
    triple(DOC, SIOC('has_parent'), iri(BASE)),
    triple(DOC, RDF('type'), iri(DEF('Root'))),
  ]
  t.equal(nTriplesOf(put([...claims, title])), nTriplesOf(put([title])), 'PUT, new')
  const current = put([title])
  for (const method of ['PUT', 'POST', 'PATCH'] as const) {
    const state = (content: Quad[]) => nTriplesOf(put(content, { method, current, now: NOW + 5, agent: evil }))
    t.equal(state([...claims, title]), state([title]), `${method}, existing`)
    t.same(valuesOf(put(claims, { method, current }), DOC, ACL('owner')), [AGENT], `${method} keeps the owner`)
  }
  t.same(valuesOf(put([container], { method: 'POST', current }), DOC, RDF('type')), [DH('Item')], 'POST keeps the kind')
  t.same(
    valuesOf(put([container], { method: 'PATCH', current }), DOC, RDF('type')),
    [DH('Container')],
    'PATCH may change it',
  )
  t.same(valuesOf(put([container, item], { method: 'PATCH', current }), DOC, RDF('type')), [DH('Item')], 'not both')
  const elsewhere = triple(`${DOC}#x`, ACL('owner'), iri(evil))
  t.same(valuesOf(put([elsewhere]), `${DOC}#x`, ACL('owner')), [evil], 'only the document itself is managed')
})

void t.test('dct:modified: one value, on each later write, strictly growing', async (t) => {
  let current = put([title])
  t.same(valuesOf(current, DOC, DCT('modified')), [], 'none on creation')
  let last = NOW
  for (const now of [NOW, NOW, NOW - 1000, NOW + 10, NOW]) {
    current = put([title], { method: 'POST', current, now })
    const [modified, another] = valuesOf(current, DOC, DCT('modified'))
    t.equal(another, undefined)
    t.ok(Date.parse(modified!) > last, `${modified} after ${new Date(last).toISOString()}`)
    last = Date.parse(modified!)
  }
  t.same(valuesOf(current, DOC, DCT('created')).length, 1)
})

void t.test('POST appends, PUT replaces', async (t) => {
  const other = triple(DOC, DCT('description'), literal('D'))
  const current = put([title])
  t.same(valuesOf(put([other], { method: 'POST', current }), DOC, DCT('title')), ['B'])
  t.same(valuesOf(put([other], { method: 'PUT', current }), DOC, DCT('title')), [])
})

void t.test('blank nodes become <document>#id<UUID>, the same for the same label', async (t) => {
  const b = blankNode('b')
  const state = put([
    quad(namedNode(DOC), namedNode(DCT('subject')), b),
    quad(b, namedNode(DCT('title')), literal('x')),
  ])
  const [name] = valuesOf(state, DOC, DCT('subject'))
  t.match(name, /^https:\/\/data\.example\.org\/a\/b\/#idu\d+$/)
  t.same(valuesOf(state, name!, DCT('title')), ['x'])
  t.notOk(nTriplesOf(state).includes('_:'))
})

void t.test('a stored graph without a type of the hierarchy is an item; only the root is def:Root', async (t) => {
  t.same(typesOf(graphOf([title]), DOC, BASE), [DH('Item')])
  t.same(typesOf(graphOf([triple(DOC, RDF('type'), iri(DEF('Root')))]), DOC, BASE), [DH('Item')])
  t.same(typesOf(graphOf([title]), BASE, BASE), [DEF('Root')])
})
