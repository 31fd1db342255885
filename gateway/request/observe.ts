// In charge of the log line of a request: its answer, and the evidence of the decision on access.
import type { Decision } from '../../policies/decide.js'
import type { Request, Response } from '../http/exchange.js'
import type { Gateway } from '../gateway.js'
import type { Trace } from '../log.js'

/** One line for a request; a second one, as a warning, where a refusal was let pass (--enforce=false). */
export function observe(request: Request, { status }: Response, gateway: Gateway, trace: Trace): void {
  const { agent, delegate, decision, problem: code, cause, storeMs } = trace
  gateway.answered.set(status, (gateway.answered.get(status) ?? 0) + 1)
  if (decision?.unenforced) {
    const { id, method, requestTarget } = request
    const path = requestTarget.split('?', 1)[0]
    gateway.log.warn({ id, method, path, agent, decision: evidence(decision) }, 'would have been refused')
  }
  if (!gateway.log.isLevelEnabled('info')) return
  gateway.log.info({
    id: request.id,
    method: request.method,
    path: request.requestTarget.split('?', 1)[0],
    status,
    agent,
    delegate,
    decision: decision && observed(decision),
    problem: code,
    cause,
    storeMs: Math.round(storeMs * 10) / 10,
    ms: gateway.now() - request.receivedAt,
  })
}

/** A refusal names the missing mode and the authorizations that were considered. */
const observed = (decision: Decision): object => {
  const { allowed, required, reason, via } = decision
  return allowed ? { allowed, required, reason, by: via[0]?.iri } : evidence(decision)
}

function evidence({ allowed, required, reason, on, modes, considered }: Decision): object {
  const { authorizations, total } = considered()
  return { allowed, required, reason, on, modes, considered: authorizations, total }
}
