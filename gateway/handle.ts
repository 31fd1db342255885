// The order of a request: parse → identify → look up → decide → (read | write | query | history | system) → respond.
// Nothing else knows what comes before what.
import type { Gateway } from './gateway.js'
import { MAX_BODY, tooLarge } from './http/body.js'
import type { Request, Response } from './http/exchange.js'
import { TOO_MANY_REQUESTS } from './http/listener.js'
import { withoutBody } from './http/send.js'
import { acceptOverride } from './http/target.js'
import { endingSession } from './identity/cookies.js'
import { makeTrace, type Trace } from './log.js'
import { linksOfRefused } from './memento/history.js'
import { isFailure, problem, type Problem } from './problem.js'
import { decideOn, lookUp, type Facts, type OwnTarget } from './request/access.js'
import { CROSS_SITE, hasMethod, isCachedRead, isOfOtherSite, mayWrite, readRules } from './request/admission.js'
import type { Context, KnownAgent } from './request/context.js'
import { answerTo } from './request/cors.js'
import { identify } from './request/identify.js'
import { observe } from './request/observe.js'
import { isAboutTarget, options, targetOf } from './request/preflight.js'
import { readByRight } from './request/read-content-if-allowed.js'
import { methodNotAllowed, refusalOf } from './request/refusal.js'
import { problemAnswer } from './request/problem-answer.js'
import { answerMarks, DOCUMENT_METHODS, linkField, problemResponse, response } from './request/respond.js'
import type { Asked, Decided, DecidedRoute } from './request/route.js'
import { BEYOND_TOKEN, writesBeyond } from './request/token-limits.js'
import { ROUTES, takesFiles } from './routes.js'
import { after, run, wait, type Awaitable, type Steps } from './maybe-async.js'

/** Every request is answered: a throw is a bug, and becomes a 500 with the id that the log has too. At once where no step waits. */
export function handle(request: Request, gateway: Gateway, known?: KnownAgent): Awaitable<Response> {
  const { watchdog } = gateway
  watchdog.works(request)
  const trace = makeTrace(() => watchdog.works(request))
  const accept = acceptOverride(request.requestTarget) ?? request.fields.accept
  try {
    const answered = run(answer(request, { gateway, accept, trace, known }), trace.continues)
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
  const marks = ended.ready ? [] : answerMarks(request, ended, trace, gateway)
  const marked = marks.length === 0 ? ended : { ...ended, fields: [...marks, ...ended.fields] }
  gateway.watchdog.rests()
  const readable = answerTo(request, marked, gateway)
  return request.method === 'HEAD' ? withoutBody(readable) : readable
}

type Asking = Pick<Context, 'gateway' | 'accept' | 'trace'> & { readonly known: KnownAgent | undefined }
function* answer(request: Request, { gateway, accept, trace, known }: Asking): Steps<Response> {
  const refuse = (reason: Problem, links: Response['fields'] = []): Response =>
    problemAnswer(reason, accept, { gateway, request, trace }, links)
  const { maxBody } = gateway.settings
  if (Number(request.fields['content-length'] ?? 0) > maxBody && !takesFiles(request, gateway)) return refuse(tooLarge(maxBody, MAX_BODY)) // prettier-ignore
  // RFC 9112 §3.2: exactly one Host field, or 400.
  if (request.hosts !== 1) return refuse(problem('request.malformed', 'A request has exactly one Host field.'))
  // RFC 9110 §9.3.7: `OPTIONS *` asks about the server as a whole.
  if (request.method === 'OPTIONS' && request.requestTarget === '*') return response(204, [['Allow', DOCUMENT_METHODS]])

  const target = targetOf(request, gateway, trace)
  if (isFailure(target)) return refuse(target)
  const route = ROUTES.of(gateway).of(target)
  if (isAboutTarget(request, target)) return options(target, route)
  if (!hasMethod(route.methods, request.method) && !('decidesAgain' in route)) {
    return refuse(methodNotAllowed(request.method, route.methods))
  }
  // Design 7: above the limit a cached document is read, and nothing is begun for any other request.
  if (!request.isAdmitted && !isCachedRead(request, target)) return refuse(TOO_MANY_REQUESTS)
  const writes = mayWrite(request, target, route)
  if (writes === true && isOfOtherSite(request, target.dataspace, gateway)) return refuse(CROSS_SITE)

  let agent = 'isForEveryone' in route ? {} : identify(request, target, { gateway, trace, writes: writes !== false, known }) // prettier-ignore
  if (agent instanceof Promise) agent = yield* wait(agent)
  if (isFailure(agent)) return refuse(agent)
  // Without a cache, rules are read as documents are: for each request.
  if (target.dataspace.access.refresh && !('isForEveryone' in route)) yield* wait(readRules(target, agent))
  const { application, dataspace } = target
  const context: Context = { gateway, request, application, dataspace, agent, accept, trace }
  const asked: Asked = { context, target, content: undefined }
  if (route.needs === 'open') {
    if (writes !== false && writesBeyond(agent.token, target)) return refuse(BEYOND_TOKEN)
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
  const { context, target } = asked
  const required = route.couldNeed ? undefined : route.needs(context.request.method, undefined)
  return after(lookUp(context, target as OwnTarget, required), (facts) => decidedOn(facts, asked, route, refuse))
}

function decidedOn(facts: Facts | Problem, asked: Asked, route: DecidedRoute, refuse: Refuse): Awaitable<Response> {
  if (isFailure(facts)) return refuse(facts)
  const { context, target } = asked
  const modes = route.couldNeed?.(context.request, target)
  if (modes) {
    return after(readByRight(asked, facts, route, modes), (read) =>
      isFailure(read) ? refuse(read) : answerOn({ ...asked, ...read, facts }, route, refuse),
    )
  }
  const decision = decideOn(context, facts, route.needs(context.request.method, undefined))
  if (isFailure(decision)) return refuse(decision)
  return answerOn({ context, target, content: undefined, facts, decision }, route, refuse)
}

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

interface Refused extends Pick<Decided, 'context' | 'facts' | 'decision'> {
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
