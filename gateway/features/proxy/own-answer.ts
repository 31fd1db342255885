// Requests through the Linked Data proxy to other applications of this installation. They are answered in this process
// like any request: in the same dataspace as the agent, in others as an anonymous client (design 3).
import type { FetchAnswer } from '../../../policies/fetch/guarded-fetch.js'
import { parseHttpUrl } from '../../../policies/fetch/destination.js'
import { BodyBreak, tooLarge } from '../../http/body.js'
import type { Field, Request, Response } from '../../http/exchange.js'
import { readyFields } from '../../http/ready-head.js'
import { discard } from '../../http/send.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { StoreBreak } from '../../stores/store.js'

export interface InnerRequest {
  readonly method: string
  /** By lower-case name: only those client fields that any other server would get. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly maxBytes: number
  readonly maxRedirects: number
}

export async function answerInside(context: Context, url: URL, inner: InnerRequest): Promise<FetchAnswer | Problem> {
  const { inside, isOwn } = context.gateway
  let target = url
  for (let redirects = 0; ; redirects++) {
    const answered = await inside(requestTo(target, inner, context.request), context)
    const { status } = answered
    const fields = fieldsOf(answered)
    if ('cache-group-invalidation' in fields) context.trace.hasWritten = true
    const isRead = inner.method === 'GET' || inner.method === 'HEAD'
    if (!isRead || status < 300 || status > 399 || fields.location === undefined) {
      const body = await bodyOf(answered, inner.maxBytes)
      return isFailure(body) ? body : { url: target.href, status, fields, body }
    }
    discard(answered)
    const next = parseHttpUrl(fields.location, target)
    if (isFailure(next) || redirects >= inner.maxRedirects || !isOwn(next)) return LEADS_AWAY
    target = next
  }
}

const LEADS_AWAY = problem('proxy.failed', 'The proxy does not follow a redirect of this URL.')

/**
 * The request has no credentials, since these could be for another dataspace. It has the client's network, for which
 * shares are counted.
 */
function requestTo(url: URL, { method, fields, body }: InnerRequest, outer: Request): Request {
  const host = url.host.replace(/\.(?=:|$)/, '')
  return {
    id: `${outer.id}-inside`,
    method,
    requestTarget: url.pathname + url.search,
    fields: { ...fields, host, ...(body.length > 0 && { 'content-length': String(body.length) }) },
    hosts: 1,
    certificate: undefined,
    receivedAt: outer.receivedAt,
    isAdmitted: outer.isAdmitted,
    address: () => outer.address(),
    network: () => outer.network(),
    signal: () => outer.signal(),
    readBody: async (limit, setting) => (body.length > limit ? tooLarge(limit, setting) : body),
    hold: () => true,
    async *streamBody(limit, setting) {
      if (body.length > limit) throw new BodyBreak(tooLarge(limit, setting))
      yield body
    },
  }
}

function fieldsOf({ fields, ready }: Response): Record<string, string> {
  const all: readonly Field[] = [...(ready ? readyFields(ready) : []), ...fields]
  return Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value]))
}

async function bodyOf({ body, ready }: Response, maxBytes: number): Promise<Buffer | Problem> {
  if (!body) return Buffer.from(ready?.text ?? '', 'latin1')
  if (Buffer.isBuffer(body)) return body
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of body) {
      size += piece.length
      if (size > maxBytes) return problem('proxy.failed', 'The answer is too large.')
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  return Buffer.concat(pieces)
}
