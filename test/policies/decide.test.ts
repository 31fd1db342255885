// Access decisions: which rights give what (LinkedDataHub 5.1 to 5.6, design 4), and the attacks on them by name.
import t from 'tap'
import type { Fact } from '../../policies/authorizations/authorization.js'
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { decide, requiredMode, type Decision, type Question } from '../../policies/decide.js'
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
  for (const [graph, facts] of Object.entries(graphs)) index.replaceGraph(graph, facts)
  return index
}
const rule = (statements: Statements): Record<string, Fact[]> => ({
  [RULES]: authorization(`${RULES}#this`, statements),
  [GROUPS]: MEMBERSHIP,
})

await t.test('the mode that a method needs', async (t) => {
  const table: Record<string, Mode | undefined> = {
    GET: 'Read', HEAD: 'Read', POST: 'Append', PUT: 'Write', PATCH: 'Write', DELETE: 'Write',
    QUERY: undefined, OPTIONS: undefined, TRACE: undefined, PROPFIND: undefined, get: undefined, constructor: undefined,
  } // prettier-ignore
  for (const [method, mode] of Object.entries(table)) t.equal(requiredMode(method), mode, method)
})

// Who is named × how the target is named × application: does it reach a document, and an endpoint?
await t.test('subject × target × application × mode', async (t) => {
  const subjects: Record<string, { statements: Statements; matches: (agent: string | undefined) => boolean; named: boolean }> = {
    'agent': { statements: { agent: ALICE }, matches: (a) => a === ALICE, named: true },
    'group': { statements: { agentGroup: WRITERS }, matches: (a) => a === ALICE, named: true },
    'public': { statements: { agentClass: EVERYONE }, matches: () => true, named: false },
    'authenticated': { statements: { agentClass: AUTHENTICATED }, matches: (a) => a !== undefined, named: false },
    'another class': { statements: { agentClass: ACL + 'Other' }, matches: () => false, named: false },
    'nobody': { statements: {}, matches: () => false, named: false },
  } // prettier-ignore
  const targets = (doc: string, base: string): Record<string, { statements: Statements; document: boolean; admin: boolean; endpoint: boolean }> => ({
    'accessTo it': { statements: { accessTo: [doc, `${base}sparql`] }, document: true, admin: true, endpoint: true },
    'accessTo another': { statements: { accessTo: `${base}other/` }, document: false, admin: false, endpoint: false },
    'accessTo its container': { statements: { accessTo: `${base}c/` }, document: false, admin: false, endpoint: false },
    'accessToClass its type': { statements: { accessToClass: ITEM }, document: true, admin: false, endpoint: false },
    'accessToClass a superclass': { statements: { accessToClass: 'https://onto/Top' }, document: true, admin: false, endpoint: false },
    'accessToClass another': { statements: { accessToClass: CONTAINER }, document: false, admin: false, endpoint: false },
    'default its container': { statements: { default: `${base}c/` }, document: true, admin: true, endpoint: false },
    'default the root': { statements: { default: base }, document: true, admin: true, endpoint: false },
    'default itself': { statements: { default: doc }, document: false, admin: false, endpoint: false },
    'no target': { statements: {}, document: false, admin: false, endpoint: false },
  }) // prettier-ignore
  const classes = { [`${ADMIN}ontologies/`]: [fact(ITEM, SUB_CLASS_OF, 'https://onto/Mid'), fact('https://onto/Mid', SUB_CLASS_OF, 'https://onto/Top')] } // prettier-ignore

  for (const [doc, base] of [
    [DOC, BASE],
    [ADMIN_DOC, ADMIN],
  ] as const) {
    const isAdmin = base === ADMIN
    for (const [who, subject] of Object.entries(subjects)) {
      for (const [what, target] of Object.entries(targets(doc, base))) {
        for (const granted of ALL_MODES) {
          const index = indexOf({ ...rule({ ...subject.statements, ...target.statements, mode: granted }), ...classes })
          const everywhere = isAdmin && granted === 'Control' && subject.named
          const failures: string[] = []
          for (const agent of [ALICE, BOB, undefined]) {
            for (const required of ALL_MODES) {
              const reaches = {
                document: subject.matches(agent) && ((isAdmin ? target.admin : target.document) || everywhere),
                endpoint: subject.matches(agent) && (target.endpoint || everywhere),
              }
              for (const [kind, asked] of [
                ['document', document(doc)],
                ['endpoint', `${base}sparql`],
              ] as const) {
                const decision = decide(index, question(agent, required, asked))
                const expected = reaches[kind] ? [granted] : []
                if (decision.allowed !== expected.includes(required) || decision.modes.join() !== expected.join()) {
                  failures.push(`${agent} ${required} ${kind}: ${decision.allowed} ${decision.modes.join()}`)
                }
              }
            }
          }
          t.same(failures, [], `${isAdmin ? 'admin' : 'end-user'}: ${who}, ${what}, ${granted}`)
        }
      }
    }
  }
})

