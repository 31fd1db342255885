// The index of authorizations: its size, changes and rebuilds, and a comparison with the rule text on random data.
import { deserialize, serialize } from 'node:v8'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import type { Fact } from '../../../policies/authorizations/authorization.js'
import {
  makeAuthorizationIndex,
  type AuthorizationIndex,
  type ReadGraph,
  type Rebuild,
} from '../../../policies/authorizations/authorization-index.js'
import { makeIriTable } from '../../../policies/authorizations/iri-table.js'
import { makeTableState } from '../../../policies/authorizations/table-state.js'
import type { Mode } from '../../../policies/authorizations/authorization.js'
import { decide, type Question } from '../../../policies/decide.js'
import {
  absent,
  ACL,
  ADMIN,
  authorization,
  BASE,
  commit,
  CONTAINER,
  document,
  EVERYONE,
  fact,
  ITEM,
  MEMBER,
  question,
  replaceGraph,
  ROOT,
  SUB_CLASS_OF,
  TYPE,
} from '../access-facts.js'
import { ALL_MODES, naiveDecide } from '../naive-access.js'

const [ALICE, BOB] = ['https://alice/#me', 'https://bob/#me']
const WRITERS = `${ADMIN}acl/groups/writers/#this`
const RULES = `${ADMIN}acl/authorizations/rules/`
const GROUPS = `${ADMIN}acl/groups/`
const AUTHENTICATED = ACL + 'AuthenticatedAgent'
const DOC = `${BASE}c/doc/`
const ADMIN_DOC = `${ADMIN}c/doc/`
const MEMBERSHIP = [fact(WRITERS, MEMBER, ALICE)]

const readInto = (rebuild: Rebuild, graph: string, read: ReadGraph): void => void [...rebuild.reading(graph, read)]

const indexOf = (graphs: Record<string, readonly Fact[]>): AuthorizationIndex => {
  const index = makeAuthorizationIndex(ADMIN)
  for (const [graph, facts] of Object.entries(graphs)) replaceGraph(index, graph, facts)
  return index
}
await t.test('authorizations with many agents and many targets are not multiplied out', async (t) => {
  const many = Array.from({ length: 5000 }, (_, n) => n)
  const index = indexOf({})
  const before = process.memoryUsage().heapUsed
  const [agent, accessTo] = [many.map((n) => `https://agent/${n}`), many.map((n) => `${BASE}${n}/`)]
  replaceGraph(index, RULES, authorization('urn:wide', { agent, agentGroup: WRITERS, accessTo, mode: ['Read'] }))
  t.ok(process.memoryUsage().heapUsed - before < 100e6, 'memory in proportion to the statements')
  replaceGraph(index, GROUPS, MEMBERSHIP)
  const reasonFor = (agent: string): string => decide(index, question(agent, 'Read', document(`${BASE}4999/`))).reason
  t.equal(reasonFor('https://agent/4999'), 'agent')
  t.equal(reasonFor(ALICE), 'group')
  t.equal(reasonFor(BOB), 'no-authorization')
  replaceGraph(index, RULES, undefined)
  t.equal(reasonFor('https://agent/4999'), 'no-authorization')
})

await t.test('removed graphs leave nothing behind', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const index = indexOf({ [RULES]: authorization('urn:stays', { agent: ALICE, accessToClass: ITEM, mode: 'Read' }) })
  const comeAndGo = (from: number, to: number): void => {
    for (let n = from; n < to; n++) {
      const who = { agent: `urn:${n}`, agentGroup: `urn:group:${n}` }
      const what = { accessTo: `${BASE}${n}/`, accessToClass: ITEM, mode: 'Read' }
      const rules = ['a', 'b'].flatMap((name) => authorization(`urn:${name}`, { ...who, ...what }))
      const graph = `${ADMIN}${n}/`
      replaceGraph(index, graph, [
        ...rules,
        fact(`urn:group:${n}`, MEMBER, ALICE),
        fact(`urn:class:${n}`, SUB_CLASS_OF, ITEM),
      ])
      decide(index, question(`urn:${n}`, 'Read', document(`${BASE}${n}/`)))
      replaceGraph(index, graph, undefined)
    }
  }
  comeAndGo(0, 5_000)
  const before = heap()
  comeAndGo(5_000, 35_000)
  t.ok(heap() - before < 4e6, 'less than a leak of 150 bytes per change would leave')
  t.same(index.size, { graphs: 1, authorizations: 1, subjects: 1 })
})

