// In charge of GET and HEAD on documents: negotiation, preconditions, the representation (spec 4.1, 4.6).
import { evaluatePreconditions } from '../../cache/preconditions.js'
import { documentLinks } from '../../versioning/memento/time-map.js'
import type { Decision } from '../../policies/decide.js'
import type { Facts } from '../request/access.js'
import {
  entityTagOf,
  isLarge,
  representationOf,
  type Described,
  type Document,
  type Representation,
} from '../documents/document.js'
import type { Field, ReadyHead, Response } from '../http/exchange.js'
import type { Context } from '../request/context.js'
import { negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readyHead } from '../http/ready-head.js'
import { enforceField, isPublic, lastModifiedField, linkField, response } from '../request/respond.js'

/** Undefined for a document that is too large to be held (read-large.ts). */
export function read(context: Context, decision: Decision, facts: Facts): Response | Problem | undefined {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  const { document, answeredAt } = facts
  if (isLarge(document)) return undefined
  const { request } = context
  const preferred = rdfFormat(context.accept)
  if (!preferred) return notAcceptable()
  const [format, representation] = representable(context, document, preferred)
  if (isFailure(representation)) return representation

  const current = { entityTags: [entityTagOf(document, format)], lastModified: document.lastModified }
  // RFC 9111 §5.1: the time since the store answered.
  const time = request.receivedAt
  const age = String(Math.max(0, Math.floor((time - answeredAt) / 1000)))
  const evaluation = evaluatePreconditions(request.fields, current, true, time)
  if (evaluation === 'not-modified') {
    return { status: 304, fields: [], ready: { head: headOf(context, decision, document, format, 304), age, time } }
  }
  if (evaluation !== 'proceed') return failedConditions(evaluation)
  const { bytes: body, text } = representation
  const head = headOf(context, decision, document, format, 200, body)
  return { status: 200, fields: [], ready: { head, age, time, ...(text !== undefined && { text }) }, body }
}

export const failedConditions = (evaluation: 'failed' | 'malformed'): Problem =>
  evaluation === 'failed'
    ? problem('precondition.failed', 'The document is not in the state that the request asks for.')
    : problem('request.malformed', 'If-Match is not a list of entity-tags.')

/** Not every graph can be written as RDF/XML: then in the next format that is accepted. */
function representable(
  { accept, application }: Context,
  document: Document,
  preferred: Format,
): readonly [Format, Representation | Problem] {
  const body = representationOf(application, document, preferred)
  if (!isFailure(body)) return [preferred, body]
  const other = negotiate(
    accept,
    RDF_FORMATS.filter((format) => format !== preferred),
  )
  return other ? [other, representationOf(application, document, other)] : [preferred, body]
}

/** The fields in this format for this agent: made once for each state of document and rules. */
function headOf(
  context: Context,
  decision: Decision,
  document: Document,
  format: Format,
  status: 200 | 304,
  body?: Buffer,
): ReadyHead {
  const remembered = document.decisions.Read.get(context.agent.webId ?? '')
  const heads = remembered?.decision === decision ? remembered.heads[status] : undefined
  const known = heads?.get(format.code)
  if (known) return known
  const shared = sharedFields(context, decision, document, format)
  const own: Field[] = status === 200 ? [['Content-Type', format.contentType], ...shared] : shared
  const head = readyHead(status, [...response(status, own, body).fields, ...enforceField(context.gateway)])
  heads?.set(format.code, head)
  return head
}

const sharedFields = (context: Context, decision: Decision, document: Document, format: Format): Field[] => [
  ['ETag', entityTagOf(document, format)],
  ...agentFields(context, decision, document),
]

/** What is for this agent, and what is the same in every format. */
export const agentFields = (
  { application, agent }: Context,
  decision: Decision,
  { iri, lastModified }: Described,
): Field[] => [
  ['Cache-Control', isPublic(agent, decision) ? 'public, no-cache' : 'private, no-cache'],
  ['Vary', 'Accept'],
  ...lastModifiedField(lastModified),
  linkField(application, agent.webId, decision, application.history && documentLinks(iri)),
]

const formats = new Map<string, Format | undefined>()

/** The RDF format that `accept` prefers, undefined when it allows none. A function of its argument: remembered. */
export function rdfFormat(accept: string | undefined): Format | undefined {
  if (accept === undefined) return RDF_FORMATS[0]
  const known = formats.get(accept)
  if (known) return known
  const format = negotiate(accept, RDF_FORMATS)
  if (formats.size >= 1000) formats.clear()
  if (accept.length < 1024) formats.set(accept, format)
  return format
}

export const notAcceptable = (offered: readonly Format[] = RDF_FORMATS): Problem =>
  problem(
    'negotiation.not-acceptable',
    `None of the accepted media types can be given. There are: ${offered.map((f) => f.mediaType).join(', ')}.`,
  )
