// What comes before every representation: the format that the client accepts, and the conditions of the request.
import { evaluatePreconditions, type Validators } from '../../cache/preconditions.js'
import { remembered, type GatewayCaches } from '../caches.js'
import { acceptedCodings, type AcceptedCodings } from '../http/content-coding.js'
import type { Request } from '../http/exchange.js'
import {
  DOCUMENT_FORMATS,
  HTML,
  mediaTypesOf,
  negotiate,
  RDF_FORMATS,
  RDF_NAMES,
  type Format,
} from '../http/media-type.js'
import { problem, type Problem } from '../problem.js'

/**
 * The format of documents that `accept` prefers, HTML only where it is ranked first; undefined when it allows none.
 * Cached: parsing `accept` takes longer than a cached read.
 */
export function rdfFormat(accept: string | undefined, { formats }: GatewayCaches): Format | undefined {
  if (accept === undefined) return RDF_FORMATS[0]
  const known = formats.get(accept)
  if (known) return known
  const format = negotiate(accept, [...RDF_NAMES, HTML])
  if (format && accept.length < 1024) formats.set(accept, format)
  return format
}

export const notAcceptable = (offered: readonly Format[] = DOCUMENT_FORMATS): Problem =>
  problem(
    'negotiation.not-acceptable',
    `None of the accepted media types can be given. There are: ${mediaTypesOf(offered)}.`,
  )

/** RFC 9110 §12.5.3: identity may be excluded too. */
export const NOT_CODED = problem(
  'negotiation.not-acceptable',
  'Accept-Encoding excludes every content coding that can be given. Accept identity, gzip or br.',
)

/** The content codings that the client accepts, the most preferred first. Cached, as formats are. */
export const codingsFor = (accepted: string, { codings }: GatewayCaches): AcceptedCodings =>
  remembered(codings, accepted, () => acceptedCodings(accepted))

/**
 * The outcome of the conditions of a request (RFC 9110 §13) for the current state, undefined where there is none.
 * @param isRead GET and HEAD can answer 304
 * @param unmet the sentence of a 412
 */
export function evaluateConditions(
  { fields, receivedAt }: Pick<Request, 'fields' | 'receivedAt'>,
  current: Validators | undefined,
  isRead = true,
  unmet = 'The document is not in the state that the request asks for.',
): 'proceed' | 'not-modified' | Problem {
  const outcome = evaluatePreconditions(fields, current, isRead, receivedAt)
  if (outcome === 'failed') return problem('precondition.failed', unmet)
  if (outcome !== 'malformed') return outcome
  return problem('request.malformed', `If-Match${isRead ? '' : ' or If-None-Match'} is not a list of entity-tags.`)
}
