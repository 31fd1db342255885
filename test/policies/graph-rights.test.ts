// Rights on graphs as one value (design 4): they agree with the decision for every graph, agent and mode.
import fc from 'fast-check'
import t from 'tap'
import type { Fact, Mode } from '../../policies/authorizations/authorization.js'
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import {
  graphRights,
  groundOf,
  mayTouch,
  narrowed,
  NO_GRAPHS,
  type GraphFacts,
  type GraphRights,
  type Ground,
} from '../../policies/authorizations/graph-rights.js'
import { containersAbove, isDocumentName, type Reach } from '../../policies/authorizations/reach.js'
import { decide } from '../../policies/decide.js'
import { DEFAULT_GRAPH, OTHER_GRAPH, OWNER, RDF_TYPE } from '../../policies/vocabulary.js'
import {
  ACL,
  ADMIN,
  authorization,
  BASE,
  CONTAINER,
  EVERYONE,
  fact,
  ITEM,
  MEMBER,
  ROOT,
  SUB_CLASS_OF,
  type Statements,
  replaceGraph,
} from './access-facts.js'
import { ALL_MODES } from './naive-access.js'

const [ALICE, BOB, MAIL] = ['https://alice/#me', 'https://bob/#me', 'urn:triplegate:mail-domain:x:example.org']
const [GROUP, OTHER_GROUP] = [`${ADMIN}acl/groups/1/#this`, `${ADMIN}acl/groups/2/#this`]
const NEIGHBOUR = `${BASE}b/`
const RULES = `${ADMIN}acl/authorizations/`

const reach = (application: 'end-user' | 'admin', alone: boolean): Reach => ({
  application,
  base: application === 'admin' ? ADMIN : BASE,
  below: application === 'admin' ? [] : [ADMIN, NEIGHBOUR],
  alone,
  isEndpoint: (iri) => iri === `${BASE}sparql`,
})
const HERE = reach('end-user', true)

// prettier-ignore
const NAMES = [
  BASE, `${BASE}c/`, `${BASE}c/d/`, `${BASE}c/d/e/`, `${BASE}c/x`, `${BASE}c#x`, `${BASE}a//b/`, `${BASE}sparql`, `${NEIGHBOUR}z/`,
  NEIGHBOUR, ADMIN, `${ADMIN}acl/`, `${ADMIN}acl/1/`, 'https://host', 'https://ho', 'http://other/', 'http://other/g',
  'http://other/g#1', 'http://other', 'http://', 'urn:g', 'urn:g:h', DEFAULT_GRAPH,
]
const CLASSES = [ITEM, CONTAINER, ROOT, OTHER_GRAPH, 'urn:A', 'urn:B', 'urn:C']

const some = (values: readonly string[], maxLength: number): fc.Arbitrary<string[]> =>
  fc.subarray([...values], { maxLength })
/** More subjects than an authorization stores by itself. */
const many = Array.from({ length: 9 }, (_, n) => `urn:agent:${n}`)
const statements: fc.Arbitrary<Statements> = fc.record({
  agent: fc.oneof(some([ALICE, BOB, MAIL], 1), fc.constant([ALICE, ...many])),
  agentGroup: some([GROUP, OTHER_GROUP], 1),
  agentClass: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, some([EVERYONE, `${ACL}AuthenticatedAgent`], 1)),
  accessTo: some(NAMES, 3),
  accessToClass: some([...CLASSES, '_:b0'], 3),
  default: some(NAMES, 3),
  mode: some(ALL_MODES, 3),
})
const pairs = <A, B>(from: A[], to: B[]): fc.Arbitrary<[A, B][]> =>
  fc.array(fc.tuple(fc.constantFrom(...from), fc.constantFrom(...to)), { maxLength: 3 })

interface World {
  readonly rules: readonly Statements[]
  readonly members: readonly (readonly [string, string])[]
  readonly subclasses: readonly (readonly [string, string])[]
  readonly types: readonly (readonly string[])[]
  readonly owners: readonly (readonly string[])[]
}
const ofEach = (values: readonly string[], maxLength: number): fc.Arbitrary<string[][]> =>
  fc.array(some(values, maxLength), { minLength: NAMES.length, maxLength: NAMES.length })