await t.test('a statement in two graphs stays when one of them is removed', async (t) => {
  const index = indexOf({
    [RULES]: authorization('urn:a', { agentGroup: WRITERS, accessToClass: 'urn:class', mode: 'Read' }),
    [GROUPS]: [...MEMBERSHIP, fact(ITEM, SUB_CLASS_OF, 'urn:class')],
    [`${GROUPS}again/`]: [...MEMBERSHIP, fact(ITEM, SUB_CLASS_OF, 'urn:class')],
  })
  const may = (): boolean => decide(index, question(ALICE, 'Read', document(DOC))).allowed
  replaceGraph(index, GROUPS, undefined)
  t.ok(may())
  replaceGraph(index, `${GROUPS}again/`, undefined)
  t.notOk(may())
})

await t.test('an agent in very many groups, on a class with very many groups', async (t) => {
  const many = Array.from({ length: 300 }, (_, n) => n)
  const index = indexOf({
    [GROUPS]: many.map((n) => fact(`urn:group:${n}`, MEMBER, ALICE)),
    [RULES]: many.flatMap((n) => {
      const mode = n === 250 ? 'Write' : 'Read'
      return authorization(`urn:${n}`, { agentGroup: `urn:group:${n}`, accessToClass: ITEM, mode })
    }),
  })
  const may = (): boolean => decide(index, question(ALICE, 'Write', document(DOC))).allowed
  t.same([may(), may()], [true, true])
  replaceGraph(
    index,
    GROUPS,
    many.filter((n) => n !== 250).map((n) => fact(`urn:group:${n}`, MEMBER, ALICE)),
  )
  t.same([may(), may()], [false, false], 'a change empties the cache')
})

await t.test('rebuilding', async (t) => {
  const reads = (index: AuthorizationIndex): boolean => decide(index, question(ALICE, 'Read', document(DOC))).allowed
  const facts = authorization('urn:a', { agent: ALICE, accessTo: DOC, mode: 'Read' })

  const taken = indexOf({ [RULES]: facts })
  const rebuild = taken.rebuild()
  readInto(rebuild, `${RULES}old/`, { facts: facts, digest: 0 })
  t.ok(reads(taken), 'the old index is effective until the commit')
  replaceGraph(taken, RULES, undefined)
  replaceGraph(taken, `${RULES}old/`, undefined)
  readInto(rebuild, RULES, { facts: facts, digest: 0 })
  t.ok(commit(rebuild))
  t.notOk(reads(taken), 'the rebuild does not undo a removal that came after its read')

  const added = indexOf({})
  const other = added.rebuild()
  replaceGraph(added, RULES, facts)
  t.ok(commit(other) && reads(added), 'an authorization written during the rebuild stays')

  const twice = indexOf({})
  const [first, second] = [twice.rebuild(), twice.rebuild()]
  readInto(first, RULES, { facts: facts, digest: 0 })
  t.same([commit(second), commit(first), reads(twice)], [true, false, false], 'the one that began later wins')

  const cleared = indexOf({ [RULES]: facts })
  const stale = cleared.rebuild()
  readInto(stale, RULES, { facts: facts, digest: 0 })
  cleared.clear()
  t.same([commit(stale), reads(cleared)], [false, false], 'a rebuild that began before a clear has no effect')
  t.ok(commit(cleared.rebuild()), 'a rebuild that began after it has')

  const left = indexOf({ [RULES]: facts })
  const abandoned = left.rebuild()
  abandoned.abandon()
  t.same([commit(abandoned), reads(left)], [false, true], 'an abandoned rebuild changes nothing')

  const partly = indexOf({})
  const whole = partly.rebuild()
  const behind = `${RULES}other/`
  readInto(whole, RULES, { facts, digest: 1 })
  readInto(whole, behind, { facts: authorization('urn:b', { agent: BOB, accessTo: DOC, mode: 'Read' }), digest: 2 })
  commit(whole)
  t.same([RULES, behind, GROUPS].map(partly.digestOf), [1, 2, undefined])
  const late = partly.rebuild()
  const change = partly.rebuild()
  t.ok(change.commitChanged(new Map([[RULES, undefined]])))
  t.same(
    [reads(partly), [...partly.graphs()], commit(late)],
    [false, [behind], false],
    'only this graph is changed; a rebuild that began before is outdated',
  )
  const overtaken = partly.rebuild()
  replaceGraph(partly, RULES, facts)
  overtaken.commitChanged(new Map([[RULES, undefined], [behind, { facts: [], digest: 3 }]])) // prettier-ignore
  t.same(
    [reads(partly), partly.digestOf(RULES), partly.digestOf(behind)],
    [true, undefined, 3],
    'a write meanwhile stays',
  )
})

