// In charge of the order of a request: parse → identify → look up → decide → (read | write | query | history | system) → respond.
// Nothing else knows what comes before what.
import type { Mode } from '../policies/authorizations/authorization.js'
import { isCrossSite } from '../policies/cross-site.js'
import type { Decision } from '../policies/decide.js'
import type { Gateway } from './gateway.js'
import { tooLarge } from './http/body.js'
import type { Request, Response } from './http/exchange.js'
import { TOO_MANY_REQUESTS } from './http/listener.js'
import { withoutBody } from './http/send.js'
import { acceptOverride } from './http/target.js'
import { endingSession } from './identity/cookies.js'
import { makeTrace, type Trace } from './log.js'
import { linksOfRefused } from './memento/history.js'
import { isFailure, problem, type Problem } from './problem.js'
import { decideOn, lookUp, type Facts, type OwnTarget } from './request/access.js'
import { hasMethod, isCachedRead, mayWrite } from './request/admission.js'
import type { Context } from './request/context.js'
import { identify } from './request/identify.js'
import { observe } from './request/observe.js'
import { options } from './request/options.js'
import { methodNotAllowed, refusalOf } from './request/refusal.js'
import { DOCUMENT_METHODS, enforceField, linkField, problemResponse, response } from './request/respond.js'
import type { Asked, Decided, DecidedRoute } from './request/route.js'
import { routeOf } from './routes.js'
import { after, run, wait, type Awaitable, type Steps } from './steps.js'

/** Every request is answered: a throw is a bug, and becomes a 500 with the id that the log has too. At once where no step waits. */
export function handle(request: Request, gateway: Gateway): Awaitable<Response> {
  const trace = makeTrace()
  const accept = acceptOverride(request.requestTarget) ?? request.fields.accept
  try {
    const answered = run(answer(request, gateway, accept, trace))
    if (!(answered instanceof Promise)) return finish(answered, request, gateway, trace)
    return answered
      .catch((error: unknown) => internalError(error, request, gateway, accept))
      .then((response) => finish(response, request, gateway, trace))
  } catch (error) {
    return finish(internalError(error, request, gateway, accept), request, gateway, trace)
  }
}

function internalError(error: unknown, { id }: Request, { log }: Gateway, accept: string | undefined): Response {
  log.error({ id, err: error }, 'internal error')
  return problemResponse(problem('internal', `Internal error, request ${id}.`), accept)
}

function finish(answered: Response, request: Request, gateway: Gateway, trace: Trace): Response {
  const ended = trace.endedSession === undefined ? answered : endingSession(answered, trace.endedSession)
  observe(request, ended, gateway, trace)
  // Fields that were made ready have this one already.
  const marks = ended.ready ? [] : enforceField(gateway)
  const marked = marks.length === 0 ? ended : { ...ended, fields: [...ended.fields, ...marks] }
  return request.method === 'HEAD' ? withoutBody(marked) : marked
}

function* answer(request: Request, gateway: Gateway, accept: string | undefined, trace: Trace): Steps<Response> {
  const refuse = (reason: Problem, links: Response['fields'] = []): Response => {
    trace.problem = reason.failure
    return problemResponse(reason, accept, undefined, links)
  }
  const { maxBody } = gateway.settings
  if (Number(request.fields['content-length'] ?? 0) > maxBody) return refuse(tooLarge(maxBody))
  // RFC 9112 §3.2: exactly one Host field, or 400.
  if (request.hosts !== 1) return refuse(problem('request.malformed', 'A request has exactly one Host field.'))
  // RFC 9110 §9.3.7: `OPTIONS *` asks about the server as a whole.
  if (request.method === 'OPTIONS' && request.requestTarget === '*') return response(204, [['Allow', DOCUMENT_METHODS]])

  const target = gateway.targetOf(request.requestTarget, request.fields.host)
  if (isFailure(target)) return refuse(target)
  const route = routeOf(target)
  if (request.method === 'OPTIONS') return options(target, route)
  if (!hasMethod(route.methods, request.method) && !('decidesAgain' in route)) {
    return refuse(methodNotAllowed(request.method, route.methods))
  }
  // Design 7: above the limit a cached document is read, and nothing is begun for any other request.
  if (!request.isAdmitted && !isCachedRead(request, target)) return refuse(TOO_MANY_REQUESTS)
  const writes = mayWrite(request, target, route)
  if (writes === true && isCrossSite(request.fields, target.dataspace.origins)) return refuse(CROSS_SITE)

  let agent = identify(request, target, { gateway, trace, writes: writes !== false })
  if (agent instanceof Promise) agent = yield* wait(agent)
  if (isFailure(agent)) return refuse(agent)
  const { application, dataspace } = target
  const context: Context = { gateway, request, application, dataspace, agent, accept, trace }
  const asked: Asked = { context, target, content: undefined }
  if (route.needs === 'open') {
    const outcome = yield* wait(route.answer(asked))
    if (!isFailure(outcome)) return outcome
    return refuse(outcome, target.kind === 'proxied' ? [] : [linkField(application, agent.webId, undefined)])
  }
  const outcome = decided(asked, route as DecidedRoute, refuse)
  return outcome instanceof Promise ? yield* wait(outcome) : outcome
}