const world: fc.Arbitrary<World> = fc.record({
  rules: fc.array(statements, { maxLength: 4 }),
  members: pairs([GROUP, OTHER_GROUP], [ALICE, BOB, MAIL]),
  subclasses: pairs([...CLASSES, '_:b0'], [...CLASSES, '_:b0']),
  types: ofEach(CLASSES, 3),
  owners: ofEach([ALICE, BOB], 1),
})

function indexOf({ rules, members, subclasses }: Pick<World, 'rules' | 'members' | 'subclasses'>): AuthorizationIndex {
  const index = makeAuthorizationIndex(ADMIN)
  const facts = (one: Statements, n: number): Fact[] => authorization(`${RULES}${n}/#this`, one)
  // Nothing remains of the previous state.
  const wide = { agentClass: EVERYONE, accessToClass: ['urn:A', OTHER_GRAPH], mode: ALL_MODES }
  replaceGraph(index, `${RULES}0/`, [...facts(wide, 0), fact('urn:B', SUB_CLASS_OF, 'urn:A')])
  replaceGraph(index, `${RULES}0/`, undefined)
  rules.forEach((one, n) => replaceGraph(index, `${RULES}${n}/`, facts(one, n)))
  const more = [
    ...members.map(([group, agent]) => fact(group, MEMBER, agent)),
    ...subclasses.map(([type, superclass]) => fact(type, SUB_CLASS_OF, superclass)),
  ]
  replaceGraph(index, `${ADMIN}more/`, more)
  return index
}

/** The types that the gateway judges a document by (gateway/documents/hierarchy.ts). */
function judgedTypes(iri: string, base: string, types: readonly string[]): string[] {
  const others = types.filter((type) => type !== ROOT)
  if (iri === base) return [...others.filter((type) => type !== ITEM && type !== CONTAINER), ROOT]
  return others.includes(ITEM) || others.includes(CONTAINER) ? others : [...others, ITEM]
}

interface Asker {
  readonly agent: string | undefined
  readonly memberships: readonly string[]
}
const asker: fc.Arbitrary<Asker> = fc.record({
  agent: fc.constantFrom(undefined, ALICE, BOB),
  memberships: some([MAIL], 1),
})

function decides(
  index: AuthorizationIndex,
  reach: Reach,
  asker: Asker & { readonly required: Mode },
  graph: { readonly iri: string; readonly types: readonly string[]; readonly owners: readonly string[] },
): boolean {
  const question = { application: reach.application, ...asker, creates: false }
  const { iri, owners } = graph
  if (!isDocumentName(reach, iri)) return decide(index, { ...question, target: { kind: 'graph', iri, reach } }).allowed
  const types = judgedTypes(iri, reach.base, graph.types)
  const document = { iri, exists: true, types, owners, ancestors: containersAbove(reach, iri) }
  return decide(index, { ...question, target: { kind: 'document', ...document } }).allowed
}

/** A graph that contains only the ground. */
const leastOf = (iri: string, ground: Ground): GraphFacts => {
  // A document that is right by its name may be a container.
  if (ground === 'name') return { iri, types: [CONTAINER], owners: [] }
  if (ground !== 'no-container' && typeof ground === 'string') throw new Error(`${iri}: no ground`)
  const { property, value } = ground === 'no-container' ? { property: undefined, value: '' } : ground
  return { iri, types: property === RDF_TYPE ? [value] : [], owners: property === OWNER ? [value] : [] }
}
const isWithin = (least: GraphFacts, graph: GraphFacts): boolean =>
  least.types.every((type) => graph.types.includes(type)) && least.owners.every((owner) => graph.owners.includes(owner))

