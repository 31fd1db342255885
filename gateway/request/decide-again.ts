// Decides again on an answer that had to wait, for the store or anything else: rights that have ended meanwhile are not
// used any more (spec 5, design 5). Once the answer has begun, it is sent to its end.
import type { Decision } from '../../policies/decide.js'
import type { Response } from '../http/exchange.js'
import { wait, type Awaitable, type Steps } from '../maybe-async.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decideOn, lookUpDocument, type Facts } from './access.js'
import { rightsOnGraphs } from './agent-graph-rights.js'
import type { Context } from './context.js'
import { tokenEnded } from './identify.js'
import { refusalOf } from './refusal.js'
import type { Decided } from './route.js'

/**
 * The answer to a request that only reads, unless it had to wait and its agent has lost the right to it. An answer that
 * did not wait, such as a cached one, is as old as its decision.
 * @param asked the decision on which the answer rests, if there is a single one
 */
export function* whileAllowed(
  context: Context,
  asked: Pick<Decided, 'facts' | 'decision'> | undefined,
  answering: Awaitable<Response | Problem>,
): Steps<Response | Problem> {
  const { trace, dataspace, request } = context
  if (answering instanceof Promise) trace.hasWaited = true
  else if (!trace.hasWaited) return answering
  const answer = yield* wait(answering)
  // Writes decide again under their locks, and no answer may hide that something has been written.
  const isRead = SAFE.has(request.method) || asked?.decision.required === 'Read'
  if (!isRead || trace.hasWritten) return answer
  const taken = dataspace.access.takingIn()
  if (taken) yield* wait(taken)
  const ended = tokenEnded(context) ?? decisionEnded(context, asked) ?? rightsEnded(context) ?? trace.control?.()
  if (!ended) return answer
  if (!isFailure(answer)) discard(answer)
  return ended
}

/** RFC 9110 §9.2.1, RFC 10008 §2. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

/** Reads a document to show it, for an agent who may read the state that has been read. @param now as in lookUpDocument */
export async function documentToShow(context: Context, iri: string, now = false): Promise<Facts | Problem> {
  const facts = await lookUpDocument(context, iri, now)
  if (isFailure(facts) || facts.kind !== 'document' || !facts.document) return facts
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return decision
  return decision.allowed ? facts : refusalOf(decision, context, iri)
}

/** The decision, unless the right has ended meanwhile. */
export function stillAllowed(
  context: Context,
  { facts, decision }: Partial<Pick<Decided, 'facts' | 'decision'>>,
): Decision | undefined {
  const now = facts && decision?.allowed ? decideOn(context, facts, decision.required) : undefined
  return now && !isFailure(now) && now.allowed ? now : undefined
}

function decisionEnded(context: Context, asked: Pick<Decided, 'facts' | 'decision'> | undefined): Problem | undefined {
  // An answer after a refusal has decided by itself.
  if (!asked?.decision.allowed) return undefined
  const { facts, decision } = asked
  const now = decideOn(context, facts, decision.required)
  if (isFailure(now)) return now
  if (now.allowed) return undefined
  context.trace.decision = now
  return refusalOf(now, context, facts.iri)
}

/** The answer was chosen by the agent's rights on graphs, such as the result of a query. */
function rightsEnded(context: Context): Problem | undefined {
  const { rights } = context.trace
  if (rights === undefined) return undefined
  const now = rightsOnGraphs(context, 'Read')
  if (isFailure(now)) return now
  return now.fingerprint === rights ? undefined : CHANGED
}

const CHANGED = problem('access.unavailable', 'The rules have just been changed.', { fields: [['Retry-After', '1']] })

/**
 * Frees what the body of an answer holds, such as a request to the store. A generator must have begun for that; it is not
 * waited for, since the store may not have begun to answer.
 */
function discard({ body }: Response): void {
  if (!body || Buffer.isBuffer(body)) return
  const pieces = body[Symbol.asyncIterator]()
  const ignored = (): undefined => undefined
  void pieces.next().catch(ignored)
  void pieces.return?.().catch(ignored)
}
