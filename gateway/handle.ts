// In charge of the order of a request: parse → identify → look up → decide → (read | write | past | system) → respond.
// Nothing else knows what comes before what.
import type { Decision } from '../policies/decide.js'
import { requiredMode } from '../policies/decide.js'
import { isCrossSite } from '../policies/cross-site.js'
import { decideOn, lookUp, type Facts } from './access.js'
import type { Request, Response } from './exchange.js'
import type { Application, Gateway } from './gateway.js'
import { identify, type Agent } from './identify.js'
import { makeTrace, type Trace } from './log.js'
import { past } from './past.js'
import { isProblem, problem, type Problem } from './problem.js'
import { ACCEPT_POST } from './rdf-read.js'
import { read } from './read.js'
import { methodNotAllowed, refusalOf } from './refusal.js'
import { DOCUMENT_METHODS, linkField, problemResponse, response, withoutBody } from './respond.js'
import { tooLarge } from './server.js'
import { acceptOverride, parseTarget, type Target } from './target.js'
import { write } from './write.js'

/** One request on its way, with what has been found out about it. */
export interface Context {
  readonly gateway: Gateway
  readonly request: Request
  readonly application: Application
  readonly agent: Agent
  /** What the client accepts: `?accept=`, else the Accept field. */
  readonly accept: string | undefined
  readonly trace: Trace
}

/** Whatever happens, an answer: a throw is a bug, and becomes a 500 with the id that the log has too. */
export async function handle(request: Request, gateway: Gateway): Promise<Response> {
  const trace = makeTrace(gateway.now)
  const accept = acceptOverride(request.requestTarget) ?? request.fields.accept
  let answered: Response
  try {
    answered = await answer(request, gateway, accept, trace)
  } catch (error) {
    gateway.log.error({ id: request.id, error }, 'internal error')
    answered = problemResponse(problem('internal', `Internal error, request ${request.id}.`), accept)
  }
  observe(request, answered, gateway, trace)
  return request.method === 'HEAD' ? withoutBody(answered) : answered
}

async function answer(request: Request, gateway: Gateway, accept: string | undefined, trace: Trace): Promise<Response> {
  const refuse = (reason: Problem, links: Response['fields'] = []): Response => {
    trace.problem = reason.code
    return problemResponse(reason, accept, undefined, links)
  }
  const { maxBody } = gateway.settings
  if (Number(request.fields['content-length'] ?? 0) > maxBody) return refuse(tooLarge(maxBody))

  // RFC 9112 §3.2: exactly one Host field, or 400.
  if (request.hosts !== 1) return refuse(problem('request.malformed', 'A request has exactly one Host field.'))
  const target = parseTarget(request.requestTarget, request.fields.host, gateway.site)
  if (isProblem(target)) return refuse(target)
  if (request.method === 'OPTIONS') return options()

  const { application } = target
  const required = requiredMode(request.method)
  if (!required) return refuse(methodNotAllowed(request.method, DOCUMENT_METHODS))
  if (required !== 'Read' && isCrossSite(request.fields, application.dataspace.origins)) {
    return refuse(problem('access.cross-site', 'A page of another site may not write here.'))
  }

  const agent = await identify(request, gateway, trace)
  if (isProblem(agent)) return refuse(agent)
  const context: Context = { gateway, request, application, agent, accept, trace }

  const facts = await lookUp(context, target)
  if (isProblem(facts)) return refuse(facts)
  const decision = decideOn(context, facts, required)
  if (isProblem(decision)) return refuse(decision)
  trace.decision = decision
  const links = [linkField(application, agent.webId, decision)]
  if (!decision.allowed) return refuse(refusalOf(decision, context, facts.iri), links)

  const outcome = await branch(context, target, decision, facts)
  return isProblem(outcome) ? refuse(outcome, links) : outcome
}

async function branch(
  context: Context,
  target: Target<Application>,
  decision: Decision,
  facts: Facts,
): Promise<Response | Problem> {
  switch (target.kind) {
    case 'document':
      return decision.required === 'Read' ? read(context, decision, facts) : write(context, target.document, facts)
    case 'version':
    case 'timemap':
    case 'timegate':
      return past(context, target)
    case 'endpoint':
      return problem('target.unknown-endpoint', `There is no endpoint ${target.endpoint} in this release.`)
    case 'proxied':
      throw new TypeError('a proxied target is never decided on')
  }
}

/** CORS preflights carry no credentials, so that this says nothing about the document (Fetch §4.8). */
const options = (): Response =>
  response(204, [
    ['Allow', DOCUMENT_METHODS],
    ['Accept-Post', ACCEPT_POST],
    ['Accept-Patch', 'application/sparql-update'],
    ['Access-Control-Allow-Methods', DOCUMENT_METHODS],
    ['Access-Control-Allow-Headers', 'Accept, Content-Type, If-Match, If-None-Match, Authorization'],
    ['Access-Control-Max-Age', '1728000'],
  ])

function observe(request: Request, { status }: Response, gateway: Gateway, trace: Trace): void {
  const { agent, decision, problem: code, cause, storeMs } = trace
  gateway.log.info({
    id: request.id,
    method: request.method,
    path: request.requestTarget.split('?', 1)[0],
    status,
    agent,
    decision: decision && observed(decision),
    problem: code,
    cause,
    storeMs: Math.round(storeMs * 10) / 10,
    ms: gateway.now() - request.receivedAt,
  })
}

/** A refusal says which mode was missing and which authorizations were looked at. */
function observed({ allowed, required, reason, on, modes, via, considered }: Decision): object {
  if (allowed) return { allowed, required, reason, by: via[0]?.iri }
  return { allowed, required, reason, on, modes, considered: considered.authorizations, total: considered.total }
}