await t.test('the rights agree with the decision, for every graph, agent and mode', async (t) => {
  const counts = { everything: 0, allowed: 0, refused: 0 }
  fc.assert(
    fc.property(
      world,
      fc.constantFrom('end-user' as const, 'admin' as const),
      fc.boolean(),
      asker,
      fc.constantFrom(...ALL_MODES),
      (world, application, alone, asker, mode) => {
        const index = indexOf(world)
        const here = reach(application, alone)
        const rights = graphRights(index, { reach: here, ...asker, mode })
        const asked = { ...asker, required: mode }
        NAMES.forEach((iri, n) => {
          const graph = { iri, types: world.types[n]!, owners: world.owners[n]! }
          const expected = decides(index, here, asked, graph)
          if (mayTouch(rights, graph) !== expected) throw new Error(`${iri}: the decision is ${expected}`)
          const least = expected && leastOf(iri, groundOf(rights, graph)!)
          if (least && !mayTouch(rights, least)) throw new Error(`${iri}: its ground is not enough`)
          if (least && groundOf(rights, graph) !== 'name' && !isWithin(least, graph))
            throw new Error(`${iri}: its ground is not what it says`)
          counts[expected ? 'allowed' : 'refused']++
          if (rights.everything && !expected) throw new Error(`${iri}: not everything`)
        })
        const target = { kind: 'default-graph', iri: DEFAULT_GRAPH, reach: here } as const
        const { allowed } = decide(index, { application, ...asked, creates: false, target })
        if (rights.everything) counts.everything++
        return rights.defaultGraph === allowed
      },
    ),
    { numRuns: 3000, seed: 13 },
  )
  t.ok(counts.everything > 20 && counts.allowed > 3000 && counts.refused > 3000, JSON.stringify(counts))
})

await t.test('names that a wider right covers are not listed', async (t) => {
  const rule = (one: Statements): Statements => ({ agent: ALICE, mode: 'Read', ...one })
  const [named, other] = [{ accessTo: [`${BASE}c/`, 'urn:g'] }, { accessToClass: [OTHER_GRAPH] }]
  for (const [rules, graphs] of [
    [[named], [`${BASE}c/`, 'urn:g']],
    [[named, other], [`${BASE}c/`]],
    [[named, { default: [BASE] }], ['urn:g']],
  ] as const) {
    const index = indexOf({ rules: rules.map(rule), members: [], subclasses: [] })
    t.same(graphRights(index, { reach: HERE, agent: ALICE, memberships: [], mode: 'Read' }).graphs, graphs)
  }
})

await t.test('narrowed rights cover a document and those below it, only by names', async (t) => {
  const counts = { allowed: 0, refused: 0 }
  const within = fc.constantFrom(NO_GRAPHS, BASE, `${BASE}c/`, `${BASE}c/d/`, ADMIN)
  fc.assert(
    fc.property(world, asker, fc.constantFrom(...ALL_MODES), within, (world, asker, mode, document) => {
      const rights = graphRights(indexOf(world), { reach: HERE, ...asker, mode })
      const left = narrowed(rights, document)
      const byNames = { ...rights, items: false, containers: false, classes: [], owner: undefined }
      NAMES.forEach((iri, n) => {
        const bare = { iri, types: [], owners: [] }
        const isBelow = document !== NO_GRAPHS && iri.startsWith(document)
        const expected = isBelow && isDocumentName(HERE, iri) && mayTouch(byNames, bare)
        if (isDocumentName(HERE, iri) && mayTouch(left, bare) !== expected) throw new Error(`${iri}: not ${expected}`)
        const stated = { iri, types: world.types[n]!, owners: world.owners[n]! }
        if (mayTouch(left, stated) && !(isBelow && mayTouch(rights, stated))) throw new Error(`${iri}: too much`)
        counts[expected ? 'allowed' : 'refused']++
      })
      return !left.everything && !left.defaultGraph && !left.others && !left.reach.alone
    }),
    { numRuns: 1500, seed: 13 },
  )
  t.ok(counts.allowed > 100 && counts.refused > 3000, JSON.stringify(counts))
})

type Said = Omit<GraphRights, 'reach' | 'fingerprint'>
const said = (rights: GraphRights): Said => {
  const { everything, documents, others, defaultGraph, graphs, prefixes, otherPrefixes, items, containers, classes, owner } = rights // prettier-ignore
  return { everything, documents, others, defaultGraph, graphs, prefixes, otherPrefixes, items, containers, classes, owner } // prettier-ignore
}

await t.test('the fingerprints of two agents are equal if and only if their rights are', async () => {
  const fields = (rights: GraphRights): string => JSON.stringify(said(rights))
  fc.assert(
    fc.property(world, asker, asker, fc.constantFrom(...ALL_MODES), (world, one, other, mode) => {
      const index = indexOf(world)
      const [a, b] = [one, other].map((asker) => graphRights(index, { reach: HERE, ...asker, mode }))
      return (a!.fingerprint === b!.fingerprint) === (fields(a!) === fields(b!))
    }),
    { numRuns: 500, seed: 13 },
  )
})

