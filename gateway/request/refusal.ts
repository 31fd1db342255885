// Refusals: the reason in words that reveal nothing that the client may not know.
import type { Decision } from '../../policies/decide.js'
import type { Context } from './context.js'
import { isRoot, parentOf } from '../documents/hierarchy.js'
import { problem, type Problem } from '../problem.js'

/** RFC 9110 §9.3.2: a HEAD has the length of the answer to GET. */
export const methodNotAllowed = (method: string, allow: string): Problem =>
  problem('method.not-allowed', `The method ${method === 'HEAD' ? 'GET' : method} is not allowed here.`, {
    fields: [['Allow', allow]],
  })

/** The same words whether the document or its parent exists or not, so that existence does not leak (design 3). */
export function refusalOf(decision: Decision, { application, request, trace }: Context, iri: string): Problem {
  trace.cause = decision.reason
  if (decision.absent) return problem('document.absent', 'There is no such document.')
  const needed = `Access not authorized: ${decision.required} is required`
  if (request.method !== 'PUT' || !iri.endsWith('/') || isRoot(iri, application.base)) {
    return problem('access.denied', `${needed}.`)
  }
  const parent = parentOf(iri)
  return problem(
    'access.denied',
    `${needed} on the document or, where there is none, on its parent <${parent}>, which has to be an existing container.`,
  )
}

/**
 * A query or an update that the store refuses. @param tells whether the store was sent what the client wrote, and
 * nothing else
 */
export const refusedSparql = (failed: Problem, tells: boolean): Problem =>
  tells && failed.failure.endsWith('.syntax') && failed.reason
    ? problem(failed.failure, `The triplestore does not accept this text: ${failed.reason}`)
    : failed

/**
 * A store that refuses what the client sent: the client's mistake, and no failure of the gateway.
 * @param tells whether the client wrote all that the store was sent, so that its reason hides nothing
 */
export function clientsMistake(failed: Problem, tells: boolean): Problem {
  if (failed.failure !== 'store.refused' || failed.reason === undefined) return failed
  const said = tells && failed.reason !== '' ? `: ${failed.reason}` : '.'
  return problem('request.malformed', `The triplestore does not take these triples, or this name of a graph${said}`)
}
