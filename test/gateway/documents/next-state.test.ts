// The next state of a document: managed triples (spec 2.1), skolemisation, triples that clients may not set (design 3).
import fc from 'fast-check'
import t from 'tap'
import {
  compareAsBytes,
  graphOf,
  iri,
  irisOf,
  literal,
  namedNode,
  nTriplesLine,
  nTriplesOf,
  quad,
  blankNode,
  triple,
  typed,
  valuesOf,
  type Graph,
  type Quad,
} from '../../../gateway/rdf/graph.js'
import { AS_WRITTEN } from '../../../gateway/rdf/literal-forms.js'
import { readNTriples } from '../../../gateway/rdf/read.js'
import { changedLines, hasLine, linesBeginning } from '../../../gateway/rdf/sorted-lines.js'
import { changeLarge, largeContentOf } from '../../../gateway/evaluation/large-changes.js'
import { isFailure } from '../../../gateway/problem.js'
import { ancestorsOf, parentOf, typesOf } from '../../../gateway/documents/hierarchy.js'
import {
  changedDocument,
  documentAfter,
  replacedDocument,
  type DocumentChange,
} from '../../../gateway/documents/changed-document.js'
import { documentOf, type Document } from '../../../gateway/documents/document.js'
import { dateTime, lastModifiedOf, nextState, type Write } from '../../../gateway/documents/next-state.js'
import { ACL, DCT, DEF, DH, RDF, SIOC, XSD } from '../../../gateway/rdf/vocabulary.js'

const BASE = 'https://data.example.org/'
const DOC = `${BASE}a/b/`
const NOW = Date.UTC(2026, 6, 10, 20, 53, 1, 123)
const AGENT = 'https://alice.example/#me'
const KEY = 'k'.repeat(43)
let counter = 0
type More = Partial<Write> & { readonly method?: 'PUT' | 'POST' | 'PATCH' }
/** The content of a PATCH is the result of the update. */
const put = (content: Quad[], { method = 'PUT', ...more }: More = {}): Graph => {
  const write = { document: DOC, base: BASE, current: undefined, content, agent: AGENT, now: NOW, ...more }
  const uuid = () => `u${counter++}`
  if (method === 'PUT' || !write.current) {
    const next = nextState({ ...write, uuid })
    const large = largeContentOf(content, { document: DOC, tagKey: KEY, forms: AS_WRITTEN })
    const text = replacedDocument({ ...write, uuid, tagKey: KEY }, large)
    same(text, documentOf(write.document, write.base, next, KEY), 'a large content leaves the same')
    return next
  }
  const current = documentOf(write.document, write.base, write.current, KEY)
  const left = content.map(nTriplesLine)
  const removed = method === 'PATCH' ? write.current.lines.filter((line) => !left.includes(line)) : []
  const next = changedDocument({ ...write, uuid, method, current, removed, added: content, tagKey: KEY })
  if (typeof next === 'string') throw new Error(next)
  const whole = documentOf(write.document, write.base, graphOf(readNTriples(next.nTriples)!), KEY)
  same(next, whole, 'the facts and the digest are those of the text')
  return whole.graph()
}
/** Names of blank nodes are replaced by their order of first use. */
const same = (found: Document, wanted: Document, name: string): void => {
  const isNamed = /#id/.test(found.nTriples)
  const seen = ({ nTriples, digest, types, owners, lastModified }: Document): object => ({
    ...{ nTriples: sortedNames(nTriples), owners, lastModified, types: [...types].sort() },
    ...(!isNamed && { digest }),
  })
  t.same(seen(found), seen(wanted), name)
}
const sortedNames = (nTriples: string): string[] =>
  nTriples
    .replace(/#id[\w-]+/g, '#id')
    .split('\n')
    .sort()
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

void t.test('spec 2.1: dates in milliseconds, which stores that keep values do not shorten', (t) => {
  const minute = Date.UTC(2026, 6, 10, 20, 50)
  for (const [ms, time] of [
    [0, '2026-07-10T20:50:00.001Z'],
    [10_000, '2026-07-10T20:50:10.001Z'],
    [10_100, '2026-07-10T20:50:10.101Z'],
    [150, '2026-07-10T20:50:00.151Z'],
    [999, '2026-07-10T20:50:00.999Z'],
    [990, '2026-07-10T20:50:00.991Z'],
    [1, '2026-07-10T20:50:00.001Z'],
  ] as const)
    t.same(valuesOf(put([title], { now: minute + ms }), DOC, DCT('created')), [time])
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date(0) }), (date) =>
      [0, 1].includes(Date.parse(dateTime(+date)) - +date),
    ),
  )
  t.end()
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

void t.test('adding lines to and removing lines from a sorted text behaves like a set', async () => {
  // Characters before and after the surrogates sort differently as bytes and as UTF-16.
  const lines = fc.uniqueArray(
    fc.string({ unit: fc.constantFrom('a', 'b', '"', ' ', '\u{ffff}', '\u{10000}', 'é'), maxLength: 4 }),
  )
  const full = (all: Iterable<string>): string[] => Array.from(all, (line) => `<s> ${line} .`)
  const text = (all: Iterable<string>): string =>
    full(all)
      .sort(compareAsBytes)
      .map((line) => `${line}\n`)
      .join('')
  fc.assert(
    fc.property(lines, lines, lines, (current, removed, added) => {
      const next = new Set(current)
      for (const line of removed) next.delete(line)
      for (const line of added) next.add(line)
      const changed = changedLines(text(current), full(removed), full(added))
      return (
        changed === text(next) &&
        [...removed, ...added].every((line) => hasLine(changed, `<s> ${line} .`) === next.has(line)) &&
        linesBeginning(changed, '<s> a').join() ===
          changed
            .split('\n')
            .filter((line) => line.startsWith('<s> a'))
            .join()
      )
    }),
  )
})

