// `?version=`: a document as it was at a commit (RFC 7089 §4.2, spec 9.3).
import { formatMementoDatetime } from '../../versioning/memento/memento-datetime.js'
import { historyLinks, mementoLinks, mementoUri, type Memento } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import { graphOf } from '../rdf/graph.js'
import { N_TRIPLES, negotiate, RDF_NAMES, sourceOf, type Format } from '../http/media-type.js'
import {
  findVersion,
  historyFailed,
  historyLinkField,
  immutable,
  inAcceptedFormat,
  refuseHistory,
  variantOf,
  type HistoryRequest,
} from './history-request.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { prefersPage } from '../request/page-answer.js'
import { answerVersionPage } from './history-pages.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/negotiate.js'
import { askerOf, type Context } from '../request/context.js'
import { response } from '../request/respond.js'

/** In characters of N-Triples: longer versions are read and written in a thread. */
const QUICKLY_READ = 128 * 1024

/** Spec 9.3: the commit, the same for every format. */
const entityTagOf = ({ commit }: Memento, asked: HistoryRequest): string => `"${commit}${variantOf(asked)}"`

/** The fields of every response about a memento. Memento-Datetime is sent with any status (RFC 7089 §2.1.1). */
export const mementoFields = (memento: Memento): readonly Field[] => [
  ['Memento-Datetime', formatMementoDatetime(memento.time)],
]

/** @param id 4 to 40 hex digits */
export async function answerMemento(asked: HistoryRequest, id: string): Promise<Response | Problem> {
  const found = await findVersion(asked, id)
  if (isFailure(found)) return refuseHistory(asked, found)
  const { memento, around } = found
  const { document, context } = asked
  if (!memento) {
    const deletion = problem('document.no-versions', 'This version deleted the document.')
    return refuseHistory(asked, deletion, historyLinks(document, around))
  }
  const links = mementoLinks(document, around, memento)
  const sticky = mementoFields(memento)

  const { accept, request } = context
  if (prefersPage(accept)) return answerVersionPage(asked, found, links, sticky)
  if (!negotiate(accept, RDF_NAMES)) return refuseHistory(asked, notAcceptable(), links, sticky)
  const entityTag = entityTagOf(memento, asked)
  const fields: Field[] = [
    ['ETag', entityTag],
    ...sticky,
    immutable(asked),
    ['Vary', 'Accept'],
    // RFC 9110 §8.7: the permanent URL, if the request has an abbreviated id.
    ...(id === memento.commit ? [] : [['Content-Location', mementoUri(document, memento)] as const]),
    historyLinkField(asked, links),
  ]
  const unmet = 'This version does not meet the conditions of the request.'
  const outcome = evaluateConditions(request, { entityTags: [entityTag] }, true, unmet)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuseHistory(asked, outcome, links, sticky)
  const representation = await inAcceptedFormat(accept, RDF_NAMES, (format) => represent(asked, memento, format))
  if (isFailure(representation)) return refuseHistory(asked, representation, links, sticky)
  const { format, written: body } = representation
  return response(200, [['Content-Type', format.contentType], ...fields], body)
}

async function represent(asked: HistoryRequest, memento: Memento, format: Format): Promise<Buffer | Problem> {
  const { mementos } = asked.context.gateway.caches
  const key = `${memento.blob} ${format.code}${variantOf(asked)}`
  const body = mementos.get(key) ?? (await write(asked, memento, format))
  if (!isFailure(body)) mementos.set(key, body)
  return body
}

async function write(
  { history, document, context }: HistoryRequest,
  memento: Memento,
  format: Format,
): Promise<Buffer | Problem> {
  const content = await history.content(document, memento)
  if (isFailure(content)) return historyFailed(context, content)
  if (content !== undefined && content.length > QUICKLY_READ) return writeLarge(context, memento, content, format)
  const triples = content === undefined ? undefined : readNTriples(content)
  if (!triples) return unreadable(context, memento)
  const written = writeGraph(graphOf(triples), format)
  return isFailure(written) ? written : Buffer.from(written)
}

/** Writes in a thread. For N-Triples, only non-canonical lines are parsed; commits of the gateway have none. */
async function writeLarge(
  context: Context,
  memento: Memento,
  content: string,
  format: Format,
): Promise<Buffer | Problem> {
  const { reading } = context.gateway
  const canonical = await reading.canonical(askerOf(context), content, context.application.cache.tagKey)
  if (isFailure(canonical)) return canonical.failure === 'store.unreadable' ? unreadable(context, memento) : canonical
  if (sourceOf(format) === N_TRIPLES) return Buffer.from(canonical.nTriples)
  const written = await reading.writeRdf(askerOf(context), canonical.nTriples, format)
  return isFailure(written) ? written : Buffer.from(written.buffer, written.byteOffset, written.length)
}

function unreadable({ trace }: Context, { commit }: Memento): Problem {
  trace.cause = `commit ${commit} has no N-Triples for this document`
  return problem('history.failed', 'This version cannot be read: its content in the repository is not N-Triples.')
}
