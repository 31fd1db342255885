// The endpoint `ns` (spec 4.3, LinkedDataHub 2.3): the namespace ontology, and queries over its closure in memory.
import { NAMESPACES } from './namespace-store.js'
import { changedSum } from '../../../cache/entity-tag.js'
import { hashedNTriples } from '../../documents/mailboxes.js'
import type { Field, Response } from '../../http/exchange.js'
import { NAMESPACE_GRAPH } from './namespace-store.js'
import { ontologyTriplesIn } from '../../ontologies/ontologies.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphOf } from '../../rdf/graph.js'
import { changedLines, linesBeginning } from '../../rdf/sorted-lines.js'
import { askerOf, type Context } from '../../request/context.js'
import { graphAnswer, longGraphAnswer } from '../../request/graph-answer.js'
import { hidesMailboxes } from '../../request/hide-mailboxes.js'
import { methodNotAllowed } from '../../request/refusal.js'
import { linkField } from '../../request/respond.js'
import type { Decided, EndpointTarget } from '../../request/route.js'
import type { QueryAnalysis } from '../../sparql/language/analysis.js'
import { tooManyPatterns } from '../../stores/oxigraph-traits.js'
import { answerQuery } from '../../sparql/queries/answer-query.js'
import type { SparqlContent, SparqlRequest } from '../../sparql/queries/request.js'

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
  const read = await NAMESPACES.of(context.gateway).get(dataspace)!.of(rootOf(context))
  context.trace.continues()
  if (isFailure(read)) return read
  const { store, versions, results } = read
  const refused = tooManyPatterns(query, store)
  if (refused) return refused
  const cache = { ...application.cache, versions, results }
  return answerQuery({ ...context, application: { ...application, store, cache } }, query, decision, content.output)
}

const rootOf = ({ application: { ontology, base } }: Pick<Context, 'application'>): string => ontology ?? `${base}ns#`

/** Returns the ontology itself, without its imports. */
async function described(context: Context, decision: Decided['decision']): Promise<Response | Problem> {
  const { application, dataspace, agent } = context
  const own = await dataspace.ontologies.namespace(rootOf(context))
  if (isFailure(own)) return own
  // The ontology of the admin application is LinkedDataHub's own. If no document here describes it, the ontology of the
  // dataspace is returned.
  const isElsewhere = application.kind === 'admin' && own.document === undefined
  const found = isElsewhere ? await dataspace.ontologies.namespace(rootOf({ application: dataspace.endUser })) : own
  if (isFailure(found)) return found
  if (found.document === undefined) return problem('document.absent', `No document describes <${rootOf(context)}>.`)
  const text = await dataspace.admin.store.read(found.document)
  context.trace.continues()
  if (isFailure(text)) return text
  const fields = [linkField(application, agent.webId, decision)]
  const isHashed = hidesMailboxes({ application: dataspace.admin, agent })
  return answerText(context, found.document, isHashed ? hashedNTriples(text ?? '') : (text ?? ''), fields)
}

/** In characters of N-Triples: read and written in one step. */
const MOST_AT_ONCE = 64 * 1024

async function answerText(
  context: Context,
  document: string,
  text: string,
  fields: readonly Field[],
): Promise<Response | Problem> {
  if (text.length <= MOST_AT_ONCE) {
    const triples = ontologyTriplesIn(text, document)
    return isFailure(triples) ? triples : graphAnswer(context, graphOf(triples), fields)
  }
  const canonical = await context.gateway.reading.canonical(askerOf(context), text, '')
  if (isFailure(canonical)) return canonical
  const removed = linesBeginning(canonical.nTriples, `<${document}> `)
  const nTriples = changedLines(canonical.nTriples, removed, [])
  const sum = changedSum(canonical.sum, { removed, added: [] }, '')
  return longGraphAnswer(context, { nTriples, sum }, fields)
}

/** The store has only one graph, which replaces every dataset. */
async function analysed(context: Context, { text }: SparqlRequest, base: string): Promise<QueryAnalysis | Problem> {
  const { reading } = context.gateway
  const dataset = { default: [NAMESPACE_GRAPH], named: [] }
  const sparql = { kind: 'query', text, base, dataset, mayLoad: [], syntax: 'standard' } as const
  const query = (await reading.analyseSparql(askerOf(context), sparql)) as QueryAnalysis | Problem
  if (isFailure(query)) return query
  if (query.services.length > 0) return problem('access.federation', 'Queries on the ontology reach no other servers.')
  const [strange] = query.functions
  return strange === undefined ? query : problem('query.function', `The function <${strange}> is not known here.`)
}