interface Row {
  readonly name: string
  readonly graphs: Record<string, readonly Fact[]>
  readonly ask: Question
  readonly reason: Decision['reason']
  readonly modes?: readonly Mode[]
}

const granted = ['public', 'authenticated-agent', 'owner', 'agent', 'group', 'control']

const check = (name: string, rows: readonly Row[]): Promise<unknown> =>
  t.test(name, async (t) => {
    for (const { name, graphs, ask, reason, modes } of rows) {
      const decision = decide(indexOf(graphs), ask)
      t.equal(decision.reason, reason, `${name}: ${reason}`)
      t.equal(decision.allowed, granted.includes(reason), `${name}: allowed or not`)
      t.equal(decision.absent, reason === 'absent', `${name}: told as absent or not`)
      if (modes) t.same(decision.modes, modes, `${name}: modes`)
    }
  })

const owned = document(DOC, { owners: [BOB, ALICE] })
await check('owners, and the union of modes', [
  { name: 'an owner, even the second one, reads, writes and appends', graphs: {}, ask: question(ALICE, 'Write', owned), reason: 'owner', modes: ['Read', 'Write', 'Append'] },
  { name: 'an owner has no Control', graphs: {}, ask: question(ALICE, 'Control', owned), reason: 'mode-missing' },
  { name: 'in the admin application too', graphs: {}, ask: question(ALICE, 'Append', document(ADMIN_DOC, { owners: [ALICE] })), reason: 'owner' },
  { name: 'nobody identified owns nothing', graphs: {}, ask: question(undefined, 'Read', owned), reason: 'no-authorization', modes: [] },
  { name: 'the widest reason: public before owner', graphs: rule({ agentClass: EVERYONE, accessTo: DOC, mode: 'Read' }), ask: question(ALICE, 'Read', owned), reason: 'public', modes: ['Read', 'Write', 'Append'] },
  { name: 'public before agent in one authorization', graphs: rule({ agent: ALICE, agentClass: [AUTHENTICATED, EVERYONE], accessTo: DOC, mode: 'Read' }), ask: question(ALICE, 'Read', document(DOC)), reason: 'public' },
  { name: 'Control alone implies nothing else', graphs: rule({ agent: ALICE, accessTo: DOC, mode: 'Control' }), ask: question(ALICE, 'Read', document(DOC)), reason: 'mode-missing', modes: ['Control'] },
  { name: 'Write does not imply Append', graphs: rule({ agent: ALICE, accessTo: DOC, mode: 'Write' }), ask: question(ALICE, 'Append', document(DOC)), reason: 'mode-missing', modes: ['Write'] },
  {
    name: 'modes of all that match are united',
    graphs: { [RULES]: [...authorization('urn:a', { agent: ALICE, accessTo: DOC, mode: 'Read' }), ...authorization('urn:b', { agentGroup: WRITERS, accessToClass: ITEM, mode: ['Append', 'Write'] })], [GROUPS]: MEMBERSHIP },
    ask: question(ALICE, 'Write', document(DOC)), reason: 'group', modes: ['Read', 'Write', 'Append'],
  },
]) // prettier-ignore

