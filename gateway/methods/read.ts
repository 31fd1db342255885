// In charge of GET and HEAD on documents: negotiation, preconditions, the representation (spec 4.1, 4.6).
import type { Decision } from '../../policies/decide.js'
import type { Facts } from '../request/access.js'
import { entityTagOf, isLarge, isWhole, type Document, type Representation } from '../documents/document.js'
import { representationOf } from '../documents/representation.js'
import type { Field, ReadyHead, Response } from '../http/exchange.js'
import { agentFields } from '../request/agent-fields.js'
import { evaluateConditions, notAcceptable, rdfFormat } from '../request/conditions.js'
import { askerOf, type Context } from '../request/context.js'
import { inOrderOf, RDF_FORMATS, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readyHead } from '../http/ready-head.js'
import { marksOf, response } from '../request/respond.js'
import { shownTo } from '../request/shown.js'
import type { Awaitable } from '../steps.js'

/** Undefined for a document that is too large for memory (read-large.ts). */
export function read(context: Context, decision: Decision, facts: Facts): Awaitable<Response | Problem> | undefined {
  if (facts.kind !== 'document' || !facts.document) return problem('document.absent', 'There is no such document.')
  const { document: stored, answeredAt } = facts
  if (isLarge(stored)) return undefined
  // Nothing but the facts was read for an agent who might not read it; the rules have given the right a moment later.
  if (!isWhole(stored)) return problem('access.unavailable', 'The rules have just been changed.', AGAIN)
  const document = shownTo(context, stored)
  const preferred = rdfFormat(context.accept, context.gateway.caches)
  if (!preferred) return notAcceptable()
  const asked = { context, decision, document, answeredAt }
  const made = document.representations.get(preferred.code) ?? representable(asked, preferred)
  return made instanceof Promise || isFailure(made) ? readOther(asked, preferred, made) : answer(asked, preferred, made)
}

interface Asked {
  readonly context: Context
  readonly decision: Decision
  readonly document: Document
  readonly answeredAt: number
}

const representable = ({ context, document }: Asked, format: Format): Awaitable<Representation | Problem> =>
  representationOf(context.application, document, format, (...large) =>
    context.gateway.reading.writeRdf(askerOf(context), ...large),
  )

/** RDF/XML and JSON-LD cannot express every graph: the next accepted format is used then. */
async function readOther(
  asked: Asked,
  preferred: Format,
  making: Awaitable<Representation | Problem>,
): Promise<Response | Problem> {
  let made = await making
  if (!isFailure(made)) return answer(asked, preferred, made)
  const others = RDF_FORMATS.filter((format) => format !== preferred)
  for (const other of inOrderOf(asked.context.accept, others)) {
    if (made.failure !== 'negotiation.not-acceptable') return made
    const next = await representable(asked, other)
    if (!isFailure(next)) return answer(asked, other, next)
    made = next
  }
  return made
}

function answer(
  { context, decision, document, answeredAt }: Asked,
  format: Format,
  { bytes: body, text }: Representation,
): Response | Problem {
  const { request } = context
  const current = { entityTags: [entityTagOf(document, format)], lastModified: document.lastModified }
  // RFC 9111 §5.1: the time since the store answered.
  const time = request.receivedAt
  const age = String(Math.max(0, Math.floor((time - answeredAt) / 1000)))
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') {
    return { status: 304, fields: [], ready: { head: headOf(context, decision, document, format, 304), age, time } }
  }
  if (outcome !== 'proceed') return outcome
  const head = headOf(context, decision, document, format, 200, body)
  return { status: 200, fields: [], ready: { head, age, time, ...(text !== undefined && { text }) }, body }
}

const AGAIN = { fields: [['Retry-After', '1']] } as const

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
  const head = readyHead(status, [...response(status, own, body).fields, ...marksOf(context.gateway)])
  heads?.set(format.code, head)
  return head
}

const sharedFields = (context: Context, decision: Decision, document: Document, format: Format): Field[] => [
  ['ETag', entityTagOf(document, format)],
  ...agentFields(context, decision, document),
]
