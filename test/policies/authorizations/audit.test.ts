// What the index reports about its authorizations: those on a target, and everything that the authorizations of a graph
// cover.
import t from 'tap'
import type { Fact } from '../../../policies/authorizations/authorization.js'
import {
  makeAuthorizationIndex,
  type AuthorizationIndex,
} from '../../../policies/authorizations/authorization-index.js'
import { isOfOne, type Coverage } from '../../../policies/authorizations/coverage.js'
import { graphRights } from '../../../policies/authorizations/graph-rights.js'
import { containersAbove, isContainerName, type Reach } from '../../../policies/authorizations/reach.js'
import { ACL, ADMIN, authorization, BASE, EVERYONE, fact, MEMBER, replaceGraph, SUB_CLASS_OF } from '../access-facts.js'

const [ALICE, GROUP, RULES, GROUPS] = ['https://alice/#me', 'urn:group', `${ADMIN}rules/`, `${ADMIN}groups/`]
const REACH: Reach = { application: 'end-user', base: BASE, below: [ADMIN], alone: true, isEndpoint: () => false }

const indexOf = (graphs: Record<string, readonly Fact[]>): AuthorizationIndex => {
  const index = makeAuthorizationIndex(ADMIN)
  for (const [graph, facts] of Object.entries(graphs)) replaceGraph(index, graph, facts)
  return index
}

void t.test('what a graph covers: its own authorizations, and those that name its groups', async (t) => {
  const index = indexOf({
    [RULES]: [
      ...authorization('urn:a', { agentGroup: GROUP, mode: 'Read', accessTo: [`${BASE}a/`], default: `${BASE}b/` }),
      ...authorization('urn:b', { agent: ALICE, mode: 'Control', accessToClass: 'urn:T' }),
    ],
    [GROUPS]: [fact(GROUP, MEMBER, ALICE), fact('urn:unused', MEMBER, 'urn:other')],
  })
  const [resources, below] = [[`${BASE}a/`], [`${BASE}b/`]]
  t.same(index.coverage(RULES), { resources, below, classes: ['urn:T'], isControl: true, members: 0 })
  t.same(index.coverage(GROUPS), { resources, below, classes: [], isControl: false, members: 1 })
  const one: Coverage = { resources, below: [], classes: [], isControl: false, members: 0 }
  t.ok(isOfOne(one) && isOfOne({ ...one, resources: [] }))
  const wider: Partial<Coverage>[] = [{ resources: ['a', 'b'] }, { below }, { classes: ['a'] }, { isControl: true }, { members: 1 }] // prettier-ignore
  for (const more of wider) t.notOk(isOfOne({ ...one, ...more }), JSON.stringify(more))
})

void t.test('the authorizations on a target', async (t) => {
  const classes = { agentClass: [EVERYONE, `${ACL}AuthenticatedAgent`] }
  const many = Array.from({ length: 1_001 }, (_, n) => authorization(`urn:${n}`, { agent: `urn:${n}`, mode: 'Read', accessTo: `${BASE}many/` })) // prettier-ignore
  const index = indexOf({
    [RULES]: [
      ...authorization('urn:both', { ...classes, agent: ALICE, mode: ['Read', 'Control'], accessTo: BASE }),
      ...authorization('urn:classes', { ...classes, mode: 'Control', accessTo: BASE }),
      ...authorization('urn:nobody', { mode: ['Read', 'Control'], accessTo: BASE }),
    ],
    [`${ADMIN}many/`]: many.flat(),
  })
  const about = (kind: 'accessTo' | 'control', iri: string): Record<string, readonly string[]> =>
    Object.fromEntries(index.about([{ kind, iri }]).map((one) => [one.iri, one.subjects.map((subject) => subject.iri ?? subject.kind)])) // prettier-ignore
  const everybody = ['public', 'authenticated-agent']
  t.same(about('accessTo', BASE), { 'urn:both': [...everybody, ALICE], 'urn:classes': everybody })
  t.same(about('control', ''), { 'urn:both': [ALICE] }, 'Control over the rules is given to agents and groups alone')
  t.equal(index.about([{ kind: 'accessTo', iri: `${BASE}many/` }]).length, 1_000)
})

void t.test('an agent with memberships; removed authorizations are not counted', async (t) => {
  const rule = (agent: string): Fact[] => authorization(`urn:${agent}`, { agent, mode: 'Read', accessTo: BASE })
  const many = Array.from({ length: 12 }, (_, n) => rule(`urn:${n}`)).flat()
  const index = indexOf({ [RULES]: [...rule(ALICE), ...rule('urn:b')], [GROUPS]: many })
  const match = (agent: string, ...others: string[]) => index.match(agent, 'Read', [{ kind: 'accessTo', iri: BASE }], others) // prettier-ignore
  t.same([match(ALICE).via.length, match(ALICE, 'urn:b').via.length, match('urn:x', 'urn:y').via.length], [1, 2, 0])
  t.equal(match(ALICE).considered().total, 14)
  replaceGraph(index, RULES, rule(ALICE))
  t.equal(match(ALICE).considered().total, 13)
})

void t.test('an authorization is considered once, on the first of its targets', async (t) => {
  const index = indexOf({ [RULES]: authorization('urn:a', { agent: ALICE, mode: 'Read', accessTo: BASE, default: BASE }) }) // prettier-ignore
  const targets = [{ kind: 'accessTo', iri: BASE } as const, { kind: 'default', iri: BASE } as const]
  for (const [first, ...others] of [targets, targets.toReversed()]) {
    const { authorizations, total } = index.match('urn:b', 'Read', [first!, ...others], []).considered()
    t.same([authorizations.map(({ target }) => target), total], [[first], 2])
  }
})

void t.test('a change while a rebuild reads an earlier one', async (t) => {
  const index = indexOf({})
  const rules = (agent: string): Fact[] => Array.from({ length: 1_000 }, (_, n) => authorization(`urn:${n}`, { agent, mode: 'Read', accessTo: BASE })).flat() // prettier-ignore
  const rebuild = index.rebuild()
  replaceGraph(index, RULES, rules('urn:a'))
  const steps = rebuild.committing()
  steps.next()
  replaceGraph(index, RULES, rules('urn:b'))
  while (!steps.next().done);
  const bits = ['urn:a', 'urn:b'].map((agent) => index.match(agent, 'Read', [{ kind: 'accessTo', iri: BASE }]).bits)
  t.same(bits, [0, 1])
})

void t.test('blank nodes as classes give no rights', async (t) => {
  const index = indexOf({
    [RULES]: [
      ...authorization('urn:a', { agentClass: EVERYONE, mode: 'Read', accessToClass: 'urn:T' }),
      fact('_:b', SUB_CLASS_OF, 'urn:T'),
      fact('urn:_:S', SUB_CLASS_OF, 'urn:T'),
    ],
  })
  t.same(graphRights(index, { reach: REACH, agent: undefined, mode: 'Read' }).classes, ['urn:T', 'urn:_:S'])
})

void t.test('containers above a document: those whose names may stand in acl:default', async (t) => {
  t.same(containersAbove(REACH, `${BASE}a/b/`), [`${BASE}a/`, BASE])
  t.same(containersAbove(REACH, BASE), [])
  const longest = `${BASE}${'x'.repeat(4096 - BASE.length - 1)}/`
  t.same(containersAbove(REACH, `${longest}d/`), [longest, BASE])
  t.same(
    [longest, longest.replace('x', 'xx')].map((iri) => isContainerName(REACH, iri)),
    [true, false],
  )
  t.same(containersAbove(REACH, `${longest.replace('x', 'xx')}d/`), [BASE])
})