const seededWriters = rule({ agentGroup: WRITERS, accessToClass: [ITEM, CONTAINER, ROOT], mode: ['Read', 'Write', 'Append'] }) // prettier-ignore
const control = rule({ agentGroup: WRITERS, accessTo: `${BASE}elsewhere/`, mode: ['Write', 'Control'] })
const container = document(`${BASE}c/`, { types: [CONTAINER] })
await check('creating and absent documents', [
  { name: 'PUT: Write on the parent container', graphs: seededWriters, ask: question(ALICE, 'Write', absent(DOC), container), reason: 'group' },
  { name: 'PUT: on the root', graphs: seededWriters, ask: question(ALICE, 'Write', absent(`${BASE}c/`), document(BASE, { types: [ROOT] })), reason: 'group' },
  { name: 'PUT: the owner of the parent', graphs: {}, ask: question(ALICE, 'Write', absent(DOC), document(`${BASE}c/`, { types: [CONTAINER], owners: [ALICE] })), reason: 'owner' },
  { name: 'PUT: Append on the parent is not enough', graphs: rule({ agent: ALICE, accessTo: `${BASE}c/`, mode: ['Read', 'Append'] }), ask: question(ALICE, 'Write', absent(DOC), container), reason: 'mode-missing' },
  { name: 'PUT: Write on the absent document itself is not enough', graphs: rule({ agent: ALICE, accessTo: DOC, mode: 'Write' }), ask: question(ALICE, 'Write', absent(DOC), container), reason: 'no-authorization' },
  { name: 'PUT: acl:default on the parent is for what is in it, not for it', graphs: rule({ agent: ALICE, default: `${BASE}c/`, mode: 'Write' }), ask: question(ALICE, 'Write', absent(DOC), container), reason: 'no-authorization' },
  { name: 'PUT: acl:default above the parent', graphs: rule({ agent: ALICE, default: BASE, mode: 'Write' }), ask: question(ALICE, 'Write', absent(DOC), container), reason: 'agent' },
  { name: 'PUT: rights on items do not reach the parent container', graphs: rule({ agent: ALICE, accessToClass: ITEM, mode: 'Write' }), ask: question(ALICE, 'Write', absent(DOC), container), reason: 'no-authorization' },
  { name: 'PUT: no parent, told to who could write there', graphs: seededWriters, ask: question(ALICE, 'Write', absent(DOC), absent(`${BASE}c/`)), reason: 'parent-missing' },
  { name: 'PUT: no parent, not told to others', graphs: seededWriters, ask: question(BOB, 'Write', absent(DOC), absent(`${BASE}c/`)), reason: 'no-authorization' },
  { name: 'PUT: the parent is an item', graphs: seededWriters, ask: question(ALICE, 'Write', absent(DOC), document(`${BASE}c/`)), reason: 'parent-no-container' },
  { name: 'PUT: the parent is an item, not told to others', graphs: seededWriters, ask: question(BOB, 'Write', absent(DOC), document(`${BASE}c/`)), reason: 'no-authorization' },
  { name: 'PUT: in the admin application, by Control', graphs: control, ask: question(ALICE, 'Write', absent(ADMIN_DOC), document(`${ADMIN}c/`, { types: [CONTAINER] })), reason: 'control' },
  { name: 'PUT: the required mode is Write whatever was asked', graphs: rule({ agent: ALICE, accessTo: `${BASE}c/`, mode: 'Append' }), ask: question(ALICE, 'Append', absent(DOC), container), reason: 'mode-missing' },
  { name: 'PUT: an absent root has no parent', graphs: control, ask: { ...question(ALICE, 'Write', absent(BASE)), creates: true }, reason: 'parent-missing' },
  { name: 'GET: class rights on items', graphs: rule({ agentClass: EVERYONE, accessToClass: ITEM, mode: 'Read' }), ask: question(undefined, 'Read', absent(DOC)), reason: 'absent' },
  { name: 'GET: class rights on containers', graphs: rule({ agent: ALICE, accessToClass: CONTAINER, mode: 'Read' }), ask: question(ALICE, 'Read', absent(DOC)), reason: 'absent' },
  { name: 'GET: accessTo', graphs: rule({ agent: ALICE, accessTo: DOC, mode: 'Read' }), ask: question(ALICE, 'Read', absent(DOC)), reason: 'absent' },
  { name: 'GET: acl:default', graphs: rule({ agent: ALICE, default: BASE, mode: 'Read' }), ask: question(ALICE, 'Read', absent(DOC)), reason: 'absent' },
  { name: 'GET: rights on the root class only', graphs: rule({ agent: ALICE, accessToClass: ROOT, mode: 'Read' }), ask: question(ALICE, 'Read', absent(DOC)), reason: 'no-authorization' },
  { name: 'DELETE: a reader is not told', graphs: rule({ agent: ALICE, accessToClass: ITEM, mode: 'Read' }), ask: question(ALICE, 'Write', absent(DOC)), reason: 'mode-missing' },
  { name: 'admin: Control', graphs: control, ask: question(ALICE, 'Write', absent(ADMIN_DOC)), reason: 'absent' },
  { name: 'admin: class rights', graphs: seededWriters, ask: question(ALICE, 'Write', absent(ADMIN_DOC)), reason: 'no-authorization' },
]) // prettier-ignore

