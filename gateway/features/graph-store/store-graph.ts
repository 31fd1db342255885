// PUT, POST and DELETE of a graph that is not a document: its triples stay as sent, including blank nodes. Locks,
// caches and rules are those of an update that names the graph.
import { DEFAULT_GRAPH } from '../../../policies/vocabulary.js'
import {
  isLarge,
  MAX_DOCUMENT,
  readDocumentNow,
  readFactsNow,
  documentTooLarge,
  type Document,
} from '../../documents/document.js'
import { everyWrite } from '../../documents/locks.js'
import type { Response } from '../../http/exchange.js'
import { commit, type WritePlan } from '../../methods/commit.js'
import { tooLargeToWrite, writingOf } from '../../methods/write.js'
import { isConditional, preconditions } from '../../methods/write-conditions.js'
import { isLargeContent, readWriteRequest, type WriteRequest } from '../../methods/write-request.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphOf, nTriplesOf } from '../../rdf/graph.js'
import { decideOn, type OtherFacts } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { clientsMistake, refusalOf } from '../../request/refusal.js'
import { linkField, response } from '../../request/respond.js'
import { linesOf } from '../../stores/n-triples-lines.js'
import type { GraphEdit } from '../../stores/store.js'
import { requiredMode } from '../../../policies/decide.js'

/** @param url of the request, the base for triples of the default graph */
export async function storeGraph(context: Context, other: OtherFacts, url: string): Promise<Response | Problem> {
  const graph = other.iri
  const asked = await readWriteRequest(context, graph === DEFAULT_GRAPH ? url : graph, 'triples alone')
  if (isFailure(asked)) return asked
  const { application } = context
  const locks = [everyWrite(application, 'shared'), [graph, 'exclusive'] as const]
  const settles = application.isRecorded(graph) ? [graph] : []
  const place = { locks, settles, signal: context.request.signal() }
  return commit<Response | Problem>(writingOf(context), place, () => planOf(context, other, asked))
}

async function planOf(
  context: Context,
  other: OtherFacts,
  asked: WriteRequest,
): Promise<WritePlan<Response | Problem> | Problem> {
  const { application, agent, request } = context
  const graph = other.iri
  const decision = decideOn(context, other, requiredMode(request.method)!)
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, graph)
  const before = await stateBefore(context, graph, asked.method)
  if (isFailure(before)) return before
  const mayRead = decideOn(context, other, 'Read')
  if (isFailure(mayRead)) return mayRead
  const failed = preconditions(context, before.state, mayRead.allowed)
  if (failed) return failed
  if (!before.exists && asked.method === 'DELETE') return problem('document.absent', 'This graph does not exist.')
  const text = contentOf(asked)
  // Design 7: added and existing triples are limited together, as for a document.
  const there = asked.method === 'POST' ? (before.state?.nTriples ?? '') : ''
  const size = there.length + text.length > MAX_DOCUMENT ? GROWN : documentTooLarge({ iri: graph, nTriples: text })
  if (size) return size
  const status = before.exists || text === '' ? 204 : 201
  const answer = (failed: Problem | undefined): Response | Problem =>
    failed ? clientsMistake(failed, true) : response(status, [linkField(application, agent.webId, decision)])
  return { changes: [], others: editsOf(graph, asked.method, text), answer }
}

const GROWN = problem(
  'content.too-large',
  `The graph would have more than ${MAX_DOCUMENT} bytes of N-Triples. Use several graphs, or send an update.`,
)

interface Before {
  readonly exists: boolean
  /** Set if the request has conditions, or adds triples. */
  readonly state: Document | undefined
}

async function stateBefore(context: Context, graph: string, method: WriteRequest['method']): Promise<Before | Problem> {
  const { application, trace, request, gateway } = context
  if (method !== 'POST' && !isConditional(request.fields) && !gateway.settings.requirePreconditions) {
    const found = graph === DEFAULT_GRAPH ? undefined : await readFactsNow(application, graph, trace)
    return isFailure(found) ? found : { exists: !found || found.value !== undefined, state: undefined }
  }
  const found = await readDocumentNow(application, graph, trace, context)
  if (isFailure(found)) return found
  const { value } = found
  if (value && isLarge(value)) return value.unreadable?.problem ?? tooLargeToWrite()
  return { exists: value !== undefined || graph === DEFAULT_GRAPH, state: value }
}

/** N-Triples, including their blank nodes. */
function contentOf(asked: WriteRequest): string {
  if (!('content' in asked)) return ''
  const { content } = asked
  return isLargeContent(content) ? (content.labelled ?? content.nTriples) : nTriplesOf(graphOf(content))
}

function editsOf(graph: string, method: WriteRequest['method'], text: string): readonly GraphEdit[] {
  const isCleared = method !== 'POST'
  if (!isCleared && text === '') return []
  return [
    {
      graph,
      isCleared,
      removed: [],
      added: linesOf(text),
      ...(isCleared && graph !== DEFAULT_GRAPH && { after: text }),
    },
  ]
}
