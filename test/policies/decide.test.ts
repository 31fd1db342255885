// Access decisions: the effects of rights (LinkedDataHub 5.1 to 5.6, design 4), and attacks on them.
import fc from 'fast-check'
import t from 'tap'
import type { Fact } from '../../policies/authorizations/authorization.js'
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import {
  authorizationsAbout,
  decide,
  requiredMode,
  widenedMode,
  type Decision,
  type Question,
} from '../../policies/decide.js'
import { DEFAULT_GRAPH, OTHER_GRAPH } from '../../policies/vocabulary.js'
import {
  absent,
  ACL,
  ADMIN,
  authorization,
  BASE,
  CONTAINER,
  document,
  EVERYONE,
  fact,
  ITEM,
  MEMBER,
  question,
  ROOT,
  SUB_CLASS_OF,
  TYPE,
  type Statements,
  replaceGraph,
} from './access-facts.js'
import { ALL_MODES } from './naive-access.js'

const [ALICE, BOB] = ['https://alice/#me', 'https://bob/#me']
const WRITERS = `${ADMIN}acl/groups/writers/#this`
const RULES = `${ADMIN}acl/authorizations/rules/`
const GROUPS = `${ADMIN}acl/groups/`
const AUTHENTICATED = ACL + 'AuthenticatedAgent'
const DOC = `${BASE}c/doc/`
const ADMIN_DOC = `${ADMIN}c/doc/`
const MEMBERSHIP = [fact(WRITERS, MEMBER, ALICE)]

const indexOf = (graphs: Record<string, readonly Fact[]>): AuthorizationIndex => {
  const index = makeAuthorizationIndex(ADMIN)
  for (const [graph, facts] of Object.entries(graphs)) replaceGraph(index, graph, facts)
  return index
}
type Graphs = Record<string, readonly Fact[]>
const rule = (statements: Statements): Graphs => ({
  [RULES]: authorization(`${RULES}#this`, statements),
  [GROUPS]: MEMBERSHIP,
})

await t.test('an agent has its own modes, and those of all that it counts as', async (t) => {
  const domains = ['urn:triplegate:mail-domain:x:a.example', 'urn:triplegate:mail-domain:x:b.example']
  const named = (n: number, statements: Statements): readonly Fact[] =>
    authorization(`${RULES}#${n}`, { accessTo: DOC, ...statements })
  const index = indexOf({
    [RULES]: [
      ...named(1, { agent: ALICE, mode: ['Read'] }),
      ...named(2, { agent: domains[0]!, mode: ['Append'] }),
      ...named(3, { agentGroup: WRITERS, mode: ['Write'] }),
    ],
    [GROUPS]: [fact(WRITERS, MEMBER, domains[1]!)],
  })
  const modesOf = (agent: string, memberships: readonly string[]): readonly Mode[] =>
    decide(index, { ...question(agent, 'Read', document(DOC)), memberships }).modes
  t.same(modesOf(ALICE, []), ['Read'])
  t.same(modesOf(ALICE, domains.slice(0, 1)), ['Read', 'Append'])
  t.same(modesOf(ALICE, domains), ['Read', 'Write', 'Append'])
  t.same(modesOf('https://bob/#me', domains.slice(1)), ['Write'])
  t.same(modesOf('https://bob/#me', ['urn:triplegate:mail-domain:x:other.example']), [])
})

await t.test('the mode that a method needs', async (t) => {
  const table: Record<string, Mode | undefined> = {
    GET: 'Read', HEAD: 'Read', POST: 'Append', PUT: 'Write', PATCH: 'Write', DELETE: 'Write',
    QUERY: undefined, OPTIONS: undefined, TRACE: undefined, PROPFIND: undefined, get: undefined, constructor: undefined,
  } // prettier-ignore
  for (const [method, mode] of Object.entries(table)) t.equal(requiredMode(method), mode, method)
})