await check('the admin application', [
  { name: 'Control anywhere gives the modes it lists everywhere', graphs: control, ask: question(ALICE, 'Write', document(ADMIN_DOC)), reason: 'control', modes: ['Write', 'Control'] },
  { name: 'and no others', graphs: control, ask: question(ALICE, 'Read', document(ADMIN_DOC)), reason: 'mode-missing' },
  { name: 'on endpoints too', graphs: control, ask: question(ALICE, 'Write', `${ADMIN}clear`), reason: 'control' },
  { name: 'not in the end-user application', graphs: control, ask: question(ALICE, 'Write', document(DOC)), reason: 'no-authorization' },
  { name: 'modes of different authorizations with Control are united', graphs: { ...control, [`${RULES}more/`]: authorization('urn:more', { agent: ALICE, mode: ['Read', 'Control'] }) }, ask: question(ALICE, 'Read', document(ADMIN_DOC)), reason: 'control', modes: ['Read', 'Write', 'Control'] },
  { name: 'an authorization without Control is not lifted by another with it', graphs: { ...control, [`${RULES}more/`]: authorization('urn:more', { agent: ALICE, accessTo: DOC, mode: 'Append' }) }, ask: question(ALICE, 'Append', document(ADMIN_DOC)), reason: 'mode-missing' },
  { name: 'Append for the authenticated on one container', graphs: rule({ agentClass: AUTHENTICATED, accessTo: `${ADMIN}acl/authorization-requests/`, mode: 'Append' }), ask: question(BOB, 'Append', document(`${ADMIN}acl/authorization-requests/`, { types: [CONTAINER] })), reason: 'authenticated-agent', modes: ['Append'] },
]) // prettier-ignore

