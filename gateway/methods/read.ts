// GET and HEAD on documents (spec 4.1, 4.6): which representation a request selects, and those in RDF.
import type { Decision } from '../../policies/decide.js'
import { isLarge, isWhole, type Document, type LargeDocument, type Representation } from '../documents/document.js'
import type { DocumentFacts } from '../documents/facts.js'
import { codedRepresentation, representationOf, writingKey } from '../documents/representation.js'
import type { Response } from '../http/exchange.js'
import { HTML, inOrderOf, N_TRIPLES, negotiate, RDF_NAMES, sourceOf, TURTLE, type Format } from '../http/media-type.js'
import type { Shown } from '../http/target.js'
import { run, wait, type Awaitable, type Steps } from '../maybe-async.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Facts } from '../request/access.js'
import { askerOf, type Context } from '../request/context.js'
import { shownTo } from '../request/hide-mailboxes.js'
import { notAcceptable, rdfFormat } from '../request/negotiate.js'
import { withDatasetPrefixes } from '../request/prefixes.js'
import { answerWhole, type Asked } from './answer-whole.js'
import { readLarge } from './read-large.js'
import { readPage } from './read-page.js'

/** @param shown the part of a page, or of the list of children, that the URL names */
export function read(context: Context, decision: Decision, facts: Facts, shown?: Shown): Awaitable<Response | Problem> {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  const chosen = representationFor(context, facts.document)
  if (isFailure(chosen)) return chosen
  if (chosen.as === 'stream') return readLarge(context, decision, chosen.document, chosen.format)
  const asked = { context, decision, document: shownTo(context, chosen.document), answeredAt: facts.answeredAt }
  return run(chosen.as === 'rdf' ? readRdf(asked, chosen.format) : readPage(asked, shown))
}

type Chosen =
  | { readonly as: 'rdf'; readonly document: Document; readonly format: Format }
  | { readonly as: 'page'; readonly document: Document }
  | { readonly as: 'stream'; readonly document: LargeDocument; readonly format: Format }

/** The representation that the request selects (RFC 9110 §12.1), or why there is none. */
function representationFor(context: Context, document: DocumentFacts): Chosen | Problem {
  const { accept, gateway } = context
  if (isLarge(document)) {
    if (document.unreadable) return document.unreadable.problem
    const format = negotiate(accept, STREAMED)
    return format ? { as: 'stream', document, format } : notAcceptable(STREAMED)
  }
  // The agent had no right to read, so only the facts were read; the rules have changed meanwhile.
  if (!isWhole(document)) return problem('access.unavailable', 'The rules have just been changed.', AGAIN)
  const format = rdfFormat(accept, gateway.caches)
  if (!format) return notAcceptable()
  return format === HTML
    ? { as: 'page', document }
    : { as: 'rdf', document, format: withDatasetPrefixes(context, format) }
}

const AGAIN = { fields: [['Retry-After', '1']] } as const

// RDF 1.1 Turtle §6: N-Triples are Turtle. For any other format, the whole document would have to be converted.
const STREAMED: readonly Format[] = RDF_NAMES.filter((format) => [TURTLE, N_TRIPLES].includes(sourceOf(format)))

const representable = ({ context, document }: Asked, format: Format): Awaitable<Representation | Problem> =>
  representationOf(context.application, document, format, (...large) =>
    context.gateway.reading.writeRdf(askerOf(context), ...large),
  )

/** RDF/XML and JSON-LD cannot express every graph: the next accepted format is used then. */
function* readRdf(asked: Asked, preferred: Format): Steps<Response | Problem> {
  const { context, document } = asked
  const known = document.representations.get(preferred.code)
  // Already being made: join it, with the best queue position of all waiters.
  if (known instanceof Promise) context.gateway.reading.join(askerOf(context), writingKey(document, preferred))
  let made = yield* wait(known ?? representable(asked, preferred))
  if (!isFailure(made)) return yield* answer(asked, preferred, made)
  const others = RDF_NAMES.filter((format) => sourceOf(format) !== sourceOf(preferred))
  for (const other of inOrderOf(context.accept, others)) {
    if (made.failure !== 'negotiation.not-acceptable') return made
    const next = yield* wait(representable(asked, other))
    if (!isFailure(next)) return yield* answer(asked, other, next)
    made = next
  }
  return made
}

const answer = (asked: Asked, format: Format, plain: Representation): Steps<Response | Problem> =>
  answerWhole(asked, format, plain, { name: format.code }, (name, coding) =>
    codedRepresentation(asked.context.application, asked.document, name, { bytes: plain.bytes, coding }),
  )