type Agent = string | undefined
type Subject = readonly [name: string, statements: Statements, matches: (agent: Agent) => boolean, named: boolean]
type Target = readonly [name: string, statements: Statements, document: boolean, admin: boolean, endpoint: boolean]

// prettier-ignore
const SUBJECTS: readonly Subject[] = [
  ['agent', { agent: ALICE }, (agent) => agent === ALICE, true],
  ['group', { agentGroup: WRITERS }, (agent) => agent === ALICE, true],
  ['public', { agentClass: EVERYONE }, () => true, false],
  ['authenticated', { agentClass: AUTHENTICATED }, (agent) => agent !== undefined, false],
  ['another class', { agentClass: ACL + 'Other' }, () => false, false],
  ['no subject', {}, () => false, false],
]
// prettier-ignore
const targetsOf = (doc: string, base: string): readonly Target[] => [
  ['accessTo it', { accessTo: [doc, `${base}sparql`] }, true, true, true],
  ['accessTo another', { accessTo: `${base}other/` }, false, false, false],
  ['accessTo its container', { accessTo: `${base}c/` }, false, false, false],
  ['accessToClass its type', { accessToClass: ITEM }, true, false, false],
  ['accessToClass a superclass', { accessToClass: 'https://onto/Top' }, true, false, false],
  ['accessToClass another', { accessToClass: CONTAINER }, false, false, false],
  ['default its container', { default: `${base}c/` }, true, true, false],
  ['default the root', { default: base }, true, true, false],
  ['default itself', { default: doc }, false, false, false],
  ['no target', {}, false, false, false],
]
const sub = (type: string, superclass: string): Fact => fact(type, SUB_CLASS_OF, superclass)

// For each combination: does the authorization reach a document, and an endpoint?
await t.test('subject × target × application × mode', async (t) => {
  const superclasses = [sub(ITEM, 'https://onto/Mid'), sub('https://onto/Mid', 'https://onto/Top')]
  for (const [application, doc, base] of [
    ['end-user', DOC, BASE],
    ['admin', ADMIN_DOC, ADMIN],
  ] as const) {
    for (const [who, whom, matches, named] of SUBJECTS) {
      for (const [what, to, reachesDocument, reachesAdmin, reachesEndpoint] of targetsOf(doc, base)) {
        for (const granted of ALL_MODES) {
          const index = indexOf({ ...rule({ ...whom, ...to, mode: granted }), [`${ADMIN}ontologies/`]: superclasses })
          const everywhere = application === 'admin' && granted === 'Control' && named
          const reached = application === 'admin' ? reachesAdmin : reachesDocument
          const failures: string[] = []
          for (const agent of [ALICE, BOB, undefined]) {
            for (const required of ALL_MODES) {
              for (const [kind, asked, reaches] of [
                ['document', document(doc), reached],
                ['endpoint', `${base}sparql`, reachesEndpoint],
              ] as const) {
                const decision = decide(index, question(agent, required, asked))
                const expected = matches(agent) && (reaches || everywhere) ? [granted] : []
                if (decision.allowed !== expected.includes(required) || decision.modes.join() !== expected.join()) {
                  failures.push(`${agent} ${required} ${kind}: ${decision.allowed} ${decision.modes.join()}`)
                }
              }
            }
          }
          t.same(failures, [], `${application}: ${who}, ${what}, ${granted}`)
        }
      }
    }
  }
})

type Row = readonly [name: string, graphs: Graphs, ask: Question, reason: Decision['reason'], modes?: readonly Mode[]]

const granted = ['public', 'authenticated-agent', 'owner', 'agent', 'group', 'control']

const check = (name: string, rows: readonly Row[]): Promise<unknown> =>
  t.test(name, async (t) => {
    for (const [name, graphs, ask, reason, modes] of rows) {
      const decision = decide(indexOf(graphs), ask)
      t.equal(decision.reason, reason, `${name}: ${reason}`)
      t.equal(decision.allowed, granted.includes(reason), `${name}: allowed or not`)
      t.equal(decision.absent, reason === 'absent', `${name}: reported as absent or not`)
      if (modes) t.same(decision.modes, modes, `${name}: modes`)
    }
  })

