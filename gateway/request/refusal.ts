// Refusals: their reasons, in words that reveal only what the client may know.
import type { Decision } from '../../policies/decide.js'
import type { Context } from './context.js'
import { isRoot, parentOf } from '../documents/hierarchy.js'
import { problem, type Problem } from '../problem.js'
import { uriOf } from '../../versioning/memento/time-map.js'

/** RFC 9110 §9.3.2: a HEAD has the same length as the answer to GET. */
export const methodNotAllowed = (method: string, allow: string): Problem =>
  problem('method.not-allowed', `The method ${method === 'HEAD' ? 'GET' : method} is not allowed here.`, {
    fields: [['Allow', allow]],
  })

/** The same words whether or not the document and its parent exist, so that existence does not leak (design 3). */
export function refusalOf(decision: Decision, { application, request, trace }: Context, iri: string): Problem {
  trace.cause = decision.reason
  if (decision.absent) return problem('document.absent', 'There is no such document.')
  const needed = `Access not authorized: ${decision.required} is required`
  if (request.method !== 'PUT' || !iri.endsWith('/') || isRoot(iri, application.base)) {
    return problem('access.denied', `${needed}.`)
  }
  // As a URI: a name as the store spells it would show that something has this name.
  const parent = uriOf(parentOf(iri))
  return problem(
    'access.denied',
    `${needed} on the document or, if it is new, on its parent container <${parent}>, which must exist.`,
  )
}

/**
 * A query or an update that the store refuses.
 * @param tells true if the store received exactly what the client wrote
 */
export const refusedSparql = (failed: Problem, tells: boolean): Problem =>
  tells && failed.failure.endsWith('.syntax') && failed.reason
    ? problem(failed.failure, `The triplestore does not accept this text: ${failed.reason}`)
    : failed

/**
 * A store that refuses what the client sent: a mistake of the client, not a failure of the gateway.
 * @param tells true if the store received only what the client wrote, so its reason reveals nothing
 */
export function clientsMistake(failed: Problem, tells: boolean): Problem {
  if (failed.failure !== 'store.refused' || failed.reason === undefined) return failed
  const said = tells && failed.reason !== '' ? `: ${failed.reason}` : '.'
  return problem('request.malformed', `The triplestore rejects these triples or this graph name${said}`)
}
