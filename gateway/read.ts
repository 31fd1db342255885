// In charge of GET and HEAD on documents: negotiation, preconditions, the representation (spec 4.1, 4.6).
import { evaluatePreconditions } from '../cache/preconditions.js'
import type { Decision } from '../policies/decide.js'
import { decideOn, type Facts } from './access.js'
import { entityTagOf, representationOf } from './document.js'
import type { Field, Response } from './exchange.js'
import type { Context } from './handle.js'
import { negotiate, RDF_FORMATS } from './negotiate.js'
import { isProblem, problem, type Problem } from './problem.js'
import { lastModifiedField, linkField, response } from './respond.js'

export function read(context: Context, decision: Decision, facts: Facts): Response | Problem {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  const { document, answeredAt } = facts
  const format = negotiate(context.accept, RDF_FORMATS)
  if (!format) return notAcceptable()
  const entityTag = entityTagOf(document, format)
  const { lastModified } = document
  const { request, application, agent } = context

  const shared: Field[] = [
    ['ETag', entityTag],
    ['Cache-Control', cacheControl(context, facts)],
    ['Vary', 'Accept'],
    // RFC 9111 §5.1: the time since the store answered.
    ['Age', String(Math.max(0, Math.floor((request.receivedAt - answeredAt) / 1000)))],
    ...lastModifiedField(lastModified),
    linkField(application, agent.webId, decision),
  ]
  const current = { entityTags: [entityTag], lastModified }
  switch (evaluatePreconditions(request.fields, current, true, request.receivedAt)) {
    case 'not-modified':
      return response(304, shared)
    case 'failed':
      return problem('precondition.failed', 'The document is not in the state that the request asks for.')
    case 'malformed':
      return problem('request.malformed', 'If-Match is not a list of entity-tags.')
    case 'proceed':
  }
  const body = representationOf(application, document, format)
  if (isProblem(body)) return body
  return response(200, [['Content-Type', format.contentType], ...shared], body)
}

export const notAcceptable = (): Problem =>
  problem(
    'negotiation.not-acceptable',
    `None of the accepted media types can be given. There are: ${RDF_FORMATS.map((f) => f.mediaType).join(', ')}.`,
  )

/** What everyone may read may be stored by shared caches, when nothing in the answer is about one agent (design 5). */
function cacheControl(context: Context, facts: Facts): string {
  if (context.agent.webId !== undefined) return 'private, no-cache'
  const forEveryone = decideOn(context, facts, 'Read', undefined)
  return !isProblem(forEveryone) && forEveryone.allowed ? 'public, no-cache' : 'private, no-cache'
}