const alice = (statements: Statements): Graphs => rule({ agent: ALICE, ...statements })
/** ALICE has the mode on DOC. */
const aliceMay = (mode: Mode): Graphs => alice({ accessTo: DOC, mode })
/** ALICE has the mode on documents of the class. */
const aliceOn = (type: string, mode: Mode): Graphs => alice({ accessToClass: type, mode })
const defaultOf = (containers: string | readonly string[]): Graphs => alice({ default: containers, mode: 'Read' })

type Asked = Parameters<typeof question>[2]
const reads = (agent: Agent, target: Asked = document(DOC)): Question => question(agent, 'Read', target)
const writes = (agent: Agent, target: Asked = document(DOC)): Question => question(agent, 'Write', target)
const appends = (agent: Agent, target: Asked = document(DOC)): Question => question(agent, 'Append', target)
const C = `${BASE}c/`
const container = document(C, { types: [CONTAINER] })
/** A PUT of DOC, which does not exist. */
const puts = (agent: Agent, parent = container): Question => question(agent, 'Write', absent(DOC), parent)

const owned = document(DOC, { owners: [BOB, ALICE] })
const ownedInAdmin = document(ADMIN_DOC, { owners: [ALICE] })
const publicRead = rule({ agentClass: EVERYONE, accessTo: DOC, mode: 'Read' })
const manySubjects = alice({ agentClass: [AUTHENTICATED, EVERYONE], accessTo: DOC, mode: 'Read' })
const aliceReads = authorization('urn:a', { agent: ALICE, accessTo: DOC, mode: 'Read' })
const writersWrite = authorization('urn:b', { agentGroup: WRITERS, accessToClass: ITEM, mode: ['Append', 'Write'] })
const united = { [RULES]: [...aliceReads, ...writersWrite], [GROUPS]: MEMBERSHIP }
// prettier-ignore
await check('owners, and the union of modes', [
  ['an owner, even the second one, writes', {}, writes(ALICE, owned), 'owner', ['Read', 'Write', 'Append']],
  ['an owner has no Control', {}, question(ALICE, 'Control', owned), 'mode-missing'],
  ['in the admin application too', {}, appends(ALICE, ownedInAdmin), 'owner'],
  ['an anonymous client owns nothing', {}, reads(undefined, owned), 'no-authorization', []],
  ['public before owner', publicRead, reads(ALICE, owned), 'public', ['Read', 'Write', 'Append']],
  ['public before agent in one authorization', manySubjects, reads(ALICE), 'public'],
  ['Control alone implies nothing else', aliceMay('Control'), reads(ALICE), 'mode-missing', ['Control']],
  ['Write does not imply Append', aliceMay('Write'), appends(ALICE), 'mode-missing', ['Write']],
  ['modes of all that match are united', united, writes(ALICE), 'group', ['Read', 'Write', 'Append']],
])

