// Content that says which right a request needs: it is read only for an agent with one of the rights that it could
// need (design 7), and the decision is then made on the right that it does need.
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import { isFailure, type Problem } from '../problem.js'
import { decideOn, type Facts } from './access.js'
import { CROSS_SITE, isOfOtherSite } from './admission.js'
import type { Asked, DecidedRoute } from './route.js'
import { after, type Awaitable } from '../maybe-async.js'

interface Read {
  readonly content: unknown
  readonly decision: Decision
}

/** The content of the request, unread where the decision refuses. @param modes the rights that the content could need */
export function readByRight(
  { context, target }: Asked,
  facts: Facts,
  route: DecidedRoute,
  modes: readonly Mode[],
): Awaitable<Read | Problem> {
  const { request, gateway, dataspace } = context
  let decided = decideOn(context, facts, modes[0]!)
  for (const mode of modes.slice(1)) {
    if (!isFailure(decided) && !decided.allowed) decided = decideOn(context, facts, mode)
  }
  if (isFailure(decided)) return decided
  const decision = decided
  if (!decision.allowed) return { content: undefined, decision }
  const { access } = dataspace
  const version = access.version()
  return after(route.read!(request, target, gateway.settings.maxBody), (content) => {
    const mode = isFailure(content as Problem) ? decision.required : route.needs(request.method, content)
    if (mode !== 'Read' && isOfOtherSite(request, dataspace, gateway)) return CROSS_SITE
    const isSame = mode === decision.required && version === access.version() && !isFailure(access.current())
    const exact = isSame ? decision : decideOn(context, facts, mode)
    return isFailure(exact) ? exact : { content, decision: exact }
  })
}
