// The rules about one agent, queried separately: stores must return the same as for all rules.
import fc from 'fast-check'
import t from 'tap'
import { agentRulesQuery, rulesOn, type RuledAgent } from '../../../gateway/rules/refreshing.js'
import { loadAnswer, loadAuthorizations } from '../../../gateway/rules/load-authorizations.js'
import { makeAuthorizationIndex } from '../../../policies/authorizations/authorization-index.js'
import type { Fact } from '../../../policies/authorizations/authorization.js'
import { ACL, ADMIN, BASE, EVERYONE, MEMBER, SUB_CLASS_OF, TYPE } from '../../policies/access-facts.js'
import { forEachStore, rowsOf } from '../../support/stores.js'

const AUTHENTICATED = `${ACL}AuthenticatedAgent`
const AGENTS = ['https://people.example/ü#me', `${ADMIN}acl/agents/one/#this`, 'urn:triplegate:group:x:y']
const MANY = Array.from({ length: 12 }, (_, n) => `https://people.example/${n}#me`)
const GROUPS = ['a', 'b'].map((name) => `${ADMIN}acl/groups/${name}/#this`)
const CLASSES = ['A', 'B', 'C'].map((name) => `https://terms.example/${name}`)
const GRAPHS = ['admin/x/', 'admin/y/', 'admin/acl/authorization-requests/z/', 'adminx/'].map(
  (path) => `${BASE}${path}`,
)
const SUBJECTS = [`${ADMIN}x/#1`, `${ADMIN}x/#2`, '_:one', '_:two']

const facts = (subjects: readonly string[], predicates: readonly string[], objects: readonly string[]) =>
  fc.record<Fact>({
    subject: fc.constantFrom(...subjects),
    predicate: fc.constantFrom(...predicates),
    object: fc.constantFrom(...objects),
  })
const acl = (...names: string[]): string[] => names.map((name) => ACL + name)

const ANY_FACT = fc.oneof(
  facts(SUBJECTS, [TYPE], [...acl('Authorization'), ...CLASSES]),
  facts(SUBJECTS, acl('agent'), [...AGENTS, ...MANY, ...GROUPS]),
  facts(SUBJECTS, acl('agentGroup'), GROUPS),
  facts(SUBJECTS, acl('agentClass'), [EVERYONE, AUTHENTICATED, ...CLASSES]),
  facts(SUBJECTS, acl('mode'), acl('Read', 'Write', 'Append', 'Control', 'None')),
  facts(SUBJECTS, acl('accessTo', 'default'), [BASE, `${BASE}a/`, ADMIN]),
  facts(SUBJECTS, acl('accessToClass'), CLASSES),
  facts(CLASSES, [SUB_CLASS_OF], CLASSES),
  facts(GROUPS, [MEMBER], [...AGENTS, ...MANY]),
)
const TYPED = SUBJECTS.map((subject): Fact => ({ subject, predicate: TYPE, object: `${ACL}Authorization` }))
const GRAPH = fc.array(ANY_FACT, { minLength: 20, maxLength: 40 }).map((others) => [...TYPED, ...others])

const ASKED: readonly RuledAgent[] = [
  {},
  ...AGENTS.map((webId) => ({ webId })),
  { webId: AGENTS[0]!, memberships: AGENTS.slice(1) },
  { webId: MANY[3]! },
  { webId: 'https://people.example/nobody#me' },
]

const term = (iri: string): string => (iri.startsWith('_:') ? iri : `<${iri}>`)

void forEachStore(t, 'the rules of one agent', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const { admin: store } = await makeStores()

  await row('the store returns the same rules about an agent as among all rules', async (t) => {
    let included = 0
    const graphs = fc.tuple(...GRAPHS.map(() => GRAPH))
    await fc.assert(
      fc.asyncProperty(graphs, async (contents) => {
        for (const [n, facts] of contents.entries()) {
          const lines = facts.map(
            ({ subject, predicate, object }) => `${term(subject)} <${predicate}> ${term(object)} .\n`,
          )
          await store.replace(GRAPHS[n]!, `${lines.join('')}<urn:x> <${ACL}mode> "text" .\n`)
        }
        const index = makeAuthorizationIndex(ADMIN)
        if (await loadAuthorizations(store, ADMIN, index)) return false
        for (const agent of ASKED) {
          const own = makeAuthorizationIndex(ADMIN)
          if (await loadAnswer(store, agentRulesQuery(ADMIN, agent)!, own)) return false
          if (rulesOn(own, agent) !== rulesOn(index, agent)) return false
          included += [...index.including(agent.webId, agent.memberships)].length
        }
        return true
      }),
      { numRuns: 8 },
    )
    t.ok(included > 0, `${included} authorizations include one of the agents`)
  })
})

void t.test(
  'the rules of an agent with many memberships are not queried separately, so that the query stays small',
  async (t) => {
    const asked = (memberships: number) =>
      agentRulesQuery(ADMIN, { webId: AGENTS[0]!, memberships: Array<string>(memberships).fill(GROUPS[0]!) })
    t.type(asked(15), 'string')
    t.equal(asked(16), undefined)
  },
)

for (const [name, webId] of [
  ['with a dot segment', 'https://people.example/a/../b#me'],
  ['of a scheme that stores resolve', 'file:a'],
  ['that ends a term', 'https://people.example/> . ?x ?y <'],
] as const) {
  void t.test(`a name ${name} is not queried separately`, async (t) => {
    t.equal(agentRulesQuery(ADMIN, { webId }), undefined)
  })
}