await t.test('texts of any length and script, added and removed', async (t) => {
  const texts = [
    '',
    'a',
    'ä',
    '\u{1F600}',
    '\uD800',
    '\uFFFD',
    'x'.repeat(70_000),
    'y'.repeat(2 ** 20 + 7),
    '中'.repeat(5_000),
  ]
  const iris = makeIriTable(makeTableState())
  for (let round = 0; round < 3; round++) {
    const ids = texts.map((text) => iris.retain('agent', text))
    const others = Array.from({ length: 5_000 }, (_, n) => iris.retain('group', `${round} ${n}`))
    t.equal(new Set([...ids, ...others]).size, texts.length + others.length)
    t.same(ids.map(iris.iriOf), texts)
    t.same(
      texts.map((text) => iris.idOf('agent', text)),
      ids,
    )
    for (const [n, id] of others.entries()) if (n % 3 > 0) iris.release(id)
    t.same(
      others.filter((id, n) => n % 3 === 0 && iris.idOf('group', `${round} ${n}`) !== id),
      [],
      'the rest is found',
    )
    t.equal(iris.idOf('group', `${round} 1`), undefined)
    for (const id of [...ids, ...others.filter((_, n) => n % 3 === 0)]) iris.release(id)
    t.same([iris.countOf('agent'), iris.countOf('group'), [...iris.all()]], [0, 0, []])
  }
})

await t.test('an IRI has a number of its own in each role', async (t) => {
  const iris = makeIriTable(makeTableState())
  const roles = ['graph', 'name', 'fragment', 'agent', 'group', 'accessTo', 'accessToClass', 'default', 'control'] as const // prettier-ignore
  const ids = roles.map((role) => iris.retain(role, BASE))
  t.equal(new Set(ids).size, roles.length)
  t.same(ids.map(iris.roleOf), roles)
  t.same(roles.map((role) => [iris.idOf(role, BASE), iris.countOf(role)]), ids.map((id) => [id, 1])) // prettier-ignore
})

// Few enough values that they coincide, and enough for authorizations of many agents.
const AGENTS = [ALICE, BOB, ...Array.from({ length: 8 }, (_, n) => `urn:agent:${n}`)]
const ALL_GROUPS = [WRITERS, 'urn:group:1', BOB]
const CLASSES = [ITEM, CONTAINER, ROOT, 'urn:class:1', 'urn:class:2']
const DOCUMENTS = [BASE, `${BASE}c/`, DOC, ADMIN, `${ADMIN}c/`, ADMIN_DOC]
const GRAPHS = [RULES, GROUPS, `${ADMIN}other/`, 'https://host/adminx/', DOC]
const some = <T>(values: readonly T[], maxLength = 2): fc.Arbitrary<T[]> =>
  fc.uniqueArray(fc.constantFrom(...values), { maxLength })

const anAuthorization = fc
  .record({
    iri: fc.constantFrom('urn:a', 'urn:b', '_:b0'),
    statements: fc.record({
      agent: fc.oneof(some(AGENTS), some(AGENTS, AGENTS.length)),
      agentGroup: some(ALL_GROUPS),
      agentClass: some([EVERYONE, AUTHENTICATED, 'urn:class:1'], 1),
      accessTo: some([...DOCUMENTS, `${BASE}sparql`, `${ADMIN}clear`]),
      accessToClass: some(CLASSES),
      default: some(DOCUMENTS),
      mode: some([...ALL_MODES, 'Unknown'], 3),
    }),
    typed: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  })
  .map(({ iri, statements, typed }) => authorization(iri, statements).slice(typed ? 0 : 1))