const seededModes = ['Read', 'Write', 'Append']
const seededWriters = rule({ agentGroup: WRITERS, accessToClass: [ITEM, CONTAINER, ROOT], mode: seededModes })
const control = rule({ agentGroup: WRITERS, accessTo: `${BASE}elsewhere/`, mode: ['Write', 'Control'] })
const root = document(BASE, { types: [ROOT] })
const classControl = aliceOn(ROOT, 'Control')
const putRoot = (agent: string): Question => {
  const { target, ...asked } = writes(agent, absent(BASE))
  if (target.kind !== 'document') throw new TypeError('a document')
  return { ...asked, creates: true, target: { ...target, isRoot: true } }
}
const ownContainer = document(C, { types: [CONTAINER], owners: [ALICE] })
const adminContainer = document(`${ADMIN}c/`, { types: [CONTAINER] })
const appendToParent = alice({ accessTo: C, mode: 'Append' })
// prettier-ignore
await check('creating documents', [
  ['Write on the parent container', seededWriters, puts(ALICE), 'group'],
  ['on the root', seededWriters, question(ALICE, 'Write', absent(C), root), 'group'],
  ['the owner of the parent', {}, puts(ALICE, ownContainer), 'owner'],
  ['Append on the parent is not enough', alice({ accessTo: C, mode: ['Read', 'Append'] }), puts(ALICE), 'mode-missing'],
  ['Write on the absent document itself is not enough', aliceMay('Write'), puts(ALICE), 'no-authorization'],
  ['acl:default of the parent is not for it', alice({ default: C, mode: 'Write' }), puts(ALICE), 'no-authorization'],
  ['acl:default above the parent', alice({ default: BASE, mode: 'Write' }), puts(ALICE), 'agent'],
  ['rights on items do not reach the parent container', aliceOn(ITEM, 'Write'), puts(ALICE), 'no-authorization'],
  ['no parent: reported to agents who may write there', seededWriters, puts(ALICE, absent(C)), 'parent-missing'],
  ['no parent: not reported to other agents', seededWriters, puts(BOB, absent(C)), 'no-authorization'],
  ['the parent is an item', seededWriters, puts(ALICE, document(C)), 'parent-no-container'],
  ['the parent is an item: not reported to others', seededWriters, puts(BOB, document(C)), 'no-authorization'],
  ['in admin, by Control', control, question(ALICE, 'Write', absent(ADMIN_DOC), adminContainer), 'control'],
  ['the required mode is always Write', appendToParent, { ...puts(ALICE), required: 'Append' }, 'mode-missing'],
  ['an absent root: by Control on the class of roots', classControl, putRoot(ALICE), 'agent'],
  ['an absent root: Write on the class is not enough', aliceOn(ROOT, 'Write'), putRoot(ALICE), 'mode-missing'],
  ['an absent root: for others', classControl, putRoot(BOB), 'no-authorization'],
  ['an absent root, asked about like any document', control, { ...writes(ALICE, absent(BASE)), creates: true }, 'parent-missing'],
])

const publicItems = rule({ agentClass: EVERYONE, accessToClass: ITEM, mode: 'Read' })
// prettier-ignore
await check('absent documents', [
  ['GET: class rights on items', publicItems, reads(undefined, absent(DOC)), 'absent'],
  ['GET: class rights on containers', aliceOn(CONTAINER, 'Read'), reads(ALICE, absent(DOC)), 'absent'],
  ['GET: accessTo', aliceMay('Read'), reads(ALICE, absent(DOC)), 'absent'],
  ['GET: acl:default', defaultOf(BASE), reads(ALICE, absent(DOC)), 'absent'],
  ['GET: rights on the root class only', aliceOn(ROOT, 'Read'), reads(ALICE, absent(DOC)), 'no-authorization'],
  ['DELETE: not reported to a reader', aliceOn(ITEM, 'Read'), writes(ALICE, absent(DOC)), 'mode-missing'],
  ['admin: Control', control, writes(ALICE, absent(ADMIN_DOC)), 'absent'],
  ['admin: class rights', seededWriters, writes(ALICE, absent(ADMIN_DOC)), 'no-authorization'],
])

const adminDocument = document(ADMIN_DOC)
const REQUESTS = `${ADMIN}acl/authorization-requests/`
const requests = document(REQUESTS, { types: [CONTAINER] })
const appendRequests = rule({ agentClass: AUTHENTICATED, accessTo: REQUESTS, mode: 'Append' })
const withMore = (more: Statements): Graphs => ({
  ...control,
  [`${RULES}more/`]: authorization('urn:more', { agent: ALICE, ...more }),
})
const twoControls = withMore({ mode: ['Read', 'Control'] })
const withAppend = withMore({ accessTo: DOC, mode: 'Append' })
// prettier-ignore
await check('the admin application', [
  ['Control gives its modes everywhere', control, writes(ALICE, adminDocument), 'control', ['Write', 'Control']],
  ['and no others', control, reads(ALICE, adminDocument), 'mode-missing'],
  ['on endpoints too', control, writes(ALICE, `${ADMIN}clear`), 'control'],
  ['not in the end-user application', control, writes(ALICE), 'no-authorization'],
  ['two with Control are united', twoControls, reads(ALICE, adminDocument), 'control', ['Read', 'Write', 'Control']],
  ['Control extends no other authorization', withAppend, appends(ALICE, adminDocument), 'mode-missing'],
  ['the authenticated, on one container', appendRequests, appends(BOB, requests), 'authenticated-agent', ['Append']],
])

