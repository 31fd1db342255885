// Comes before every representation: chooses the accepted format, and evaluates the conditions of the request.
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
 * The document format that `accept` prefers; undefined if it allows none. HTML is chosen only if it ranks first.
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
    `None of the accepted media types is available. Use one of ${mediaTypesOf(offered)}.`,
  )

/** RFC 9110 §12.5.3: even identity may be excluded. */
export const NOT_CODED = problem(
  'negotiation.not-acceptable',
  'Accept-Encoding excludes every available content coding. Accept identity, gzip or br.',
)

/** The content codings that the client accepts, most preferred first. Cached like formats. */
export const codingsFor = (accepted: string, { codings }: GatewayCaches): AcceptedCodings =>
  remembered(codings, accepted, () => acceptedCodings(accepted))

/**
 * Evaluates the conditions of a request (RFC 9110 §13) against the current state; undefined if the request may proceed.
 * @param isRead GET and HEAD can answer 304
 * @param unmet the detail of a 412
 */
export function evaluateConditions(
  { fields, receivedAt }: Pick<Request, 'fields' | 'receivedAt'>,
  current: Validators | undefined,
  isRead = true,
  unmet = 'The document is not in the state that the conditions of the request require.',
): 'proceed' | 'not-modified' | Problem {
  const outcome = evaluatePreconditions(fields, current, isRead, receivedAt)
  if (outcome === 'failed') return problem('precondition.failed', unmet)
  if (outcome !== 'malformed') return outcome
  return problem('request.malformed', `If-Match${isRead ? '' : ' or If-None-Match'} is not a list of entity-tags.`)
}
