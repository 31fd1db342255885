// Handles content that determines which right a request needs. It is read only for agents with one of the possible
// rights (design 7); then the decision is made on the right that is actually needed.
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import { isFailure, type Problem } from '../problem.js'
import { decideOn, type Facts } from './access.js'
import { CROSS_SITE, isOfOtherSite } from './admission.js'
import type { AskedRoute, DecidedRoute } from './route.js'
import { wait, type Steps } from '../maybe-async.js'

interface Read {
  readonly content: unknown
  readonly decision: Decision
}

/** Reads the content unless the decision refuses the request. @param modes the rights that the content could need */
export function* readContentIfAllowed(
  { context, target }: AskedRoute,
  facts: Facts,
  route: DecidedRoute,
  modes: readonly Mode[],
): Steps<Read | Problem> {
  const { request, gateway, dataspace } = context
  let decision = decideOn(context, facts, modes[0]!)
  for (const mode of modes.slice(1)) {
    if (!isFailure(decision) && !decision.allowed) decision = decideOn(context, facts, mode)
  }
  if (isFailure(decision)) return decision
  if (!decision.allowed) return { content: undefined, decision }
  const { access } = dataspace
  const version = access.version()
  const content = yield* wait(route.read!(request, target, gateway.settings.maxBody))
  const mode = isFailure(content as Problem) ? decision.required : route.needs(request.method, content)
  if (mode !== 'Read' && isOfOtherSite(request, dataspace, gateway)) return CROSS_SITE
  const isSame = mode === decision.required && version === access.version() && !isFailure(access.current())
  const exact = isSame ? decision : decideOn(context, facts, mode)
  return isFailure(exact) ? exact : { content, decision: exact }
}
