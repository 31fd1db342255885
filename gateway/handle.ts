// In charge of the order of a request: parse → identify → look up → decide → (read | write | query | past | system) → respond.
// Nothing else knows what comes before what.
import type { Decision, Mode } from '../policies/decide.js'
import { requiredMode } from '../policies/decide.js'
import { isCrossSite } from '../policies/cross-site.js'
import { decideOn, lookUp, type Facts } from './access.js'
import type { Request, Response } from './exchange.js'
import type { Application, Gateway } from './gateway.js'
import { identify, recallAgent, type Agent } from './identify.js'
import { makeTrace, type Trace } from './log.js'
import { past } from './past.js'
import { isProblem, problem, type Problem } from './problem.js'
import { ACCEPT_POST } from './rdf-read.js'
import { read } from './read.js'
import { methodNotAllowed, refusalOf } from './refusal.js'
import { DOCUMENT_METHODS, READ_METHODS, linkField, problemResponse, response, withoutBody } from './respond.js'
import { tooLarge } from './server.js'
import { sparql } from './sparql.js'
import { readSparqlRequest, SPARQL_ACCEPTS, SPARQL_METHODS, type SparqlRequest } from './sparql-request.js'
import { acceptOverride, type Target } from './target.js'
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
    answered = answerNow(request, gateway, accept, trace) ?? (await answer(request, gateway, accept, trace))
  } catch (error) {
    gateway.log.error({ id: request.id, err: error }, 'internal error')
    answered = problemResponse(problem('internal', `Internal error, request ${request.id}.`), accept)
  }
  observe(request, answered, gateway, trace)
  return request.method === 'HEAD' ? withoutBody(answered) : answered
}

/**
 * The cached read, in the same order as `answer` and by the same functions, where no step has to wait: identify → look up
 * → decide → read. Undefined where anything is out of the ordinary.
 */
function answerNow(request: Request, gateway: Gateway, accept: string | undefined, trace: Trace): Response | undefined {
  if ((request.method !== 'GET' && request.method !== 'HEAD') || request.hosts !== 1) return undefined
  const target = gateway.targetOf(request.requestTarget, request.fields.host)
  if (target.kind !== 'document') return undefined
  const agent = recallAgent(request, gateway)
  if (!agent) return undefined
  const stored = target.application.cache.documents.find(target.document)
  if (!stored?.value) return undefined
  const context: Context = { gateway, request, application: target.application, agent, accept, trace }
  const facts: Facts = { kind: 'document', iri: target.document, document: stored.value, answeredAt: stored.answeredAt }
  const decision = decideOn(context, facts, 'Read')
  if (isProblem(decision) || !decision.allowed) return undefined
  const outcome = read(context, decision, facts)
  if (isProblem(outcome)) return undefined
  if (agent.webId !== undefined) trace.agent = agent.webId
  trace.decision = decision
  return outcome
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
  // RFC 9110 §9.3.7: `OPTIONS *` asks about the server as a whole.
  if (request.method === 'OPTIONS' && request.requestTarget === '*') return response(204, [['Allow', DOCUMENT_METHODS]])
  const target = gateway.targetOf(request.requestTarget, request.fields.host)
  if (isProblem(target)) return refuse(target)
  if (request.method === 'OPTIONS') return options(target)

  const { application } = target
  const demand = await demandOf(request, target, gateway)
  if (isProblem(demand)) return refuse(demand)
  const { required, asked } = demand
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
  // A refusal names no modes: on which document they would be tells whether there is one (design 3).
  if (!decision.allowed) {
    return refuse(refusalOf(decision, context, facts.iri), [linkField(application, agent.webId, undefined)])
  }
  const outcome = await branch(context, target, decision, facts, asked)
  return isProblem(outcome) ? refuse(outcome, [linkField(application, agent.webId, decision)]) : outcome
}

/** What the request needs; on the SPARQL endpoint that is a matter of what it carries, not of its method. */
async function demandOf(
  request: Request,
  target: Target<Application>,
  { settings }: Gateway,
): Promise<{ required: Mode; asked?: SparqlRequest | Problem } | Problem> {
  const { method } = request
  if (!isSparql(target)) {
    const required = requiredMode(method)
    return required ? { required } : methodNotAllowed(method, DOCUMENT_METHODS)
  }
  if (!SPARQL_METHODS.split(', ').includes(method)) return methodNotAllowed(method, SPARQL_METHODS)
  const asked = await readSparqlRequest(request, target.query, settings.maxBody)
  if (isProblem(asked) && asked.code === 'content.too-large') return asked
  // What is wrong with a request is for those who may send one.
  return { asked, required: isProblem(asked) || asked.kind === 'query' ? 'Read' : 'Write' }
}

const isSparql = (target: Target<Application>): target is Target<Application> & { kind: 'endpoint' } =>
  target.kind === 'endpoint' && target.endpoint === 'sparql'

async function branch(
  context: Context,
  target: Target<Application>,
  decision: Decision,
  facts: Facts,
  asked: SparqlRequest | Problem | undefined,
): Promise<Response | Problem> {
  switch (target.kind) {
    case 'document':
      return decision.required === 'Read' ? read(context, decision, facts) : write(context, target.document, facts)
    case 'version':
    case 'timemap':
    case 'timegate':
      return past(context, target)
    case 'endpoint':
      if (asked) return sparql(context, target.iri, asked, decision)
      return problem('target.unknown-endpoint', `There is no endpoint ${target.endpoint} in this release.`)
    case 'proxied':
      throw new TypeError('a proxied target is never decided on')
  }
}

/** CORS preflights carry no credentials, so that this says nothing about the document (Fetch §4.8). */
const CORS_FIELDS =
  'Accept, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Authorization'

/** What some documents are for everybody: the rest is a matter of rights, which OPTIONS does not ask for. */
function allowed(target: Target<Application>): string {
  const { dataspace, base } = target.application
  if (target.kind !== 'document') return READ_METHODS
  if (dataspace.protectedDocuments.has(target.document)) return READ_METHODS
  return target.document === base ? DOCUMENT_METHODS.replace(', DELETE', '') : DOCUMENT_METHODS
}

const options = (target: Target<Application>): Response => {
  const methods = isSparql(target) ? SPARQL_METHODS : allowed(target)
  return response(204, [
    ['Allow', methods],
    ...(isSparql(target) ? SPARQL_ACCEPTS : DOCUMENT_ACCEPTS),
    ['Access-Control-Allow-Methods', methods],
    ['Access-Control-Allow-Headers', CORS_FIELDS],
    ['Access-Control-Max-Age', '1728000'],
  ])
}

const DOCUMENT_ACCEPTS: Response['fields'] = [
  ['Accept-Post', ACCEPT_POST],
  ['Accept-Patch', 'application/sparql-update'],
]

function observe(request: Request, { status }: Response, gateway: Gateway, trace: Trace): void {
  const { agent, decision, problem: code, cause, storeMs } = trace
  if (!gateway.log.isLevelEnabled('info')) return
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
