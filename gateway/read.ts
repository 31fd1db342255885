// In charge of GET and HEAD on documents: negotiation, preconditions, the representation (spec 4.1, 4.6).
import { evaluatePreconditions } from '../cache/preconditions.js'
import type { Decision } from '../policies/decide.js'
import type { Facts } from './access.js'
import { entityTagOf, representationOf, type Document } from './document.js'
import type { Field, Response } from './exchange.js'
import type { Context } from './handle.js'
import { negotiate, RDF_FORMATS, type Format } from './negotiate.js'
import { isProblem, problem, type Problem } from './problem.js'
import { lastModifiedField, linkField, response } from './respond.js'

export function read(context: Context, decision: Decision, facts: Facts): Response | Problem {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  const { document, answeredAt } = facts
  const { request } = context
  const preferred = rdfFormat(context.accept)
  if (!preferred) return notAcceptable()
  const [format, body] = representable(context, document, preferred)
  if (isProblem(body)) return body

  const current = { entityTags: [entityTagOf(document, format)], lastModified: document.lastModified }
  // RFC 9111 §5.1: the time since the store answered.
  const age = String(Math.max(0, Math.floor((request.receivedAt - answeredAt) / 1000)))
  switch (evaluatePreconditions(request.fields, current, true, request.receivedAt)) {
    case 'not-modified':
      return response(304, [...sharedFields(context, decision, document, format), ['Age', age]])
    case 'failed':
      return problem('precondition.failed', 'The document is not in the state that the request asks for.')
    case 'malformed':
      return problem('request.malformed', 'If-Match is not a list of entity-tags.')
    case 'proceed':
  }
  return { status: 200, head: [...headOf(context, decision, document, format, body), 'Age', age], fields: [], body }
}

/** Not every graph can be written as RDF/XML: then in the next format that is accepted. */
function representable(
  { accept, application }: Context,
  document: Document,
  preferred: Format,
): readonly [Format, Buffer | Problem] {
  const body = representationOf(application, document, preferred)
  if (!isProblem(body)) return [preferred, body]
  const other = negotiate(
    accept,
    RDF_FORMATS.filter((format) => format !== preferred),
  )
  return other ? [other, representationOf(application, document, other)] : [preferred, body]
}

/** The fields of a 200 in this format for this agent: made once for each state of document and rules. */
function headOf(
  context: Context,
  decision: Decision,
  document: Document,
  format: Format,
  body: Buffer,
): readonly string[] {
  const remembered = document.decisions.get(`Read ${context.agent.webId ?? ''}`)
  const known = remembered?.decision === decision ? remembered.heads.get(format.code) : undefined
  if (known) return known
  const shared = sharedFields(context, decision, document, format)
  const head = response(200, [['Content-Type', format.contentType], ...shared], body).fields.flat()
  if (remembered?.decision === decision) remembered.heads.set(format.code, head)
  return head
}

const sharedFields = (
  { application, agent }: Context,
  decision: Decision,
  document: Document,
  format: Format,
): Field[] => [
  ['ETag', entityTagOf(document, format)],
  // Design 5: what nobody in particular may read, everyone may, and shared caches may store it.
  ['Cache-Control', agent.webId === undefined ? 'public, no-cache' : 'private, no-cache'],
  ['Vary', 'Accept'],
  ...lastModifiedField(document.lastModified),
  linkField(application, agent.webId, decision),
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

export const notAcceptable = (): Problem =>
  problem(
    'negotiation.not-acceptable',
    `None of the accepted media types can be given. There are: ${RDF_FORMATS.map((f) => f.mediaType).join(', ')}.`,
  )
