// In charge of the order of a request: parse → identify → look up → decide → (read | write | query | past | system) → respond.
// Nothing else knows what comes before what.
import type { Context } from './request/context.js'
import type { Decision, Mode } from '../policies/decide.js'
import { requiredMode } from '../policies/decide.js'
import { isCrossSite } from '../policies/cross-site.js'
import { decideOn, lookUp, type Facts, type OwnTarget } from './request/access.js'
import { endpointOf, type Endpoint, type EndpointTarget } from './endpoints/table.js'
import type { Request, Response } from './http/exchange.js'
import type { Gateway, Member } from './gateway.js'
import { identify, recallAgent } from './request/identify.js'
import { makeTrace, type Trace } from './log.js'
import { endingSession } from './identity/cookies.js'
import { observe } from './request/observe.js'
import { isPast, linksOfRefused, past } from './memento/past.js'
import { isFailure, problem, type Problem } from './problem.js'
import { ACCEPT_POST } from './rdf/read.js'
import { read } from './methods/read.js'
import { readLarge } from './methods/read-large.js'
import { methodNotAllowed, refusalOf } from './request/refusal.js'
import {
  DOCUMENT_METHODS,
  READ_METHODS,
  enforceField,
  linkField,
  problemResponse,
  response,
  withoutBody,
} from './request/respond.js'
import { tooLarge } from './http/body.js'
import { sparql } from './endpoints/sparql.js'
import { readSparqlRequest, SPARQL_ACCEPTS, SPARQL_METHODS, type SparqlRequest } from './endpoints/sparql-request.js'
import { acceptOverride, type Target } from './http/target.js'
import { write } from './methods/write.js'

/** Whatever happens, an answer: a throw is a bug, and becomes a 500 with the id that the log has too. */
export async function handle(request: Request, gateway: Gateway): Promise<Response> {
  const trace = makeTrace(gateway.now)
  const accept = acceptOf(request)
  let answered: Response
  try {
    answered = await answer(request, gateway, accept, trace)
  } catch (error) {
    gateway.log.error({ id: request.id, err: error }, 'internal error')
    answered = problemResponse(problem('internal', `Internal error, request ${request.id}.`), accept)
  }
  if (trace.endedSession !== undefined) answered = endingSession(answered, trace.endedSession)
  observe(request, answered, gateway, trace)
  const loud = { ...answered, fields: [...answered.fields, ...(answered.ready ? [] : enforceField(gateway))] }
  return request.method === 'HEAD' ? withoutBody(loud) : loud
}

const acceptOf = ({ requestTarget, fields }: Request): string | undefined =>
  acceptOverride(requestTarget) ?? fields.accept

/** The answer where no step of it has to wait; undefined where `handle` has to be asked. */
export function handleNow(request: Request, gateway: Gateway): Response | undefined {
  const trace = makeTrace(gateway.now)
  let answered: Response | undefined
  try {
    answered = answerNow(request, gateway, acceptOf(request), trace)
  } catch {
    // It is asked again, and told.
  }
  if (!answered) return undefined
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
  if (isFailure(target) || target.kind !== 'document') return undefined
  const agent = recallAgent(request, target, gateway)
  if (!agent) return undefined
  const stored = target.application.cache.documents.find(target.document)
  if (!stored?.value) return undefined
  const context: Context = {
    gateway,
    request,
    application: target.application,
    dataspace: target.dataspace,
    agent,
    accept,
    trace,
  }
  const facts: Facts = { kind: 'document', iri: target.document, document: stored.value, answeredAt: stored.answeredAt }
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision) || !decision.allowed) return undefined
  const outcome = read(context, decision, facts)
  if (!outcome || isFailure(outcome)) return undefined
  if (agent.webId !== undefined) trace.agent = agent.webId
  trace.decision = decision
  return outcome
}