const forged = authorization(`${DOC}#forged`, { agentClass: EVERYONE, accessToClass: ITEM, mode: ['Read', 'Write', 'Control'] }) // prettier-ignore
await check('attacks', [
  { name: 'an authorization forged in an end-user graph', graphs: { [DOC]: forged }, ask: question(BOB, 'Write', document(DOC)), reason: 'no-authorization' },
  { name: 'an authorization in a graph that only looks as if under the admin base', graphs: { 'https://host/adminx/': forged, 'https://host/admin': forged, 'https://host.evil/admin/': forged }, ask: question(BOB, 'Write', document(DOC)), reason: 'no-authorization' },
  { name: 'an authorization forged in a request for access, to which everyone identified may append', graphs: { [`${ADMIN}acl/authorization-requests/`]: forged, [`${ADMIN}acl/authorization-requests/1/`]: forged }, ask: question(BOB, 'Write', document(DOC)), reason: 'no-authorization' },
  { name: 'a membership forged there', graphs: { ...rule({ agentGroup: WRITERS, accessTo: DOC, mode: 'Read' }), [`${ADMIN}acl/authorization-requests/`]: [fact(WRITERS, MEMBER, BOB)] }, ask: question(BOB, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'a document without types is not of every class', graphs: seededWriters, ask: question(ALICE, 'Write', document(DOC, { types: [] })), reason: 'no-authorization' },
  { name: 'accessToClass the document itself', graphs: rule({ agent: ALICE, accessToClass: DOC, mode: 'Read' }), ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'subclass cycles end', graphs: { ...rule({ agent: ALICE, accessToClass: 'urn:C', mode: 'Read' }), [`${ADMIN}o/`]: [fact(ITEM, SUB_CLASS_OF, 'urn:B'), fact('urn:B', SUB_CLASS_OF, ITEM), fact('urn:B', SUB_CLASS_OF, 'urn:B'), fact('urn:B', SUB_CLASS_OF, 'urn:C')] }, ask: question(ALICE, 'Read', document(DOC)), reason: 'agent' },
  { name: 'a subclass declared in an end-user graph', graphs: { ...rule({ agent: ALICE, accessToClass: 'urn:C', mode: 'Read' }), [DOC]: [fact(ITEM, SUB_CLASS_OF, 'urn:C')] }, ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'rights on a subclass do not reach its superclass', graphs: { ...rule({ agent: ALICE, accessToClass: 'urn:Sub', mode: 'Read' }), [`${ADMIN}o/`]: [fact('urn:Sub', SUB_CLASS_OF, ITEM)] }, ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'an authorization without mode', graphs: rule({ agent: ALICE, accessTo: DOC }), ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'a mode that is not known', graphs: rule({ agent: ALICE, accessTo: DOC, mode: ['read', 'constructor'] }), ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'a subject not typed as an authorization', graphs: { [RULES]: authorization('urn:a', { agent: ALICE, accessTo: DOC, mode: 'Read' }).slice(1) }, ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: "an appender of another graph extends somebody else's authorization", graphs: { ...rule({ agent: ALICE, accessTo: DOC, mode: 'Read' }), [`${ADMIN}mine/`]: [fact(`${RULES}#this`, ACL + 'agent', BOB), fact(`${RULES}#this`, ACL + 'mode', ACL + 'Write')] }, ask: question(BOB, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'even when it types it too', graphs: { ...rule({ agent: ALICE, accessTo: DOC, mode: 'Read' }), [`${ADMIN}mine/`]: [fact(`${RULES}#this`, TYPE, ACL + 'Authorization'), fact(`${RULES}#this`, ACL + 'agent', BOB)] }, ask: question(BOB, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'a group defined outside the admin base', graphs: { [RULES]: authorization('urn:a', { agentGroup: WRITERS, accessTo: DOC, mode: 'Read' }), [DOC]: [fact(WRITERS, MEMBER, BOB)] }, ask: question(BOB, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'groups in groups', graphs: { [RULES]: authorization('urn:a', { agentGroup: 'urn:outer', accessTo: DOC, mode: 'Read' }), [GROUPS]: [fact('urn:outer', MEMBER, WRITERS), fact(WRITERS, MEMBER, ALICE)] }, ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'the group itself as WebID', graphs: rule({ agentGroup: WRITERS, accessTo: DOC, mode: 'Read' }), ask: question(WRITERS, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'acl:agent of a group', graphs: rule({ agent: WRITERS, accessTo: DOC, mode: 'Read' }), ask: question(ALICE, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'acl:agent foaf:Agent is not everyone', graphs: rule({ agent: EVERYONE, accessTo: DOC, mode: 'Read' }), ask: question(BOB, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'a blank node as group', graphs: { [RULES]: authorization('urn:a', { agentGroup: '_:b0', accessTo: DOC, mode: 'Read' }), [`${ADMIN}mine/`]: [fact('_:b0', MEMBER, BOB)] }, ask: question(BOB, 'Read', document(DOC)), reason: 'no-authorization' },
  { name: 'class rights of writers on the authorizations themselves', graphs: seededWriters, ask: question(ALICE, 'Write', document(RULES)), reason: 'no-authorization' },
  { name: 'public class rights on the authorizations', graphs: rule({ agentClass: EVERYONE, accessToClass: [ITEM, ROOT], mode: 'Read' }), ask: question(BOB, 'Read', document(RULES)), reason: 'no-authorization' },
  { name: 'public Append on the admin root is not for what is below it', graphs: rule({ agentClass: EVERYONE, accessTo: ADMIN, mode: 'Append' }), ask: question(undefined, 'Append', document(RULES)), reason: 'no-authorization' },
  { name: 'public Control does not open the admin application', graphs: rule({ agentClass: [EVERYONE, AUTHENTICATED], accessTo: DOC, mode: ['Read', 'Write', 'Append', 'Control'] }), ask: question(BOB, 'Write', document(RULES)), reason: 'no-authorization' },
  { name: 'acl:default of the end-user root does not reach into the admin application below it', graphs: rule({ agent: ALICE, default: BASE, mode: 'Write' }), ask: question(ALICE, 'Write', document(RULES, { ancestors: [`${ADMIN}acl/authorizations/`, `${ADMIN}acl/`, ADMIN, BASE] })), reason: 'no-authorization' },
  { name: 'the end-user root is not the parent of the admin root', graphs: seededWriters, ask: question(ALICE, 'Write', absent(ADMIN), document(BASE, { types: [ROOT], owners: [ALICE] })), reason: 'parent-missing' },
  { name: 'acl:default of what is no container above it', graphs: rule({ agent: ALICE, default: [`${BASE}c/do`, `${BASE}d/`, 'https://evil/'], mode: 'Read' }), ask: question(ALICE, 'Read', document(DOC, { ancestors: [`${BASE}c/do`, `${BASE}d/`, 'https://evil/'] })), reason: 'no-authorization' },
  { name: 'acl:default of itself, given as an ancestor of its own', graphs: rule({ agent: ALICE, default: DOC, mode: 'Read' }), ask: question(ALICE, 'Read', document(DOC, { ancestors: [DOC, BASE] })), reason: 'no-authorization' },
  { name: 'the owner of what does not exist', graphs: {}, ask: question(ALICE, 'Read', { ...absent(DOC), owners: [ALICE] }), reason: 'no-authorization' },
  { name: 'class rights on an endpoint', graphs: rule({ agent: ALICE, accessToClass: [ITEM, CONTAINER], default: BASE, mode: 'Read' }), ask: question(ALICE, 'Read', `${BASE}sparql`), reason: 'no-authorization' },
]) // prettier-ignore

await t.test('a document asked about in the wrong application is a bug, not a decision', async (t) => {
  const index = indexOf(control)
  t.throws(() => decide(index, { ...question(ALICE, 'Write', document(RULES)), application: 'end-user' }))
  t.throws(() => decide(index, { ...question(ALICE, 'Write', document(DOC)), application: 'admin' }))
})

await t.test('a decision says why', async (t) => {
  const others = Array.from({ length: 50 }, (_, n) =>
    authorization(`urn:${n}`, { agent: BOB, accessTo: DOC, mode: 'Write' }),
  )
  const index = indexOf({
    [RULES]: authorization('urn:class', { agentGroup: WRITERS, accessToClass: ITEM, mode: ['Read', 'Append'] }),
    [GROUPS]: MEMBERSHIP,
    [`${RULES}many/`]: others.flat(),
  })
  const allowed = decide(index, question(ALICE, 'Read', document(DOC)))
  t.same(allowed.via, [
    { iri: 'urn:class', graph: RULES, modes: ['Read', 'Append'], subject: 'group', group: WRITERS, target: { kind: 'accessToClass', iri: ITEM } },
  ]) // prettier-ignore
  const refused = decide(index, question(ALICE, 'Write', document(DOC)))
  t.same([refused.via, refused.considered().authorizations.length, refused.considered().total], [[], 20, 51])
  t.same(refused.considered().authorizations[0], { iri: 'urn:0', graph: `${RULES}many/`, modes: ['Write'], target: { kind: 'accessTo', iri: DOC }, lacks: 'agent' }) // prettier-ignore
  const appender = decide(
    indexOf(rule({ agent: ALICE, accessTo: DOC, mode: 'Append' })),
    question(ALICE, 'Read', document(DOC)),
  )
  t.equal(appender.considered().authorizations[0]?.lacks, 'mode')
  t.equal(decide(index, question(BOB, 'Write', document(DOC))).via.length, 5, 'no more than 5 are listed')
})
