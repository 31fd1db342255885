// One graph, by name at the store's own URLs (SPARQL 1.1 Graph Store HTTP Protocol §4.2): documents with their rules
// and write path, other graphs by the right on them (design 4). These are for programs, so they have no pages.
import type { Decision } from '../../../policies/decide.js'
import { requiredMode } from '../../../policies/decide.js'
import { DEFAULT_GRAPH } from '../../../policies/vocabulary.js'
import { uriOf } from '../../../versioning/memento/time-map.js'
import type { Stored } from '../../../cache/stored-graphs.js'
import { documentOf, readDocument, type Document, type LargeDocument } from '../../documents/document.js'
import type { Member } from '../../gateway.js'
import type { Response } from '../../http/exchange.js'
import { TURTLE } from '../../http/media-type.js'
import type { Target } from '../../http/target.js'
import { asPut, createDocument, decideCreation } from '../../methods/create-document.js'
import { read } from '../../methods/read.js'
import { write } from '../../methods/write.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphOf } from '../../rdf/graph.js'
import { decideOn, lookUp, type Facts, type OtherFacts } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { whileAllowed } from '../../request/decide-again.js'
import { prefersPage } from '../../request/page-answer.js'
import { graphFactsOf } from '../../request/agent-graph-rights.js'
import { GRAPH_METHODS } from '../../request/document-methods.js'
import { methodNotAllowed, refusalOf } from '../../request/refusal.js'
import { READ_METHODS } from '../../request/respond.js'
import type { AskedRoute } from '../../request/route.js'
import { analyseQuery } from '../../sparql/language/analysis.js'
import { hasDotSegment, isCompleted } from '../../sparql/language/tokens.js'
import { isNameOfStores } from '../../../policies/authorizations/reach.js'
import { run, wait, type Awaitable, type Steps } from '../../maybe-async.js'
import { ABSOLUTE_IRI } from '../../sparql/queries/request.js'
import { viewOf } from '../../sparql/queries/observe-graphs.js'
import { answerQuery } from '../../sparql/queries/answer-query.js'
import { storeGraph } from './store-graph.js'

type DocumentTarget = Pick<GraphTarget, 'application' | 'dataspace' | 'document'>
export type GraphTarget = Target<Member> & { readonly kind: 'graph' }

export const graphStore = (asked: AskedRoute<GraphTarget>): Awaitable<Response | Problem> => run(answerGraph(asked))

function* answerGraph({ context: given, target }: AskedRoute<GraphTarget>): Steps<Response | Problem> {
  const { document: graph, isReadOnly } = target
  const { method } = given.request
  if (isReadOnly && method !== 'GET' && method !== 'HEAD') return methodNotAllowed(method, READ_METHODS)
  const context = withoutPages(given)
  if (graph === UNION_GRAPH) return requiredMode(method) === 'Read' ? yield* wait(answerUnion(context)) : UNION_IS_READ
  const flaw = flawOfName(graph)
  if (flaw) return flaw
  if (context.application.isDocument(graph)) return yield* answerDocument(context, target)
  // Another spelling of a document's name is answered like the document: it must not show which one there is.
  if (method === 'PATCH' && !context.application.names.isOtherSpelling(graph))
    return methodNotAllowed(method, GRAPH_METHODS)
  return graph === DEFAULT_GRAPH ? yield* wait(answerDefault(context, target)) : yield* answerOther(context, target)
}

export const withoutPages = (context: Context): Context =>
  prefersPage(context.accept) ? { ...context, accept: TURTLE.mediaType } : context

export function flawOfName(graph: string): Problem | undefined {
  if (!ABSOLUTE_IRI.test(graph) || hasDotSegment(graph) || isCompleted(graph)) return NO_NAME
  return graph !== DEFAULT_GRAPH && isNameOfStores(graph) ? OF_STORES : undefined
}

/** As in Fuseki, `?graph=union` means all named graphs. An agent gets those that it may read. */
const UNION_GRAPH = 'union'
const UNION_IS_READ = problem('request.malformed', 'The union of all graphs is read-only. Name one graph.')

const NO_NAME = problem('target.malformed', 'Name the graph by an absolute IRI without dot segments: ?graph=IRI.')
const OF_STORES = problem(
  'access.graphs',
  'Stores use this name for several graphs, so nobody has rights on it. Name one graph, or send a query.',
)