const THIS = `${RULES}#this`
const [MINE, ONTOLOGY] = [`${ADMIN}mine/`, `${ADMIN}o/`]
const joins = (group: string, agent: string): Fact => fact(group, MEMBER, agent)
const everyModeTo = { agentClass: EVERYONE, accessToClass: ITEM, mode: ['Read', 'Write', 'Control'] }
const forged = authorization(`${DOC}#forged`, everyModeTo)
const nearAdmin = { 'https://host/adminx/': forged, 'https://host/admin': forged, 'https://host.evil/admin/': forged }
const inRequests = { [REQUESTS]: forged, [`${REQUESTS}1/`]: forged }
/** Its owner is the agent of the import. */
const inImport = { [`${ADMIN}imports/1/`]: forged }
const writersRead = rule({ agentGroup: WRITERS, accessTo: DOC, mode: 'Read' })
const untyped = document(DOC, { types: [] })
const cycle = [sub(ITEM, 'urn:B'), sub('urn:B', ITEM), sub('urn:B', 'urn:B'), sub('urn:B', 'urn:C')]
const readC = aliceOn('urn:C', 'Read')
const readSub = { ...aliceOn('urn:Sub', 'Read'), [ONTOLOGY]: [sub('urn:Sub', ITEM)] }
const bobNamed = fact(THIS, ACL + 'agent', BOB)
const extended = { ...aliceMay('Read'), [MINE]: [bobNamed, fact(THIS, ACL + 'mode', ACL + 'Write')] }
const retyped = { ...aliceMay('Read'), [MINE]: [fact(THIS, TYPE, ACL + 'Authorization'), bobNamed] }
/** Read on DOC for the group, and no members. */
const groupReads = (group: string): Graphs => ({
  [RULES]: authorization('urn:a', { agentGroup: group, accessTo: DOC, mode: 'Read' }),
})
const nested = [joins('urn:outer', WRITERS), joins(WRITERS, ALICE)]
const namedAgent = (agent: string): Graphs => rule({ agent, accessTo: DOC, mode: 'Read' })
const rules = document(RULES)
const publicClasses = rule({ agentClass: EVERYONE, accessToClass: [ITEM, ROOT], mode: 'Read' })
const publicAppend = rule({ agentClass: EVERYONE, accessTo: ADMIN, mode: 'Append' })
const publicControl = rule({ agentClass: [EVERYONE, AUTHENTICATED], accessTo: DOC, mode: ALL_MODES })
const belowBase = document(RULES, { ancestors: [`${ADMIN}acl/authorizations/`, `${ADMIN}acl/`, ADMIN, BASE] })
const writeBelowBase = alice({ default: BASE, mode: 'Write' })
const ownRoot = document(BASE, { types: [ROOT], owners: [ALICE] })
const putAdminRoot = question(ALICE, 'Write', absent(ADMIN), ownRoot)
const OTHERS = [`${BASE}c/do`, `${BASE}d/`, 'https://evil/']
const below = (ancestors: readonly string[]): Asked => document(DOC, { ancestors })
const classRights = alice({ accessToClass: [ITEM, CONTAINER], default: BASE, mode: 'Read' })
// prettier-ignore
await check('attacks', [
  ['an authorization forged in an end-user graph', { [DOC]: forged }, writes(BOB), 'no-authorization'],
  ['in a graph whose IRI only resembles the admin base', nearAdmin, writes(BOB), 'no-authorization'],
  ['in a request for access, to which every identified agent may append', inRequests, writes(BOB), 'no-authorization'],
  ['a forged authorization in the document of an import', inImport, reads(BOB), 'no-authorization'],
  ['a forged membership there', { ...writersRead, [REQUESTS]: [joins(WRITERS, BOB)] }, reads(BOB), 'no-authorization'],
  ['a document without types is not of every class', seededWriters, writes(ALICE, untyped), 'no-authorization'],
  ['accessToClass the document itself', aliceOn(DOC, 'Read'), reads(ALICE), 'no-authorization'],
  ['subclass cycles end', { ...readC, [ONTOLOGY]: cycle }, reads(ALICE), 'agent'],
  ['a subclass in an end-user graph', { ...readC, [DOC]: [sub(ITEM, 'urn:C')] }, reads(ALICE), 'no-authorization'],
  ['rights on a subclass do not reach its superclass', readSub, reads(ALICE), 'no-authorization'],
  ['an authorization without mode', alice({ accessTo: DOC }), reads(ALICE), 'no-authorization'],
  ['unknown modes', alice({ accessTo: DOC, mode: ['read', 'constructor'] }), reads(ALICE), 'no-authorization'],
  ['a subject not typed as an authorization', { [RULES]: aliceReads.slice(1) }, reads(ALICE), 'no-authorization'],
  ['an appender of another graph extends an authorization', extended, reads(BOB), 'no-authorization'],
  ['even when it types it too', retyped, reads(BOB), 'no-authorization'],
  ['a group outside admin', { ...groupReads(WRITERS), [DOC]: [joins(WRITERS, BOB)] }, reads(BOB), 'no-authorization'],
  ['groups in groups', { ...groupReads('urn:outer'), [GROUPS]: nested }, reads(ALICE), 'no-authorization'],
  ['the group itself as WebID', writersRead, reads(WRITERS), 'no-authorization'],
  ['acl:agent of a group', namedAgent(WRITERS), reads(ALICE), 'no-authorization'],
  ['acl:agent foaf:Agent is not everyone', namedAgent(EVERYONE), reads(BOB), 'no-authorization'],
  ['a blank node as group', { ...groupReads('_:b0'), [MINE]: [joins('_:b0', BOB)] }, reads(BOB), 'no-authorization'],
  ['class rights of writers on the authorizations', seededWriters, writes(ALICE, rules), 'no-authorization'],
  ['public class rights on the authorizations', publicClasses, reads(BOB, rules), 'no-authorization'],
  ['public Append on the admin root, below it', publicAppend, appends(undefined, rules), 'no-authorization'],
  ['public Control does not open the admin application', publicControl, writes(BOB, rules), 'no-authorization'],
  ['acl:default of the end-user root, in admin', writeBelowBase, writes(ALICE, belowBase), 'no-authorization'],
  ['the end-user root is not the parent of the admin root', seededWriters, putAdminRoot, 'parent-missing'],
  ['acl:default of no container above it', defaultOf(OTHERS), reads(ALICE, below(OTHERS)), 'no-authorization'],
  ['acl:default of itself as its own ancestor', defaultOf(DOC), reads(ALICE, below([DOC, BASE])), 'no-authorization'],
  ['the owner of an absent document', {}, reads(ALICE, { ...absent(DOC), owners: [ALICE] }), 'no-authorization'],
  ['class rights on an endpoint', classRights, reads(ALICE, `${BASE}sparql`), 'no-authorization'],
])

