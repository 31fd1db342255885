// Adding triples to a document that does not exist (SPARQL 1.1 Graph Store HTTP Protocol §5.5: a POST creates the
// graph): it is created as by a PUT, under the same rights.
import type { Decision } from '../../policies/decide.js'
import type { Response } from '../http/exchange.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decideOn, type Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { refusalOf } from '../request/refusal.js'
import { releasing, writeContent, AFTER_WRITE, type Replaced } from './write.js'
import { isConditional } from './write-conditions.js'
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

/** @param context of a POST @param facts of the document, and of its parent */
export async function createDocument(context: Context, facts: Facts): Promise<Response | Problem> {
  const { iri } = facts
  const { fields } = context.request
  const conditions = isConditional(fields) ? {} : { 'if-none-match': '*' }
  const putting = { ...context, request: { ...context.request, method: 'PUT', fields: { ...fields, ...conditions } } }
  const decision = decideCreation(context, facts)
  if (isFailure(decision)) return decision
  const asked = await readWriteRequest(context, iri)
  if (isFailure(asked)) return asked
  if (asked.method !== 'POST') return problem('internal', 'The request is no POST.')
  const replaced: Replaced = { before: undefined }
  const written = await releasing(context, asked, async () => {
    const created = await writeContent(putting, iri, { ...asked, method: 'PUT' }, replaced)
    // Another client has created the document meanwhile.
    const isThere = isFailure(created) && created.failure === 'precondition.failed' && !isConditional(fields)
    return isThere ? writeContent(context, iri, asked, replaced) : created
  })
  if (!isFailure(written) && replaced.before)
    await AFTER_WRITE.in(context.gateway)?.act(context, iri, asked.content, replaced.before)
  return written
}
