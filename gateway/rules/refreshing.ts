// Making the effective rules what the store says now, for requests that are decided without a cache: all of them, or
// those of one agent.
import { createHash } from 'node:crypto'
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Access } from '../gateway.js'
import type { GraphStore } from '../stores/store.js'
import { agentRulesQuery, rulesOn, type RuledAgent } from './agent-rules.js'
import { digestOfAnswer, withDigest } from './answer-digest.js'
import { authorizationsQuery } from './authorization-lines.js'
import { loadAnswer } from './load-authorizations.js'

/** The rules that requests are decided on, as compiled-rules.ts describes them. */
interface Effective {
  readonly store: GraphStore
  readonly adminBase: string
  readonly index: AuthorizationIndex
  readonly effective: number
  readonly needed: number
  readonly version: number
  readonly answer: string | undefined
}

/** One call at a time: callers share the next one. The call under way may have begun before what they ask about. */
function oneAfterAnother<T>(call: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= underWay.then(() => {
      next = undefined
      const called = call()
      underWay = called.catch(() => undefined)
      return called
    })
    return next
  }
}

const REMEMBERED_AGENTS = 1000

/** Design 7: work before a decision is tiny. Rules that the store has answered the same way again are not read again. */
export function refreshing(rules: Effective, reload: () => Promise<unknown>): NonNullable<Access['refresh']> {
  const { store, adminBase } = rules
  const isCurrent = (): boolean => rules.effective >= rules.needed
  const question = authorizationsQuery(adminBase)
  const refreshAll = oneAfterAnother(async () => {
    if (isCurrent() && rules.answer !== undefined && (await digestOfAnswer(store, question)) === rules.answer) return
    await reload()
  })
  /** By the digest of the question: with the names of a thousand agents, questions would be large. */
  const agents = new Map<string, () => Promise<unknown>>()
  const refreshOf = (agent: RuledAgent): (() => Promise<unknown>) => {
    let said: { readonly answer: string; readonly version: number } | undefined
    return oneAfterAnother(async () => {
      const asked = agentRulesQuery(adminBase, agent)!
      const answer = isCurrent() && said?.version === rules.version && (await digestOfAnswer(store, asked))
      if (answer && answer === said?.answer && said.version === rules.version && isCurrent()) return
      const same = await answerAsCompiled(rules, agent, asked)
      if (same === undefined) return refreshAll()
      said = { answer: same, version: rules.version }
    })
  }
  return (about) => {
    const asked = about && agentRulesQuery(adminBase, about)
    if (asked === undefined) return refreshAll()
    const key = createHash('sha256').update(asked).digest('base64')
    const refresh = agents.get(key) ?? refreshOf(about!)
    if (agents.size >= REMEMBERED_AGENTS) agents.clear()
    agents.set(key, refresh)
    return refresh()
  }
}

/** The digest of what the store says of an agent, where that is what the index says of it. */
async function answerAsCompiled(
  { store, adminBase, index, effective, needed }: Effective,
  agent: RuledAgent,
  question: string,
): Promise<string | undefined> {
  const asked = withDigest(store)
  const own = makeAuthorizationIndex(adminBase)
  const failed = effective < needed || (await loadAnswer(asked.store, question, own))
  return failed || rulesOn(own, agent) !== rulesOn(index, agent) ? undefined : asked.digest()
}
