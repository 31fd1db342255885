// The rights of an agent on the graphs of an application's store, as one value for queries and updates (design 4).
import { graphRights, type GraphRights, type GraphsQuestion } from '../../policies/authorizations/graph-rights.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { isDocumentName, type Reach } from '../../policies/authorizations/reach.js'
import type { OtherGraph } from '../../policies/decide.js'
import { DEFAULT_GRAPH } from '../../policies/vocabulary.js'
import { membersOf, sharersOf, type Application, type Gateway, type Member } from '../gateway.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decisionKeyOf, type OtherFacts } from './access.js'
import { graphRightsWithin } from './token-limits.js'
import type { Context } from './context.js'

const REMEMBERED = 1000

/**
 * The graphs on which the request's agent has the mode. A 503 if the rules are unavailable.
 * @param settings whether the rules are enforced
 */
export function rightsOnGraphs(
  context: Pick<Context, 'application' | 'dataspace' | 'agent' | 'gateway' | 'trace'>,
  mode: Mode,
  settings: Pick<Gateway['settings'], 'enforce'> = context.gateway.settings,
): GraphRights | Problem {
  const rights = rightsByRules(context, mode, settings)
  if (mode === 'Read' && settings === context.gateway.settings && !isFailure(rights)) noteRights(context, rights)
  return rights
}

/** For the decision on an answer that had to wait (decide-again.ts). */
function noteRights({ trace }: Pick<Context, 'trace'>, { fingerprint }: GraphRights): void {
  trace.rights ??= fingerprint
  if (trace.rights !== fingerprint) trace.rights = 'several'
}

function rightsByRules(
  { application, dataspace, agent, gateway }: Pick<Context, 'application' | 'dataspace' | 'agent' | 'gateway'>,
  mode: Mode,
  settings: Pick<Gateway['settings'], 'enforce'>,
): GraphRights | Problem {
  const { access } = dataspace
  const index = access.current()
  if (isFailure(index)) return index
  const version = access.version()
  const remembered = application.cache.graphRights
  const key = `${mode} ${settings.enforce} ${decisionKeyOf(agent)}`
  const known = remembered.get(key)
  if (known?.version === version) return known.rights
  const reach = reachOf({ application, dataspace }, gateway)
  const { webId, memberships } = agent
  const question = { reach, agent: webId, memberships, mode, open: openness(application, settings, mode) }
  const rights = graphRightsWithin(graphRights(index, question), mode, agent.token)
  if (remembered.size >= REMEMBERED) remembered.clear()
  remembered.set(key, { version, rights })
  return rights
}

/** `--enforce=false` shows what the rules hide, except in the admin application; lapp:allowRead opens all documents. */
function openness(
  { allowRead, kind }: Member['application'],
  { enforce }: Pick<Gateway['settings'], 'enforce'>,
  mode: Mode,
): GraphsQuestion['open'] {
  if (!enforce && kind !== 'admin') return 'everything'
  return allowRead && mode === 'Read' ? 'documents' : undefined
}

/** The graphs of the store that belong to the application. */
export const reachOf = (member: Member, gateway: Pick<Gateway, 'dataspaces' | 'targetOf'>): Reach =>
  (member.application.cache.reach ??= reachIn(member, gateway))

function reachIn({ application, dataspace }: Member, gateway: Pick<Gateway, 'dataspaces' | 'targetOf'>): Reach {
  const { base, kind, store } = application
  const bases = membersOf(gateway.dataspaces).map((member) => member.application.base)
  return {
    application: kind,
    base,
    below: bases.filter((other) => other.length > base.length && other.startsWith(base)).sort(),
    alone: sharersOf(store, gateway).every((member) => member.dataspace === dataspace),
    isEndpoint(iri) {
      if (!iri.startsWith(base)) return false
      const { pathname, host } = new URL(iri)
      const target = gateway.targetOf(pathname, host)
      return !isFailure(target) && target.kind === 'endpoint' && target.iri === iri
    },
  }
}

/** The URL at which a graph without a URL of its own has its history. */
export const graphUrl = ({ origin, datasetPath = '' }: Application, graph: string): string =>
  `${origin}${datasetPath}/data?${graph === DEFAULT_GRAPH ? 'default' : `graph=${encodeURIComponent(graph)}`}`

/** A graph of the store as a decision sees it; undefined if it is judged as a document. */
export function otherGraph(iri: string, reach: Reach): OtherGraph | undefined {
  if (iri === DEFAULT_GRAPH) return { kind: 'default-graph', iri, reach }
  return isDocumentName(reach, iri) ? undefined : { kind: 'graph', iri, reach }
}

/** The facts for a decision on the graph. */
export function graphFactsOf(context: Context, graph: string): OtherFacts | Problem {
  const reach = reachOf(context, context.gateway)
  if (!reach.alone) return SHARED
  return otherGraph(graph, reach) ?? NO_URL
}

const SHARED = problem('access.graphs', 'Several dataspaces share this store: only their documents can be used.')
const NO_URL = problem(
  'document.absent',
  'The graph has the name of a document, but its URL means another graph or none. Rename it with `triplegate adopt`.',
)
