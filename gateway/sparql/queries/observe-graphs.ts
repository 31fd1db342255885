// With --enforce=false, logs the graphs that a query reads or an update changes although the rules would forbid it.
// They are logged as refusals are.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import { EVERY_GRAPH } from '../../../policies/vocabulary.js'
import { readFacts } from '../../documents/document.js'
import { parentOf } from '../../documents/hierarchy.js'
import { isFailure, type Problem } from '../../problem.js'
import { judge, type Facts } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { graphFactsOf, rightsOnGraphs } from '../../request/agent-graph-rights.js'
import type { QueryAnalysis, UpdateAnalysis } from '../language/analysis.js'
import { DEFAULT_GRAPH } from '../language/graph-sets.js'
import { queryOfView } from './restrict-for-agent.js'

type Need = readonly [mode: Mode, graph: string]
/** The most graphs that are checked for a request. */
const MOST = 100

export async function observeQuery(context: Context, { reads }: Pick<QueryAnalysis, 'reads'>): Promise<void> {
  if (!isObserving(context)) return
  const isUnion = reads.default && context.application.traits.known()?.defaultGraph !== 'own'
  const graphs = reads.any || reads.magic || isUnion ? [EVERY_GRAPH] : reads.graphs
  await observe(context, 'Read', [...graphs, ...(reads.default && !isUnion ? [DEFAULT_GRAPH] : [])].map((graph) => ['Read', graph])) // prettier-ignore
}

/** `queryOfView` with logging, for reading graphs by a query that the gateway makes itself. */
export async function viewOf(context: Context, query: QueryAnalysis): Promise<QueryAnalysis | Problem> {
  if (!context.gateway.settings.enforce) await observeQuery(context, query)
  return queryOfView(context, query)
}

export async function observeUpdate(context: Context, { plan }: Pick<UpdateAnalysis, 'plan'>): Promise<void> {
  if (!isObserving(context)) return
  const touches = plan && !plan.open ? plan.touches.map(({ mode, graph }): Need => [mode, graph]) : undefined
  await observe(context, 'Write', touches ?? [['Write', EVERY_GRAPH]])
}

/** The rules of the admin application are always enforced. */
const isObserving = ({ application }: Context): boolean => application.kind !== 'admin'

async function observe(context: Context, most: Mode, needs: readonly Need[]): Promise<void> {
  const rights = rightsOnGraphs(context, most, { enforce: true })
  if (isFailure(rights) || rights.everything) return
  const { gateway, request, agent } = context
  const path = request.requestTarget.split('?', 1)[0]
  for (const [required, graph] of needs.slice(0, MOST)) {
    const on = graph === EVERY_GRAPH ? graph : await refusedOn(context, required, graph)
    if (on === undefined) continue
    const decision = { allowed: false, required: on === graph ? required : 'Write', reason: 'no-authorization', on }
    gateway.log.warn({ id: request.id, method: request.method, path, agent: agent.webId, decision }, 'would have been refused') // prettier-ignore
  }
}

/** The refused graph, or the container of a document that an update would create; undefined if the rules allow it. */
async function refusedOn(context: Context, required: Mode, graph: string): Promise<string | undefined> {
  const facts = await factsAt(context, graph)
  if (isFailure(facts)) return undefined
  const isNew = facts.kind === 'document' && !facts.document
  if (isNew && required === 'Read') return undefined
  const above = isNew ? await factsAt(context, parentOf(graph)) : facts
  const mode = isNew ? 'Write' : required
  const decision = isFailure(above) ? above : judge(context, context.agent, above, mode)
  return isFailure(decision) || decision.allowed ? undefined : isNew ? parentOf(graph) : graph
}

async function factsAt(context: Context, graph: string): Promise<Facts | Problem> {
  const { application, trace } = context
  if (!application.isDocument(graph)) return graphFactsOf(context, graph)
  const found = await readFacts(application, graph, trace)
  if (isFailure(found)) return found
  const { value: document, answeredAt } = found
  return { kind: 'document', iri: graph, answeredAt, ...(document && { document }) }
}