function* answerDocument(context: Context, { document, ...target }: GraphTarget): Steps<Response | Problem> {
  const required = requiredMode(context.request.method)!
  // A POST may create the document, like a PUT. A refusal must not reveal which it would have been (design 3).
  const isPost = context.request.method === 'POST'
  const asked = { ...target, document, kind: 'document' } as const
  const facts = yield* wait(lookUp(isPost ? asPut(context) : context, asked, required))
  if (isFailure(facts)) return facts
  if (isPost && !('document' in facts)) return yield* wait(createDocument(context, facts))
  const decision = decided(context, facts)
  if (isFailure(decision)) return decision
  const isRead = required === 'Read'
  const answering = isRead ? read(context, decision, facts) : write(context, document, facts)
  return yield* whileAllowed(context, { facts, decision }, answering)
}

/** The decision, if it allows the request. */
function decided(context: Context, facts: Facts, iri = facts.iri): Decision | Problem {
  const decision = decideOn(context, facts, requiredMode(context.request.method)!)
  if (isFailure(decision)) return decision
  context.trace.decision = decision
  return decision.allowed ? decision : refusalOf(decision, context, iri)
}

/**
 * Only agents with the right learn which spelling a document has (documents/iri-spelling.ts). Others are refused as for
 * any name.
 */
export async function strayName(
  context: Context,
  { document: graph, ...target }: DocumentTarget,
  stray: Problem,
): Promise<Problem> {
  const { application, request } = context
  const document = application.names.nameOf(uriOf(graph))
  const required = requiredMode(request.method)!
  if (!application.isDocument(document)) return stray
  const isPost = request.method === 'POST'
  const asked = { ...target, document, kind: 'document' } as const
  const facts = await lookUp(isPost ? asPut(context) : context, asked, required)
  if (isFailure(facts)) return facts
  const decision = (isPost && !('document' in facts) ? decideCreation : decided)(context, facts, graph)
  return isFailure(decision) ? decision : stray
}

function* answerOther(context: Context, target: GraphTarget): Steps<Response | Problem> {
  const { application, request, trace } = context
  const { document: graph, url } = target
  const other = graphFactsOf(context, graph)
  if (isFailure(other)) return yield* wait(strayName(context, target, other))
  const isRead = requiredMode(request.method) === 'Read'
  const cached = isRead ? application.cache.documents.cached(graph, request.receivedAt) : undefined
  if (cached?.value) return yield* wait(answerFound(context, other, cached))
  const decision = decided(context, other)
  if (isFailure(decision)) return decision
  if (!isRead) return yield* wait(storeGraph(context, other, url))
  const found = yield* wait(readDocument(application, graph, trace, context))
  return isFailure(found) ? found : yield* wait(answerFound(context, other, found))
}

/** The decision is cached with the state of the graph, as for a document. */
function answerFound(
  context: Context,
  other: OtherFacts,
  { value, answeredAt }: Stored<Document | LargeDocument>,
): Awaitable<Response | Problem> {
  const decision = decided(context, value ? { ...other, document: value } : other)
  if (isFailure(decision)) return decision
  if (!value) return problem('document.absent', 'This graph does not exist.')
  const answering = read(context, decision, { kind: 'document', iri: other.iri, document: value, answeredAt })
  return run(whileAllowed(context, { facts: { ...other, document: value }, decision }, answering))
}

/** The default graph always exists. If it is the union of the others, it is read by a query. */
async function answerDefault(context: Context, target: GraphTarget): Promise<Response | Problem> {
  const { application, request, trace } = context
  const traits = await trace.store(application.traits.current())
  if (isFailure(traits)) return traits
  const isRead = requiredMode(request.method) === 'Read'
  if (traits.defaultGraph !== 'own') return isRead ? answerUnion(context) : UNION
  const other = graphFactsOf(context, DEFAULT_GRAPH)
  if (isFailure(other)) return other
  const decision = decided(context, other)
  if (isFailure(decision)) return decision
  if (!isRead) return storeGraph(context, other, target.url)
  const found = await readDocument(application, DEFAULT_GRAPH, trace, context)
  if (isFailure(found)) return found
  const value = found.value ?? documentOf(DEFAULT_GRAPH, application.base, graphOf([]), application.cache.tagKey)
  return answerFound(context, other, { ...found, value })
}

const UNION = problem(
  'access.graphs',
  'The default graph of this store is the union of its graphs. Write to these, or send an update.',
)

async function answerUnion(context: Context): Promise<Response | Problem> {
  const { base } = context.application
  const facts = { kind: 'endpoint', iri: `${base}sparql` } as const
  const decision = decided(context, facts)
  if (isFailure(decision)) return decision
  const query = analyseQuery('CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }', base)
  const seen = isFailure(query) ? query : await viewOf(context, query)
  const answering = isFailure(seen) ? seen : answerQuery(context, seen, decision, undefined)
  return run(whileAllowed(context, { facts, decision }, answering))
}
