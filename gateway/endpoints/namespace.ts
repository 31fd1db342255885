// In charge of the endpoint `ns` (spec 4.3, LinkedDataHub 2.3): the namespace ontology, and queries over its closure in memory.
import type { Response } from '../http/exchange.js'
import { NAMESPACE_GRAPH } from '../ontologies/namespace-store.js'
import { ontologyTriples } from '../ontologies/ontologies.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { graphOf } from '../rdf/graph.js'
import { askerOf, type Context } from '../request/context.js'
import { graphAnswer, withConditions } from '../request/graph-answer.js'
import { methodNotAllowed } from '../request/refusal.js'
import { linkField } from '../request/respond.js'
import type { Decided, EndpointTarget } from '../request/route.js'
import type { QueryAnalysis } from '../sparql/analysis.js'
import { answerQuery } from './sparql-query.js'
import type { SparqlContent, SparqlRequest } from './sparql-request.js'

const METHODS = 'GET, HEAD, POST, QUERY, OPTIONS'

export async function namespace({
  context,
  target,
  content,
  decision,
}: Decided<EndpointTarget, SparqlContent>): Promise<Response | Problem> {
  const { request } = context
  if (target.query.has('update') || (!isFailure(content) && content.kind === 'update'))
    return methodNotAllowed(request.method, METHODS)
  if (isFailure(content)) return content
  if (content.kind === 'description') return described(context, decision)
  const query = await analysed(context, content, target.url ?? target.iri)
  if (isFailure(query)) return query
  const { application, dataspace } = context
  const read = await dataspace.namespaces.of(rootOf(context))
  context.trace.continues()
  if (isFailure(read)) return read
  const { store, versions, results } = read
  const cache = { ...application.cache, versions, results }
  return answerQuery({ ...context, application: { ...application, store, cache } }, query, decision, content.output)
}

const rootOf = ({ application: { ontology, base } }: Pick<Context, 'application'>): string => ontology ?? `${base}ns#`

/** The ontology itself, without what it imports. */
async function described(context: Context, decision: Decided['decision']): Promise<Response | Problem> {
  const { application, dataspace, request, agent, accept } = context
  if (application.kind === 'admin') return problem('request.malformed', 'Send a query, as ?query= or with POST.')
  const found = await dataspace.ontologies.namespace(rootOf(context))
  if (isFailure(found)) return found
  if (found.document === undefined) return problem('document.absent', `No document describes <${rootOf(context)}>.`)
  const triples = await ontologyTriples(dataspace.admin.store, found.document)
  context.trace.continues()
  if (isFailure(triples)) return triples
  const answered = graphAnswer(accept, graphOf(triples), [linkField(application, agent.webId, decision)])
  return withConditions(request, answered, 'The ontology is not the one that the request asks for.')
}

/** The store has one graph: it takes the place of every dataset. */
async function analysed(context: Context, { text }: SparqlRequest, base: string): Promise<QueryAnalysis | Problem> {
  const { reading } = context.gateway
  const dataset = { default: [NAMESPACE_GRAPH], named: [] }
  const sparql = { kind: 'query', text, base, dataset, mayLoad: [], syntax: 'standard' } as const
  const query = (await reading.analyseSparql(askerOf(context), sparql)) as QueryAnalysis | Problem
  if (isFailure(query)) return query
  if (query.services.length > 0) return problem('access.federation', 'A query on the ontology reaches no other server.')
  const [strange] = query.functions
  return strange === undefined ? query : problem('query.function', `The function <${strange}> is not known here.`)
}