type Refuse = (reason: Problem, links?: Response['fields']) => Response

/** From the look-up on, where the gateway decides. */
function decided(asked: Asked, route: DecidedRoute, refuse: Refuse): Awaitable<Response> {
  const facts = lookUp(asked.context, asked.target as OwnTarget)
  return facts instanceof Promise
    ? facts.then((found) => decidedOn(found, asked, route, refuse))
    : decidedOn(facts, asked, route, refuse)
}

function decidedOn(facts: Facts | Problem, asked: Asked, route: DecidedRoute, refuse: Refuse): Awaitable<Response> {
  if (isFailure(facts)) return refuse(facts)
  const { context, target } = asked
  const modes = route.couldNeed?.(context.request, target)
  if (modes) return readOn(facts, asked, modes, { route, refuse })
  const decision = decideOn(context, facts, route.needs(context.request.method, undefined))
  if (isFailure(decision)) return refuse(decision)
  return answerOn({ context, target, content: undefined, facts, decision }, route, refuse)
}

/** Design 7: the content is read only for an agent with one of the rights that it could need. It then says which. */
async function readOn(
  facts: Facts,
  asked: Asked,
  modes: readonly Mode[],
  { route, refuse }: { readonly route: DecidedRoute; readonly refuse: Refuse },
): Promise<Response> {
  const { context, target } = asked
  const { request, gateway, dataspace } = context
  let decision = decideOn(context, facts, modes[0]!)
  for (const mode of modes.slice(1)) {
    if (!isFailure(decision) && !decision.allowed) decision = decideOn(context, facts, mode)
  }
  if (isFailure(decision)) return refuse(decision)
  if (!decision.allowed) return answerOn({ ...asked, facts, decision }, route, refuse)
  const { access, origins } = dataspace
  const version = access.version()
  const content = await route.read!(request, target, gateway.settings.maxBody)
  const mode = isFailure(content) ? decision.required : route.needs(request.method, content)
  if (mode !== 'Read' && isCrossSite(request.fields, origins)) return refuse(CROSS_SITE)
  const isSame = mode === decision.required && version === access.version() && !isFailure(access.current())
  const exact = isSame ? decision : decideOn(context, facts, mode)
  return isFailure(exact) ? refuse(exact) : answerOn({ ...asked, content, facts, decision: exact }, route, refuse)
}

const CROSS_SITE = problem('access.cross-site', 'A page of another site may not write here.')

function answerOn(decided: Decided, route: DecidedRoute, refuse: Refuse): Awaitable<Response> {
  const { context, facts, decision } = decided
  context.trace.decision = decision
  const outcome =
    decision.allowed || route.decidesAgain ? route.answer(decided) : refusalOf(decision, context, facts.iri)
  if (!(outcome instanceof Promise) && !isFailure(outcome)) return outcome
  return after(outcome, (answered) =>
    isFailure(answered) ? refused(answered, { context, facts, decision, route, refuse }) : answered,
  )
}

interface Refused {
  readonly context: Context
  readonly facts: Facts
  readonly decision: Decision
  readonly route: DecidedRoute
  readonly refuse: Refuse
}

/** A refusal links the history for those who may read it. It names no modes: they would tell whether the document exists (design 3). */
async function refused(reason: Problem, { context, facts, decision, route, refuse }: Refused): Promise<Response> {
  const isLinked = !route.decidesAgain && (decision.allowed || reason.failure === 'document.absent')
  const links = isLinked ? await linksOfRefused(context, facts) : []
  const { application, agent } = context
  return refuse(reason, [linkField(application, agent.webId, decision.allowed ? decision : undefined, links)])
}