await t.test('design 3: new types must not give their writer another mode', async (t) => {
  const [R, W, A, C] = ['Read', 'Write', 'Append', 'Control'] as const
  const rows: [before: Mode[], after: Mode[], widened: Mode | undefined][] = [
    [[W], [W], undefined],
    [[W], [R, W], R],
    [[W], [W, A], A],
    [[A], [W, A], W],
    [[R, W], [R, W, A], undefined],
    [[R, W], [R, W, C], C],
    [[W, C], [R, W, A, C], undefined],
    [[R, W], [W], undefined],
  ]
  for (const [before, after, widened] of rows) t.equal(widenedMode(before, after), widened, `${before} to ${after}`)
  const modes = fc.subarray([...ALL_MODES])
  fc.assert(
    fc.property(modes, modes, (before, after) => {
      if (widenedMode(before, after) !== undefined) return !before.includes(C)
      const gained = after.filter((mode) => !before.includes(mode))
      return gained.length === 0 || before.includes(C) || (before.includes(R) && !gained.includes(C))
    }),
  )
})

await t.test('a question with a document of the other application is a bug, not a decision', async (t) => {
  const index = indexOf(control)
  t.throws(() => decide(index, { ...question(ALICE, 'Write', document(RULES)), application: 'end-user' }))
  t.throws(() => decide(index, { ...question(ALICE, 'Write', document(DOC)), application: 'admin' }))
})

