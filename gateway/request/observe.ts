// Writes the log line of a request: its answer, and the evidence for the decision on access.
import { createHmac } from 'node:crypto'
import type { Decision } from '../../policies/decide.js'
import type { Request, Response } from '../http/exchange.js'
import type { Gateway } from '../gateway.js'
import { logRequest, member, type Trace } from '../log.js'
import { remember, SLOW_MS } from '../recent-failures.js'

/**
 * The User-Agent of `triplegate doctor` at this base in this minute. Its requests are not recorded as failures. The
 * name proves that its sender can read the data folder. Someone who reads the name in a proxy's log can use it for only
 * a few minutes.
 */
export const doctorOf = (tagKey: string, base: string, time: number): string =>
  `triplegate-doctor/${createHmac('sha256', tagKey)
    .update(`doctor ${base} ${Math.floor(time / MINUTE_MS)}`)
    .digest('base64url')}`
const MINUTE_MS = 60_000

/** One line per request, and a warning if a refusal was let pass (--enforce=false). */
export function observe(request: Request, answer: Response, gateway: Gateway, trace: Trace): void {
  const { dataspace, agent, delegate, decision, view, problem, cause, storeMs } = trace
  const { status } = answer
  gateway.answered.set(status, (gateway.answered.get(status) ?? 0) + 1)
  const time = gateway.now()
  observeRecent(request, status, time, { gateway, trace })
  if (decision?.unenforced && !isDoctor(request, gateway, trace)) {
    const { id, method, requestTarget } = request
    const path = requestTarget.split('?', 1)[0]
    gateway.log.warn({ id, method, path, agent, decision: evidence(decision) }, 'would have been refused')
  }
  if (!gateway.log.isLevelEnabled('info')) return
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

/** True only for what doctor requests: an anonymous GET or HEAD. */
function isDoctor({ fields, method, receivedAt }: Request, { dataspaces }: Gateway, trace: Trace): boolean {
  const { agent, dataspace } = trace
  const name = fields['user-agent']
  const isAsked = agent === undefined && (method === 'GET' || method === 'HEAD')
  if (!isAsked || dataspace === undefined || !name?.startsWith('triplegate-doctor/')) return false
  const { tagKey } = dataspaces[0]!.endUser.cache
  return [0, 1, 2, 3, 4].some((ago) => name === doctorOf(tagKey, dataspace, receivedAt - ago * MINUTE_MS))
}

function observeRecent(
  { id, method, requestTarget, receivedAt }: Request,
  status: number,
  time: number,
  { gateway: { recent }, trace }: { readonly gateway: Gateway; readonly trace: Trace },
): void {
  recent.answers++
  if (trace.storeMs === 0) recent.withoutStore++
  const ms = time - receivedAt
  if (status < 400 && ms < SLOW_MS) return
  const { agent, cause, problem, storeMs } = trace
  const path = requestTarget.split('?', 1)[0]!.slice(0, LONGEST_PATH)
  const seen = { time, id, method, path, status, agent, ms, storeMs, reason: cause ?? problem }
  // Robots request things that do not exist, and conditions are meant to fail.
  if (status >= 400 && status !== 404 && status !== 412) remember(recent.refused, seen)
  if (ms >= SLOW_MS) remember(recent.slow, seen)
}
const LONGEST_PATH = 500

/** The number of bytes in the content; undefined if it is streamed. */
function sizeOf({ ready, body }: Response): number | undefined {
  if (ready?.text !== undefined) return ready.text.length
  if (body === undefined) return 0
  return Buffer.isBuffer(body) ? body.length : undefined
}

/** As JSON. A refusal names the missing mode and the authorizations considered. */
function observed(decision: Decision): string {
  const { allowed, required, reason, via } = decision
  if (!allowed) return JSON.stringify(evidence(decision))
  return `{"allowed":true,"required":"${required}","reason":"${reason}"${member('by', via[0]?.iri)}}`
}

function evidence({ allowed, required, reason, on, modes, considered }: Decision): object {
  const { authorizations, total } = considered()
  return { allowed, required, reason, on, modes, considered: authorizations, total }
}