const aFact = fc.oneof(
  fc.record({
    subject: fc.constantFrom(...ALL_GROUPS),
    predicate: fc.constant(MEMBER),
    object: fc.constantFrom(...AGENTS),
  }),
  fc.record({
    subject: fc.constantFrom(...CLASSES),
    predicate: fc.constant(SUB_CLASS_OF),
    object: fc.constantFrom(...CLASSES),
  }),
  fc.record({
    subject: fc.constant('urn:a'),
    predicate: fc.constant(TYPE),
    object: fc.constantFrom(ACL + 'Authorization', ITEM),
  }),
)
const someFacts = fc
  .tuple(fc.array(anAuthorization, { maxLength: 3 }), fc.array(aFact, { maxLength: 5 }))
  .map(([rules, facts]) => [...rules.flat(), ...facts])
const someChanges = fc.array(
  fc.record({
    graph: fc.constantFrom(...GRAPHS),
    facts: fc.option(someFacts, { nil: undefined }),
    rebuilt: fc.boolean(),
    restored: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)
const aQuestion = fc
  .record({
    agent: fc.option(fc.constantFrom(...AGENTS, 'urn:stranger'), { nil: undefined, freq: 6 }),
    required: fc.constantFrom(...ALL_MODES),
    iri: fc.constantFrom(...DOCUMENTS, `${BASE}sparql`, `${ADMIN}clear`),
    exists: fc.boolean(),
    creates: fc.boolean(),
    parentExists: fc.boolean(),
    types: some(CLASSES),
    owners: some(AGENTS, 1),
  })
  .map(({ agent, required, iri, exists, creates, parentExists, types, owners }): Question => {
    if (!iri.endsWith('/')) return question(agent, required, iri)
    const parentIri = [BASE, ADMIN].includes(iri) ? undefined : new URL('..', iri).href
    const parent =
      parentIri === undefined ? undefined : parentExists ? document(parentIri, { types, owners }) : absent(parentIri)
    return {
      ...question(agent, required, exists ? document(iri, { types, owners }) : absent(iri), parent),
      creates: creates && !exists,
    }
  })

await t.test('the index decides as the rule text does, after any changes', async (t) => {
  fc.assert(
    fc.property(someChanges, fc.array(aQuestion, { minLength: 1, maxLength: 12 }), (changes, questions) => {
      let index = makeAuthorizationIndex(ADMIN)
      const graphs = new Map<string, Fact[]>()
      for (const { graph, facts, rebuilt, restored } of changes) {
        if (restored) index = savedAndRestored(index)
        if (facts) graphs.set(graph, facts)
        else graphs.delete(graph)
        if (rebuilt) {
          const rebuild = index.rebuild()
          for (const [each, its] of graphs) readInto(rebuild, each, { facts: its, digest: 0 })
          commit(rebuild)
        } else replaceGraph(index, graph, facts)
        for (const asked of questions) sameAsTheRules(index, graphs, asked)
      }
      for (const graph of GRAPHS) replaceGraph(index, graph, undefined)
      if (index.size.graphs + index.size.authorizations + index.size.subjects > 0)
        throw new Error('the index is not empty')
    }),
    { numRuns: 1500 },
  )
  t.pass('1500 histories')
})

function savedAndRestored(index: AuthorizationIndex): AuthorizationIndex {
  const other = makeAuthorizationIndex(ADMIN)
  other.restore(Array.from(index.saved(), (part): unknown => deserialize(serialize(part))).values())
  return other
}

function sameAsTheRules(index: AuthorizationIndex, graphs: ReadonlyMap<string, Fact[]>, asked: Question): void {
  const decision = decide(index, asked)
  const rules = naiveDecide(graphs, ADMIN, asked)
  const both = (get: (one: { allowed: boolean; absent: boolean; modes: readonly Mode[] }) => unknown): boolean =>
    JSON.stringify(get(decision)) === JSON.stringify(get(rules))
  const nameOf = ({ graph, iri }: { graph: string; iri: string }): string => `${graph} ${iri}`
  const granting = new Set(rules.granting.map(nameOf))
  const problems = [
    !both(({ allowed, absent, modes }) => [allowed, absent, modes]) && 'another decision',
    decision.via.some((one) => !granting.has(nameOf(one))) && 'one listed as granting does not grant',
    granting.size <= 5 && decision.via.length < granting.size && 'an authorization that grants is not listed',
    decision.considered().authorizations.some((one) => granting.has(nameOf(one))) &&
      'one listed as not granting grants',
    decision.considered().authorizations.length > decision.considered().total && 'more are listed than counted',
  ].filter(Boolean)
  if (problems.length > 0) {
    throw new Error(`${problems.join(', ')}: ${JSON.stringify({ asked, decision, rules }, null, 1)}`)
  }
}