await t.test('a decision has its reasons', async (t) => {
  const others = Array.from({ length: 50 }, (_, n) =>
    authorization(`urn:${n}`, { agent: BOB, accessTo: DOC, mode: 'Write' }),
  )
  const index = indexOf({
    [RULES]: authorization('urn:class', { agentGroup: WRITERS, accessToClass: ITEM, mode: ['Read', 'Append'] }),
    [GROUPS]: MEMBERSHIP,
    [`${RULES}many/`]: others.flat(),
  })
  const allowed = decide(index, question(ALICE, 'Read', document(DOC)))
  const target = { kind: 'accessToClass', iri: ITEM }
  t.same(allowed.via, [
    { iri: 'urn:class', graph: RULES, modes: ['Read', 'Append'], subject: 'group', group: WRITERS, target },
  ])
  const refused = decide(index, question(ALICE, 'Write', document(DOC)))
  t.same([refused.via, refused.considered().authorizations.length, refused.considered().total], [[], 20, 51])
  const [first] = refused.considered().authorizations
  const itself = { kind: 'accessTo', iri: DOC }
  t.same(first, { iri: 'urn:0', graph: `${RULES}many/`, modes: ['Write'], target: itself, lacks: 'agent' })
  const appender = decide(indexOf(aliceMay('Append')), reads(ALICE))
  t.equal(appender.considered().authorizations[0]?.lacks, 'mode')
  t.equal(decide(index, question(BOB, 'Write', document(DOC))).via.length, 5, 'no more than 5 are listed')
})

await t.test(
  'design 4: graphs that are not documents, by name, by a prefix, as one of all such graphs, and by Control',
  async (t) => {
    const GRAPH = 'http://other/g#1'
    const asked = (iri: string, required: Mode, alone = true, application: 'end-user' | 'admin' = 'end-user') => {
      const base = application === 'admin' ? ADMIN : BASE
      const reach = { application, base, below: application === 'admin' ? [] : [ADMIN], alone, isEndpoint: () => false }
      const kind = iri === DEFAULT_GRAPH ? ('default-graph' as const) : ('graph' as const)
      return { application, agent: ALICE, required, creates: false, target: { kind, iri, reach } }
    }
    const named = alice({ accessTo: [GRAPH, DEFAULT_GRAPH], mode: 'Read' })
    const begun = alice({ default: 'http://other/', mode: 'Read' })
    const all = alice({ accessToClass: OTHER_GRAPH, mode: 'Read' })
    const rows: readonly [name: string, graphs: Graphs, ask: Question, reason: Decision['reason']][] = [
      ['by name', named, asked(GRAPH, 'Read'), 'agent'],
      ['another name', named, asked('http://other/g', 'Read'), 'no-authorization'],
      ['another mode', named, asked(GRAPH, 'Write'), 'mode-missing'],
      ['the default graph by its name', named, asked(DEFAULT_GRAPH, 'Read'), 'agent'],
      ['by the beginning', begun, asked(GRAPH, 'Read'), 'agent'],
      ['the default graph is not one of all', all, asked(DEFAULT_GRAPH, 'Read'), 'no-authorization'],
      ['one of all', all, asked(GRAPH, 'Read'), 'agent'],
      ['not in a dataset of several dataspaces', all, asked(GRAPH, 'Read', false), 'no-authorization'],
      ['not in the admin application', all, asked(GRAPH, 'Read', true, 'admin'), 'no-authorization'],
      ['Control gives its modes on all', control, asked(GRAPH, 'Write'), 'control'],
      ['and on the default graph', control, asked(DEFAULT_GRAPH, 'Write'), 'control'],
      ['in the admin application too', control, asked(GRAPH, 'Write', true, 'admin'), 'control'],
      ['not in a dataset of several dataspaces', control, asked(GRAPH, 'Write', false), 'no-authorization'],
    ]
    for (const [name, graphs, ask, reason] of rows) {
      const decision = decide(indexOf(graphs), ask)
      t.same([decision.reason, decision.on], [reason, ask.target.iri], name)
    }
  },
)

