// The order of a request: parse → identify → look up → decide → (read | write | query | history | system) → respond.
// Only this file knows the order.
import type { Gateway, Member } from './gateway.js'
import { MAX_BODY, tooLarge } from './http/body.js'
import type { Request, Response } from './http/exchange.js'
import { TOO_MANY_REQUESTS } from './http/listener.js'
import { withoutBody } from './http/send.js'
import { acceptOverride, type Target } from './http/target.js'
import { endingSession } from './identity/cookies.js'
import { makeTrace, type Trace } from './log.js'
import { linksOfRefused } from './memento/history.js'
import { isFailure, problem, type Problem } from './problem.js'
import { decideOn, lookUp, type OwnTarget } from './request/access.js'
import { CROSS_SITE, hasMethod, isCachedRead, isOfOtherSite, mayWrite, readRules } from './request/admission.js'
import type { Context, KnownAgent } from './request/context.js'
import { answerTo } from './request/cors.js'
import { stillAllowed, whileAllowed } from './request/decide-again.js'
import { identify } from './request/identify.js'
import { namesOtherMethod, OTHER_METHOD } from './request/method-override.js'
import { observe } from './request/observe.js'
import { isAboutTarget, options, targetOfRequest } from './request/preflight.js'
import { readContentIfAllowed } from './request/read-content-if-allowed.js'
import { methodNotAllowed, refusalOf } from './request/refusal.js'
import { problemAnswer } from './request/problem-answer.js'
import { answerMarks, DOCUMENT_METHODS, linkField, problemResponse, response } from './request/respond.js'
import type { AskedRoute, Decided } from './request/route.js'
import { BEYOND_TOKEN, writesBeyond } from './request/token-limits.js'
import { ROUTES } from './routes.js'
import { run, wait, type Awaitable, type Steps } from './maybe-async.js'

/**
 * Answers every request. A throw is a bug and becomes a 500 with the id that is also in the log. Synchronous if no step
 * waits.
 */
export function handle(request: Request, gateway: Gateway, known?: KnownAgent): Awaitable<Response> {
  const { watchdog } = gateway
  watchdog.works(request)
  const trace = makeTrace(() => watchdog.works(request))
  const accept = acceptOverride(request.requestTarget) ?? request.fields.accept
  try {
    const answered = run(respond(request, { gateway, accept, trace, known }), trace.continues)
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
  // Prepared fields already include these.
  const marks = ended.ready ? [] : answerMarks(request, ended, trace, gateway)
  const marked = marks.length === 0 ? ended : { ...ended, fields: [...marks, ...ended.fields] }
  gateway.watchdog.rests()
  const readable = answerTo(request, marked, gateway)
  return request.method === 'HEAD' ? withoutBody(readable) : readable
}

type Asking = Pick<Context, 'gateway' | 'accept' | 'trace'> & { readonly known: KnownAgent | undefined }

/** A refusal is a value up to this point, where it becomes RDF or a page. */
function* respond(request: Request, asking: Asking): Steps<Response> {
  const target = targetOfRequest(request, asking.gateway)
  const outcome = yield* answer(request, target, asking)
  return isFailure(outcome) ? problemAnswer(outcome, { ...asking, request, target }) : outcome
}

/** The order of a request, from admission to answer. */
function* answer(
  request: Request,
  target: Target<Member> | Problem,
  { gateway, accept, trace, known }: Asking,
): Steps<Response | Problem> {
  const { method } = request
  const { maxBody } = gateway.settings
  const routes = ROUTES.of(gateway)
  const isLarge = Number(request.fields['content-length'] ?? 0) > maxBody
  if (isLarge && (isFailure(target) || !routes.of(target).takesFiles?.(request))) return tooLarge(maxBody, MAX_BODY)
  // RFC 9112 §3.2: exactly one Host field, or 400.
  if (request.hosts !== 1) return problem('request.malformed', 'A request must have exactly one Host field.')
  // RFC 9110 §9.3.7: `OPTIONS *` asks about the server as a whole.
  if (method === 'OPTIONS' && request.requestTarget === '*') return response(204, [['Allow', DOCUMENT_METHODS]])
  if (isFailure(target)) return target
  if (namesOtherMethod(request)) return OTHER_METHOD
  const { application, dataspace } = target
  trace.dataspace = dataspace.endUser.base
  const route = routes.of(target)
  if (isAboutTarget(request, target)) return options(target, route)
  if (!hasMethod(route.methods, method) && !('decidesAgain' in route)) return methodNotAllowed(method, route.methods)
  // Design 7: above the limit only cached documents are read; no work is started for other requests.
  if (!request.isAdmitted && !isCachedRead(request, target)) return TOO_MANY_REQUESTS
  const writes = mayWrite(request, target, route)
  if (writes === true && isOfOtherSite(request, dataspace, gateway)) return CROSS_SITE

  const isForEveryone = 'isForEveryone' in route
  const agent = isForEveryone ? {} : yield* wait(identify(request, target, { gateway, trace, writes: writes !== false, known })) // prettier-ignore
  if (isFailure(agent)) return request.isAdmitted ? agent : TOO_MANY_REQUESTS
  const rules = isForEveryone ? undefined : readRules(target, agent)
  if (rules) yield* wait(rules)
  const context: Context = { gateway, request, application, dataspace, agent, accept, trace }
  const asked: AskedRoute = { context, target, content: undefined }
  if (route.needs === 'open') {
    if (writes !== false && writesBeyond(agent.token, target)) return BEYOND_TOKEN
    const outcome = yield* whileAllowed(context, undefined, route.answer(asked))
    return isFailure(outcome) ? yield* linked(outcome, asked) : outcome
  }

  const modes = route.couldNeed?.(request, target)
  const needed = modes ? undefined : route.needs(method, undefined)
  const facts = yield* wait(lookUp(context, target as OwnTarget, needed))
  if (isFailure(facts)) return facts
  const read = modes && (yield* readContentIfAllowed(asked, facts, route, modes))
  if (isFailure(read)) return read
  const decision = read ? read.decision : decideOn(context, facts, needed!)
  if (isFailure(decision)) return decision
  trace.decision = decision
  const decided: Decided = { context, target, content: read?.content, facts, decision }
  const { decidesAgain = false } = route
  // Refused as if it were not cached: above the limit, another answer would show that the document exists.
  if (!request.isAdmitted && !decision.allowed) return TOO_MANY_REQUESTS
  const outcome =
    decision.allowed || decidesAgain
      ? yield* whileAllowed(context, decided, route.answer(decided))
      : refusalOf(decision, context, facts.iri)
  return isFailure(outcome) ? yield* linked(outcome, decided, decidesAgain) : outcome
}

/**
 * A refusal links to the history for agents who may read it. It names no modes, since they would reveal whether the
 * document exists (design 3).
 */
function* linked(reason: Problem, asked: AskedRoute & Partial<Decided>, decidesAgain = true): Steps<Problem> {
  const { context, target, facts } = asked
  // Refusals of the proxy concern other servers, and refusals of a history already have its links.
  if (target.kind === 'proxied' || reason.fields.some(([name]) => name === 'Link')) return reason
  const shown = stillAllowed(context, asked)
  const isLinked = facts && !decidesAgain && (shown || reason.failure === 'document.absent')
  const links = isLinked ? yield* wait(linksOfRefused(context, facts)) : []
  const { application, agent } = context
  const field = linkField(application, agent.webId, shown, links)
  return { ...reason, fields: [field, ...reason.fields] }
}
