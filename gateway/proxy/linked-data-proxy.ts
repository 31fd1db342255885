// In charge of the Linked Data proxy (spec 4.4): who may use it, what it may be asked for, and what leaves the gateway: a
// request in nobody's name, with the fields that are listed here. Nothing that comes back is kept.
import { createHash } from 'node:crypto'
import { parseHttpUrl } from '../../policies/fetch/destination.js'
import {
  isFetchFailure,
  type FetchFailure,
  type GuardedFetch,
  type GuardedFetchSettings,
} from '../../policies/fetch/guarded-fetch.js'
import type { Response } from '../http/exchange.js'
import type { Context } from '../request/context.js'
import { isFailure, problem, type Problem, type ProblemCode } from '../problem.js'
import { answerFrom, SENT } from './answer.js'
import { acceptOf, formatsFor } from './forms.js'
import { conditionsOf } from './validators.js'
import { methodNotAllowed } from '../request/refusal.js'
import type { Fields } from '../http/fields.js'

/** `uri`: as the request has it. */
export type LinkedDataProxy = (context: Context, uri: string) => Promise<Response | Problem>

export interface ProxyOptions {
  readonly use: 'identified' | 'everyone' | 'off'
  /** The bases of all applications. */
  readonly bases: readonly string[]
  readonly fetcher: GuardedFetch
}

/** What the fetcher of the proxy is limited to. The URLs of vocabularies often lead over several resolvers. */
export const proxyLimits = (timeout: number): Partial<GuardedFetchSettings> => ({
  maxBytes: 8 * 1024 * 1024,
  headersTimeout: timeout,
  totalTimeout: timeout,
  maxRedirects: 5,
})

/** Requests under way: of one agent, of all. Each may hold an answer and what it is made into. */
const PLACES = { each: 8, all: 32 } as const

export function makeLinkedDataProxy({ use, bases, fetcher }: ProxyOptions): LinkedDataProxy {
  const isOwn = ownUrls(bases)
  // RFC 9110 §7.6.3: a pseudonym in place of the host. The same on each instance of this gateway.
  const pseudonym = `triplegate-${createHash('sha256').update(bases.join(' ')).digest('hex').slice(0, 12)}`
  const takePlace = makePlaces(PLACES)

  async function exchange(context: Context, url: URL): Promise<Response | Problem> {
    const { gateway, request, accept, trace } = context
    const { method, fields } = request
    const isSafe = method === 'GET' || method === 'HEAD'
    const body = isSafe ? Buffer.alloc(0) : await request.readBody(gateway.settings.maxBody)
    if (isFailure(body)) return body
    const conditions = conditionsOf(fields, isSafe, (mediaType, code) =>
      formatsFor(accept, mediaType).some((format) => format.code === code),
    )
    const answer = await fetcher.fetch(url.href, {
      accept: acceptOf(accept),
      method,
      fields: { ...sentFields(fields, body.length > 0), ...conditions.fields, via: viaOf(fields, pseudonym) },
      ...(body.length > 0 && { body }),
      // A write may be for this server only: whether to go on is the writer's to say.
      redirects: isSafe ? 'follow' : 'return',
      signal: request.signal(),
    })
    if (!isFetchFailure(answer)) return answerFrom(context, answer, conditions)
    trace.cause = answer.reason
    return problem(CODE_OF[answer.reason], answer.detail)
  }

  return async (context, uri) => {
    const { request, agent } = context
    if (use === 'off') return methodNotAllowed(request.method, '')
    const refused = refusal(request.fields, use === 'everyone' || agent.webId !== undefined, pseudonym)
    if (refused) return refused
    const url = destinationOf(uri, isOwn)
    if (isFailure(url)) return url
    const leave = takePlace(agent.webId ?? '')
    if (!leave) {
      return problem('server.overloaded', 'Too many requests to other servers.', { fields: [['Retry-After', '1']] })
    }
    try {
      return await exchange(context, url)
    } finally {
      leave()
    }
  }
}

/** Fetch §2.2.5, `Sec-Fetch-Dest`: what a page would run or be changed by, unlike data, an image or a page in its sandbox. */
const ACTIVE =
  /^(?:audioworklet|embed|json|manifest|object|paintworklet|script|serviceworker|sharedworker|style|worker|xslt)$/

function refusal(fields: Fields, mayUse: boolean, pseudonym: string): Problem | undefined {
  if (!mayUse) {
    return problem('access.denied', 'Access not authorized: only identified agents may use the proxy (?uri=).')
  }
  if (ACTIVE.test(fields['sec-fetch-dest'] ?? '')) {
    return problem('access.denied', 'What another server gives may not be made part of a page of this origin.')
  }
  return fields.via?.includes(pseudonym)
    ? problem('proxy.loop', 'The request has come through this proxy already: the URL leads back here.')
    : undefined
}

function destinationOf(uri: string, isOwn: (url: URL) => boolean): URL | Problem {
  const url = parseHttpUrl(uri)
  if (typeof url === 'string') {
    return problem('proxy.refused', '?uri= takes an absolute http or https URL without user information.')
  }
  if (!isOwn(url)) return url
  return problem('proxy.refused', `?uri= takes URLs of other servers. Request this one directly: ${url.href}`)
}

/**
 * Whether a URL is at the origin of one of these bases, however it is spelled. The scheme does not count: what is served
 * over https is redirected to from http.
 */
export function ownUrls(bases: readonly string[]): (url: URL) => boolean {
  const authorityOf = ({ hostname, port }: URL): string => `${hostname.replace(/\.$/, '')}:${port}`
  const own = new Set(bases.map((base) => authorityOf(new URL(base))))
  return (url) => own.has(authorityOf(url))
}

/** Of the client's fields these go out, Accept, the conditions and Via: none that says who is asking, or from where. */
const SENT_WITH_CONTENT = ['content-type', 'content-language', 'content-encoding', 'link', 'slug']

const sentFields = (fields: Fields, hasContent: boolean): Record<string, string> =>
  Object.fromEntries(
    [...SENT, ...(hasContent ? SENT_WITH_CONTENT : [])].flatMap((name) => {
      const value = fields[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const viaOf = ({ via }: Fields, pseudonym: string): string => [via, `1.1 ${pseudonym}`].filter(Boolean).join(', ')

const CODE_OF: Readonly<Record<FetchFailure['reason'], ProblemCode>> = {
  'refused-address': 'proxy.refused',
  'refused-scheme': 'proxy.refused',
  'refused-port': 'proxy.refused',
  malformed: 'proxy.refused',
  unresolvable: 'proxy.failed',
  unreachable: 'proxy.failed',
  'too-large': 'proxy.failed',
  redirects: 'proxy.failed',
  encoding: 'proxy.failed',
  time: 'proxy.time',
  aborted: 'server.closing',
}

/** A bound on what is under way, of each one and of all; undefined when there is no place left. */
function makePlaces({ each, all }: { each: number; all: number }): (who: string) => (() => void) | undefined {
  const taken = new Map<string, number>()
  let total = 0
  return (who) => {
    const own = taken.get(who) ?? 0
    if (own >= each || total >= all) return undefined
    taken.set(who, own + 1)
    total++
    return () => {
      total--
      const left = taken.get(who)! - 1
      if (left > 0) taken.set(who, left)
      else taken.delete(who)
    }
  }
}