const DOCUMENTS = [ITEM, CONTAINER, ROOT]
const none: Said = { everything: false, documents: false, others: false, defaultGraph: false, graphs: [], prefixes: [], otherPrefixes: [], items: false, containers: false, classes: [], owner: ALICE } // prettier-ignore
const all: Said = { ...none, everything: true, documents: true, others: true, defaultGraph: true, owner: undefined }
const wholeBase = { default: BASE, accessTo: [BASE, DEFAULT_GRAPH], accessToClass: OTHER_GRAPH }
type Row = readonly [name: string, rule: Statements, rights: Said, mode?: Mode]
// prettier-ignore
const ROWS: readonly Row[] = [
  ['no right', {}, none],
  ['a document, a graph, and an endpoint, which is not a graph', { accessTo: [`${BASE}c/`, 'urn:g', `${BASE}sparql`] }, { ...none, graphs: [`${BASE}c/`, 'urn:g'] }],
  ['a document of the admin application is not a graph here', { accessTo: ADMIN }, none],
  ['all documents, by class', { accessToClass: DOCUMENTS }, { ...none, documents: true, owner: undefined }],
  ['all documents, by acl:default and the root itself', { default: BASE, accessTo: BASE }, { ...none, documents: true, prefixes: [BASE], owner: undefined }],
  ['all documents but the root', { accessToClass: [ITEM, CONTAINER] }, { ...none, items: true, containers: true }],
  ['graphs that are not documents', { accessToClass: OTHER_GRAPH }, { ...none, others: true }],
  ['the default graph', { accessTo: DEFAULT_GRAPH }, { ...none, defaultGraph: true }],
  ['everything, by classes', { accessTo: DEFAULT_GRAPH, accessToClass: [...DOCUMENTS, OTHER_GRAPH] }, all],
  ['everything, by acl:default', wholeBase, all],
  ['everything, by Control and the documents', { accessToClass: DOCUMENTS, mode: ['Read', 'Control'] }, all],
  ['Control alone gives no other mode', { accessToClass: DOCUMENTS, mode: 'Control' }, none],
  ['Control, asked for itself: nobody owns it', { accessToClass: DOCUMENTS, mode: 'Control' }, all, 'Control'],
  ['containers within containers', { default: [`${BASE}c/d/`, `${BASE}c/`] }, { ...none, prefixes: [`${BASE}c/`] }],
  ['a prefix of graphs', { default: ['http://other/g', 'urn:g'] }, { ...none, prefixes: ['http://other/g'] }],
  ['a prefix that is not a container reaches no document', { default: ['https://ho', `${BASE}c`] }, { ...none, otherPrefixes: ['https://ho'] }],
  ['a graph below a prefix adds nothing', { default: `${BASE}c/`, accessTo: [`${BASE}c/d/`, `${BASE}c/x`] }, { ...none, prefixes: [`${BASE}c/`] }],
  ['a class with its subclasses', { accessToClass: 'urn:A' }, { ...none, classes: ['urn:A', 'urn:B'] }],
]
await t.test('the smallest equal value', async (t) => {
  for (const [name, rule, expected, mode = 'Read'] of ROWS) {
    const index = indexOf({ rules: [{ agent: ALICE, mode, ...rule }], members: [], subclasses: [['urn:B', 'urn:A']] })
    t.same(said(graphRights(index, { reach: HERE, agent: ALICE, mode })), expected, name)
  }
})

await t.test('rights that no rule gives', async (t) => {
  const index = indexOf({ rules: [], members: [], subclasses: [] })
  const question = { agent: undefined, mode: 'Read' } as const
  const open = graphRights(index, { ...question, reach: HERE, open: 'documents' })
  t.same([open.documents, open.everything], [true, false], 'lapp:allowRead: documents')
  t.ok(graphRights(index, { ...question, reach: HERE, open: 'everything' }).everything, 'rules that are not enforced')
  const shared = graphRights(index, { ...question, reach: reach('end-user', false), open: 'everything' })
  t.same([shared.documents, shared.others, shared.everything], [true, false, false], 'on a shared store: its documents')
})
