// Updates the effective rules from the store for requests that are decided without a cache: all rules, or those about
// one agent.
import { type AuthorizationIndex, makeAuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import * as V from '../../policies/vocabulary.js'
import type { Access } from '../gateway.js'
import { isName } from '../stores/batch-sparql.js'
import type { GraphStore } from '../stores/store.js'
import { digestOfAnswer, withDigest } from './answer-digest.js'
import { authorizationsQuery } from './authorization-lines.js'
import { loadAnswer } from './load-authorizations.js'
import { createHash } from 'node:crypto'

export interface RuledAgent {
  /** Undefined for an anonymous client. */
  readonly webId?: string
  readonly memberships?: readonly string[]
  /** The agent that acts for it: its rights count too (methods/self-granted-modes.ts). */
  readonly delegate?: RuledAgent
}

/** The properties of authorizations other than those that name agents. */
const CONTENT = [V.RDF_TYPE, V.MODE, V.ACCESS_TO, V.ACCESS_TO_CLASS, V.DEFAULT, V.AGENT_CLASS]

/** The most names of an agent and its groups: the query grows with them, that for all rules does not (design 7). */
const MOST_NAMES = 16

/**
 * Selects every statement that a decision on the agent depends on. Undefined if the agent has too many names, or one
 * that SPARQL cannot name.
 */
export function agentRulesQuery(adminBase: string, { webId, memberships = [] }: RuledAgent): string | undefined {
  const names = webId === undefined ? [] : [webId, ...memberships]
  if (names.length > MOST_NAMES || !names.every(isName)) return undefined
  const content = CONTENT.map((iri) => `<${iri}>`).join(', ')
  /** The statements of authorizations whose property has this object, with their content. */
  const by = (property: string, object: string): string =>
    `GRAPH ?g { ?s <${property}> ${object} . ?s ?p ?o } FILTER(isIRI(?o) && (?o = ${object} || ?p IN (${content})))`
  const parts = [
    ...[V.FOAF_AGENT, ...(webId === undefined ? [] : [V.AUTHENTICATED_AGENT])].map((type) =>
      by(V.AGENT_CLASS, `<${type}>`),
    ),
    ...names.flatMap((name) => [
      by(V.AGENT, `<${name}>`),
      `GRAPH ?x { ?group <${V.MEMBER}> <${name}> } ${by(V.AGENT_GROUP, '?group')}`,
      `BIND(<${V.MEMBER}> AS ?p) BIND(<${name}> AS ?o) GRAPH ?g { ?s <${V.MEMBER}> <${name}> }`,
    ]),
    `BIND(<${V.SUB_CLASS_OF}> AS ?p) GRAPH ?g { ?s <${V.SUB_CLASS_OF}> ?o } FILTER(isIRI(?o))`,
  ]
  return `SELECT ?g ?s ?p ?o {\n  { ${parts.join(' }\n  UNION { ')} }
  FILTER(STRSTARTS(STR(?g), ${JSON.stringify(adminBase)}))\n}`
}

/** Everything that a decision on the agent reads from an index. Indexes that decide alike have equal results. */
export function rulesOn(index: AuthorizationIndex, { webId, memberships }: RuledAgent): string {
  const rules = new Set<string>()
  const types = new Set<string>()
  for (const { authorization, isNamed } of index.including(webId, memberships)) {
    const { iri, graph, bits, accessTo, accessToClass } = authorization
    const targets = [accessTo, accessToClass, authorization.default].map((iris) => [...iris].sort())
    // Left out, since the store labels blank nodes as it likes.
    rules.add(JSON.stringify([graph, iri.startsWith('_:') ? '' : iri, bits, isNamed, ...targets]))
    for (const type of accessToClass) types.add(type)
  }
  const classes = [...types].sort().map((type) => [type, ...[...index.subclasses(type)].sort()])
  return JSON.stringify([[...rules].sort(), classes])
}

/** The effective rules, as in compiled-rules.ts. */
interface Effective {
  readonly store: GraphStore
  readonly adminBase: string
  readonly index: AuthorizationIndex
  readonly effective: number
  readonly needed: number
  readonly version: number
  readonly answer: string | undefined
}

/** Runs one call at a time; callers share the next one, since a running call may have started before their question. */
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

/** Design 7: work before a decision is tiny. If the store's answer is unchanged, its rules are not read again. */
export function refreshing(rules: Effective, reload: () => Promise<unknown>): NonNullable<Access['refresh']> {
  const { store, adminBase } = rules
  const isCurrent = (): boolean => rules.effective >= rules.needed
  const question = authorizationsQuery(adminBase)
  const refreshAll = oneAfterAnother(async () => {
    if (isCurrent() && rules.answer !== undefined && (await digestOfAnswer(store, question)) === rules.answer) return
    await reload()
  })
  /** By the digest of the query: with the names of many agents, queries would be large keys. */
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
  const refreshAbout = (about: RuledAgent | undefined): Promise<unknown> => {
    const asked = about && agentRulesQuery(adminBase, about)
    if (asked === undefined) return refreshAll()
    const key = createHash('sha256').update(asked).digest('base64')
    const refresh = agents.get(key) ?? refreshOf(about!)
    if (agents.size >= REMEMBERED_AGENTS) agents.clear()
    agents.set(key, refresh)
    return refresh()
  }
  return async (about) => {
    await refreshAbout(about)
    if (about?.delegate) await refreshAbout(about.delegate)
  }
}

/** The digest of the store's statements about an agent, if they equal those of the index. */
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
