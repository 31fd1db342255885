// In charge of the log line of a request: its answer, and the evidence of the decision on access.
import type { Decision } from '../../policies/decide.js'
import type { Request, Response } from '../http/exchange.js'
import type { Gateway } from '../gateway.js'
import { logRequest, member, type Trace } from '../log.js'

/** One line for a request; a second one, as a warning, where a refusal was let pass (--enforce=false). */
export function observe(request: Request, answer: Response, gateway: Gateway, trace: Trace): void {
  const { dataspace, agent, delegate, decision, view, problem, cause, storeMs } = trace
  const { status } = answer
  gateway.answered.set(status, (gateway.answered.get(status) ?? 0) + 1)
  if (decision?.unenforced) {
    const { id, method, requestTarget } = request
    const path = requestTarget.split('?', 1)[0]
    gateway.log.warn({ id, method, path, agent, decision: evidence(decision) }, 'would have been refused')
  }
  if (!gateway.log.isLevelEnabled('info')) return
  const time = gateway.now()
  logRequest(gateway.log, {
    time,
    id: request.id,
    dataspace,
    client: request.address(),
    method: request.method,
    path: request.requestTarget.split('?', 1)[0]!,
    status,
    size: request.method === 'HEAD' ? 0 : sizeOf(answer),
    agent,
    delegate,
    decision: decision && observed(decision),
    view,
    problem,
    cause,
    storeMs: Math.round(storeMs * 10) / 10,
    ms: time - request.receivedAt,
  })
}

/** The bytes of the content; undefined where it streams. */
function sizeOf({ ready, body }: Response): number | undefined {
  if (ready?.text !== undefined) return ready.text.length
  if (body === undefined) return 0
  return Buffer.isBuffer(body) ? body.length : undefined
}

/** As JSON. A refusal names the missing mode and the authorizations that were considered. */
function observed(decision: Decision): string {
  const { allowed, required, reason, via } = decision
  if (!allowed) return JSON.stringify(evidence(decision))
  return `{"allowed":true,"required":"${required}","reason":"${reason}"${member('by', via[0]?.iri)}}`
}

function evidence({ allowed, required, reason, on, modes, considered }: Decision): object {
  const { authorizations, total } = considered()
  return { allowed, required, reason, on, modes, considered: authorizations, total }
}