await t.test('a refusal names the target, the mode, and the modes that the agent has there', async (t) => {
  const missing = decide(indexOf(aliceMay('Read')), reads(ALICE, absent(DOC)))
  t.match(missing, { allowed: false, reason: 'absent', absent: true, required: 'Read', on: DOC, modes: ['Read'] })
  const orphan = decide(indexOf(aliceMay('Write')), question(ALICE, 'Append', absent(DOC)))
  t.match(orphan, { allowed: false, absent: false, on: DOC })
  const created = decide(indexOf({}), { ...writes(ALICE, absent(DOC)), creates: true })
  t.match(created, { allowed: false, reason: 'parent-missing', required: 'Write', on: DOC, modes: [], absent: false })
  t.same(created.considered(), { authorizations: [], total: 0 })
  const widest = decide(indexOf(rule({ agentClass: AUTHENTICATED, accessTo: DOC, mode: 'Read' })), reads(ALICE, document(DOC, { owners: [ALICE] }))) // prettier-ignore
  t.equal(widest.reason, 'authenticated-agent', 'an owner has what all identified agents have by their authorization')
  const owned = decide(indexOf(rule({ agent: ALICE, accessTo: DOC, mode: 'Control' })), question(ALICE, 'Control', document(DOC, { owners: [ALICE] }))) // prettier-ignore
  t.equal(owned.reason, 'agent', 'an owner has Control by an authorization only')
})

await t.test('the authorizations about a target, for any subject', async (t) => {
  const index = indexOf({
    ...control,
    [MINE]: [
      ...authorization('urn:endpoint', { agent: BOB, accessTo: `${BASE}sparql`, mode: 'Read' }),
      ...authorization('urn:class', { agent: BOB, accessToClass: ITEM, mode: 'Read' }),
      ...authorization('urn:other', { agent: BOB, accessTo: 'urn:g', mode: 'Read' }),
    ],
  })
  const about = (ask: Pick<Question, 'application' | 'target'>): string[] =>
    authorizationsAbout(index, ask).map(({ iri }) => iri).sort()
  const reach = { application: 'end-user' as const, base: BASE, below: [ADMIN], alone: true, isEndpoint: () => false }
  t.same(about(question(undefined, 'Read', `${BASE}sparql`)), ['urn:endpoint'])
  t.same(about(question(undefined, 'Read', document(DOC))), ['urn:class'])
  const [own = '', ...others] = about({ application: 'end-user', target: { kind: 'graph', iri: 'urn:g', reach } })
  t.same([others, own], [['urn:other'], THIS], 'those with Control too')
  t.same(about(question(undefined, 'Read', `${ADMIN}clear`)), [THIS])
}) // prettier-ignore