void t.test('a POST and a PATCH give the same result as parsing the whole document', async () => {
  const terms = fc.constantFrom('a', 'b', 'c').map((name) => namedNode(`${DOC}#${name}`))
  const subjects = fc.oneof({ weight: 1, arbitrary: fc.constant(namedNode(DOC)) }, { weight: 2, arbitrary: terms })
  const properties = fc
    .constantFrom(RDF('type'), DCT('title'), DCT('modified'), ACL('owner'), SIOC('has_container'))
    .map((name) => namedNode(name))
  const objects = fc.oneof(terms, fc.constantFrom(literal('1'), literal('é\n"'), iri(DH('Container')), iri(DH('Item'))))
  const triples = (blank: boolean) =>
    fc.array(
      fc
        .tuple(blank ? fc.oneof(subjects, fc.constant(blankNode('x'))) : subjects, properties, objects)
        .map(([s, p, o]) => quad(s, p, o)),
      { maxLength: 8 },
    )
  const cases = fc.record({
    given: triples(false),
    stored: triples(true),
    added: triples(false),
    removed: triples(false),
  })
  await fc.assert(
    fc.property(
      cases,
      fc.constantFrom('POST' as const, 'PATCH' as const),
      ({ given, stored, added, removed }, method) => {
        // Other clients may store blank nodes and their own managed triples.
        const current = graphOf([...put(given).triples, ...stored])
        const gone = graphOf(method === 'PATCH' ? removed : []).lines
        const names = (text: string): string => text.replace(/#idu\d+/g, '#id')
        const left = graphOf([...current.triples.filter((one) => !gone.includes(nTriplesLine(one))), ...added])
        const change = { document: DOC, base: BASE, now: NOW + 5, uuid: () => 'u0', method, removed: gone, added }
        const before = documentOf(DOC, BASE, current, KEY)
        const next = changedDocument({ ...change, current: before, tagKey: KEY })
        const byThread = changedLarge({ ...change, current: before, tagKey: KEY })
        if (typeof next !== 'string' && typeof byThread !== 'string')
          same(byThread, next, 'a large change leaves the same')
        else if (next !== byThread) return false
        if (next === 'unchanged') return nTriplesOf(left) === nTriplesOf(current)
        if (next === 'absent') return left.triples.length === 0
        return names(next.nTriples) === names(nTriplesOf(naive(left, current, method)))
      },
    ),
    { numRuns: 300 },
  )
})

/** The change as computed by a reading thread. */
function changedLarge(change: DocumentChange): Document | 'absent' | 'unchanged' {
  const { method, document, current, tagKey, removed } = change
  const common = { document, tagKey, forms: AS_WRITTEN }
  const given = method === 'POST' ? largeContentOf(change.added, common).nTriples : undefined
  const added = given ?? change.added.map(nTriplesLine).join('\n')
  const left = changeLarge({ method, current, removed: removed.join('\n'), added, ...common })
  if (isFailure(left)) throw new Error(left.detail)
  if (left === 'unchanged' && method === 'PATCH') return left
  return documentAfter(change, left === 'unchanged' ? current : left)
}

/** The rules of spec 2.1 applied to all triples: client triples unchanged, the kind, and the previous provenance. */
function naive(left: Graph, current: Graph, method: 'POST' | 'PATCH'): Graph {
  const named = graphOf(put(left.triples as Quad[], { now: NOW }).triples)
  const was = irisOf(current, DOC, RDF('type')).includes(DH('Container')) ? 'container' : 'item'
  const types = irisOf(left, DOC, RDF('type'))
  const [isContainer, isItem] = [types.includes(DH('Container')), types.includes(DH('Item'))]
  const kind = method === 'POST' || isContainer === isItem ? was : isContainer ? 'container' : 'item'
  const isOurs = ({ subject, predicate, object }: Quad): boolean =>
    subject.value === DOC &&
    ([
      DCT('created'),
      DCT('creator'),
      ACL('owner'),
      DCT('modified'),
      SIOC('has_parent'),
      SIOC('has_container'),
    ].includes(predicate.value) ||
      (predicate.value === RDF('type') && [DH('Item'), DH('Container'), DEF('Root')].includes(object.value)))
  const before = [DCT('created'), DCT('creator'), ACL('owner')]
  const modified = Math.max(NOW + 5, (lastModifiedOf(current, DOC) ?? 0) + 1)
  return graphOf([
    ...named.triples.filter((one) => !isOurs(one)),
    ...current.triples.filter(({ subject, predicate }) => subject.value === DOC && before.includes(predicate.value)),
    triple(DOC, DCT('modified'), typed(dateTime(modified), XSD('dateTime'))),
    triple(DOC, RDF('type'), iri(DH(kind === 'container' ? 'Container' : 'Item'))),
    triple(DOC, kind === 'container' ? SIOC('has_parent') : SIOC('has_container'), iri(`${BASE}a/`)),
  ])
}
