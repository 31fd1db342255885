// Content that says which right a request needs: it is read only for an agent with one of the rights that it could
// need (design 7), and the decision is then made on the right that it does need.
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

/**
 * The content of the request, unread where the decision refuses. @param modes the rights that the content could need
 */
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
