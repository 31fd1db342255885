// In charge of GET and HEAD on documents: negotiation, preconditions, the representation (spec 4.1, 4.6).
import type { Decision } from '../../policies/decide.js'
import type { Facts } from '../request/access.js'
import { entityTagOf, isLarge, representationOf, type Document, type Representation } from '../documents/document.js'
import type { Field, ReadyHead, Response } from '../http/exchange.js'
import { agentFields } from '../request/agent-fields.js'
import { evaluateConditions, notAcceptable, rdfFormat } from '../request/conditions.js'
import type { Context } from '../request/context.js'
import { negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readyHead } from '../http/ready-head.js'
import { enforceField, response } from '../request/respond.js'
import { shownTo } from '../request/shown.js'

/** Undefined for a document that is too large for memory (read-large.ts). */
export function read(context: Context, decision: Decision, facts: Facts): Response | Problem | undefined {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  const { document: stored, answeredAt } = facts
  if (isLarge(stored)) return undefined
  const document = shownTo(context, stored)
  const { request } = context
  const preferred = rdfFormat(context.accept, context.gateway.caches)
  if (!preferred) return notAcceptable()
  const [format, representation] = representable(context, document, preferred)
  if (isFailure(representation)) return representation

  const current = { entityTags: [entityTagOf(document, format)], lastModified: document.lastModified }
  // RFC 9111 §5.1: the time since the store answered.
  const time = request.receivedAt
  const age = String(Math.max(0, Math.floor((time - answeredAt) / 1000)))
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') {
    return { status: 304, fields: [], ready: { head: headOf(context, decision, document, format, 304), age, time } }
  }
  if (outcome !== 'proceed') return outcome
  const { bytes: body, text } = representation
  const head = headOf(context, decision, document, format, 200, body)
  return { status: 200, fields: [], ready: { head, age, time, ...(text !== undefined && { text }) }, body }
}

/** RDF/XML cannot express every graph: the next accepted format is used then. */
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

/** The fields in this format for this agent, cached for each state of document and rules. */
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
