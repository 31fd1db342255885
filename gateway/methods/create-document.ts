// Adding triples to a document that does not exist (SPARQL 1.1 Graph Store HTTP Protocol §5.5: a POST creates the
// graph): it is created as by a PUT, under the same rights.
import type { Decision } from '../../policies/decide.js'
import type { Response } from '../http/exchange.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decideOn, lookUpDocument, type Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { evaluateConditions } from '../request/negotiate.js'
import { refusalOf } from '../request/refusal.js'
import { releasing, writeContent, AFTER_WRITE, type Replaced } from './write.js'
import { readWriteRequest } from './write-request.js'

/**
 * A decision that allows the creation. A refusal is the same as for an existing document, so that existence does not
 * leak (design 3).
 * @param iri the requested document
 */
export function decideCreation(context: Context, facts: Facts, iri = facts.iri): Decision | Problem {
  const putting = asPut(context)
  const decision = decideOn(putting, facts, 'Write')
  if (isFailure(decision)) return decision
  context.trace.decision = decision
  if (decision.allowed) return decision
  const asPost = decideOn(context, facts, 'Append')
  if (isFailure(asPost)) return asPost
  return asPost.allowed || asPost.absent ? refusalOf(decision, putting, iri) : refusalOf(asPost, context, iri)
}

export const asPut = (context: Context): Context => ({ ...context, request: { ...context.request, method: 'PUT' } })

/**
 * The PUT also requires that there is no document (RFC 9110 §13.1.2), whatever else its client requires. Malformed
 * conditions stay, and are refused.
 */
function onlyCreating(context: Context): Context {
  const { request } = context
  const outcome = evaluateConditions(request, undefined, false)
  if (isFailure(outcome) && outcome.failure === 'request.malformed') return context
  return { ...context, request: { ...request, fields: { ...request.fields, 'if-none-match': '*' } } }
}

/** @param context of a POST @param facts of the document, and of its parent */
export async function createDocument(context: Context, facts: Facts): Promise<Response | Problem> {
  const { iri } = facts
  const putting = onlyCreating(asPut(context))
  const decision = decideCreation(context, facts)
  if (isFailure(decision)) return decision
  const asked = await readWriteRequest(context, iri)
  if (isFailure(asked)) return asked
  if (asked.method !== 'POST') return problem('internal', 'The request is no POST.')
  const replaced: Replaced = { before: undefined }
  const written = await releasing(context, asked, async () => {
    const created = await writeContent(putting, iri, { ...asked, method: 'PUT' }, replaced)
    if (!isFailure(created) || created.failure !== 'precondition.failed') return created
    const now = await lookUpDocument(context, iri, true)
    // Another client has created the document meanwhile: its triples stay.
    return !isFailure(now) && 'document' in now ? writeContent(context, iri, asked, replaced) : created
  })
  if (!isFailure(written) && replaced.before)
    await AFTER_WRITE.in(context.gateway)?.act(context, iri, asked.content, replaced.before)
  return written
}