async function answer(request: Request, gateway: Gateway, accept: string | undefined, trace: Trace): Promise<Response> {
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
  if (request.method === 'OPTIONS') return options(target)

  const { application } = target
  const demand = await demandOf(request, target, gateway)
  if (isFailure(demand)) return refuse(demand)
  const { required, endpoint } = demand
  // An identity provider sends the browser back here by a link.
  const isRead = required === 'Read' || (required === 'open' && isSafe(request.method))
  if (!isRead && isCrossSite(request.fields, target.dataspace.origins)) {
    return refuse(problem('access.cross-site', 'A page of another site may not write here.'))
  }

  const agent = await identify(request, target, gateway, trace)
  if (isFailure(agent)) return refuse(agent)
  const context: Context = { gateway, request, application, dataspace: target.dataspace, agent, accept, trace }

  if (target.kind === 'proxied') {
    const outcome = await gateway.proxy(context, target.uri)
    return isFailure(outcome) ? refuse(outcome) : outcome
  }
  if (required === 'open') {
    const outcome = await endpoint!.answer(context, target as EndpointTarget, undefined)
    return isFailure(outcome) ? refuse(outcome, [linkField(application, agent.webId, undefined)]) : outcome
  }
  const facts = await lookUp(context, target)
  if (isFailure(facts)) return refuse(facts)
  const decision = decideOn(context, facts, required)
  if (isFailure(decision)) return refuse(decision)
  trace.decision = decision
  // The history of a document that is not there has a decision of its own.
  const mayProceed = decision.allowed || isPast(target)
  const outcome = mayProceed
    ? await branch(context, target, decision, facts, demand)
    : refusalOf(decision, context, facts.iri)
  if (!isFailure(outcome)) return outcome
  const linked = !isPast(target) && (decision.allowed || outcome.failure === 'document.absent')
  const links = linked ? await linksOfRefused(context, facts) : []
  // A refusal names no modes: on which document they would be tells whether there is one (design 3).
  return refuse(outcome, [linkField(application, agent.webId, decision.allowed ? decision : undefined, links)])
}

interface Demand {
  readonly required: Mode | 'open'
  readonly asked?: SparqlRequest | Problem
  readonly endpoint?: Endpoint
}

/** What the request needs; on the SPARQL endpoint that is a matter of what it carries, not of its method. */
async function demandOf(request: Request, target: Target<Member>, { settings }: Gateway): Promise<Demand | Problem> {
  const { method } = request
  const endpoint = target.kind === 'endpoint' ? endpointOf(target) : undefined
  if (endpoint) {
    if (!endpoint.methods.split(', ').includes(method)) return methodNotAllowed(method, endpoint.methods)
    return { required: endpoint.needs(method), endpoint }
  }
  // History is written by writing documents: whoever may read it learns that it cannot be written.
  if (isPast(target)) return { required: 'Read' }
  if (!isSparql(target)) {
    const required = requiredMode(method)
    return required ? { required } : methodNotAllowed(method, DOCUMENT_METHODS)
  }
  if (!SPARQL_METHODS.split(', ').includes(method)) return methodNotAllowed(method, SPARQL_METHODS)
  const asked = await readSparqlRequest(request, target.query, settings.maxBody)
  if (isFailure(asked) && asked.failure === 'content.too-large') return asked
  // What is wrong with a request is for those who may send one.
  return { asked, required: isFailure(asked) || asked.kind === 'query' ? 'Read' : 'Write' }
}

/** RFC 9110 §9.2.1 */
const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'

const isSparql = (target: Target<Member>): target is Target<Member> & { kind: 'endpoint' } =>
  target.kind === 'endpoint' && target.endpoint === 'sparql'

async function branch(
  context: Context,
  target: OwnTarget,
  decision: Decision,
  facts: Facts,
  { asked, endpoint }: Demand,
): Promise<Response | Problem> {
  switch (target.kind) {
    case 'document':
      if (decision.required !== 'Read') return write(context, target.document, facts)
      return read(context, decision, facts) ?? readLarge(context, decision, facts)
    case 'version':
    case 'diff':
    case 'timemap':
    case 'timegate':
      return past(context, target, facts)
    case 'endpoint':
      if (asked) return sparql(context, target.iri, asked, decision)
      if (endpoint) return endpoint.answer(context, target, decision)
      return problem('target.unknown-endpoint', `There is no endpoint ${target.endpoint} in this release.`)
  }
}

/** CORS preflights carry no credentials, so that this says nothing about the document (Fetch §4.8). */
const CORS_FIELDS =
  'Accept, Accept-Datetime, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Authorization, DPoP'

/** What some documents are for everybody: the rest is a matter of rights, which OPTIONS does not ask for. */
function allowed(target: Target<Member>): string {
  const {
    application: { base },
    dataspace,
  } = target
  if (target.kind === 'proxied') return DOCUMENT_METHODS
  if (target.kind !== 'document') return READ_METHODS
  if (dataspace.protectedDocuments.has(target.document)) return READ_METHODS
  return target.document === base ? DOCUMENT_METHODS.replace(', DELETE', '') : DOCUMENT_METHODS
}

const options = (target: Target<Member>): Response => {
  const endpoint = target.kind === 'endpoint' ? endpointOf(target) : undefined
  const methods = isSparql(target) ? SPARQL_METHODS : (endpoint?.methods ?? allowed(target))
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
