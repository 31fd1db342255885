// The Linked Data proxy (spec 4.4): which agents may use it, which URLs it fetches, and what it sends: an anonymous
// request with only the fields listed here. Nothing is cached.
import { FETCH_LIMITS, ownUrls } from '../../start/fetchers.js'
import { createHash } from 'node:crypto'
import { parseHttpUrl } from '../../../policies/fetch/destination.js'
import type { GuardedFetch } from '../../../policies/fetch/guarded-fetch.js'
import { MAX_BODY } from '../../http/body.js'
import type { Response } from '../../http/exchange.js'
import type { Doors } from '../../configuration/doors.js'
import type { Member } from '../../gateway.js'
import { part } from '../../part.js'
import { makeSharedPlaces, type TakePlaceOf } from '../../places.js'
import type { Context } from '../../request/context.js'
import type { AskedRoute } from '../../request/route.js'
import type { Target } from '../../http/target.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { FETCH_PROBLEMS } from '../../request/fetch-problems.js'
import { acceptOf, formatsFor } from './representations.js'
import { responseFrom, SENT_FIELDS } from './response.js'
import { answerInside } from './own-answer.js'
import { conditionsOf } from './validators.js'
import { methodNotAllowed } from '../../request/refusal.js'
import type { Fields } from '../../http/fields.js'

type ProxiedTarget = Target<Member> & { readonly kind: 'proxied' }

/** Who may use the proxy, and what it needs. */
interface Proxying {
  readonly use: Doors['proxy']
  readonly fetcher: GuardedFetch
  /** RFC 9110 §7.6.3: a pseudonym instead of the host name, the same on each instance of this gateway. */
  readonly pseudonym: string
  readonly takePlace: TakePlaceOf
}
export const PROXYING = part<Proxying>('proxy')

/**
 * The most concurrent requests of an agent, a network, and all. Each may hold an answer and its conversion in memory.
 */
const PLACES = { each: 8, network: 16, all: 32 } as const

/** @param bases of all applications */
export const makeProxying = (use: Proxying['use'], bases: readonly string[], fetcher: GuardedFetch): Proxying => ({
  use,
  fetcher,
  pseudonym: `triplegate-${createHash('sha256').update(bases.join(' ')).digest('hex').slice(0, 12)}`,
  takePlace: makeSharedPlaces(PLACES),
})

export async function proxied({ context, target: { uri } }: AskedRoute<ProxiedTarget>): Promise<Response | Problem> {
  const { request, agent, gateway } = context
  const { use, pseudonym, takePlace } = PROXYING.of(gateway)
  if (use === 'off') return methodNotAllowed(request.method, '')
  const refused = refusal(request.fields, use === 'everyone' || agent.webId !== undefined, pseudonym)
  if (refused) return refused
  const url = destinationOf(uri, context.application)
  if (isFailure(url)) return url
  // Read before taking a slot, since slow content must not hold one.
  const isSafe = request.method === 'GET' || request.method === 'HEAD'
  const body = isSafe ? Buffer.alloc(0) : await request.readBody(gateway.settings.maxBody, MAX_BODY)
  if (isFailure(body)) return body
  const network = request.network()
  const leave = takePlace(agent.webId ?? network, network)
  if (!leave) {
    return problem('server.overloaded', 'Too many requests to other servers are running. Retry shortly.', {
      fields: [['Retry-After', '1']],
    })
  }
  try {
    return await exchange(context, url, body)
  } finally {
    leave()
  }
}

async function exchange(context: Context, url: URL, body: Buffer): Promise<Response | Problem> {
  const { gateway, request, accept, trace } = context
  const { fetcher, pseudonym } = PROXYING.of(gateway)
  const { method, fields } = request
  const isSafe = method === 'GET' || method === 'HEAD'
  const conditions = conditionsOf(fields, isSafe, (mediaType, code) =>
    formatsFor(accept, { mediaType, contentType: mediaType }).some((format) => format.code === code),
  )
  const sent = { ...sentFields(fields, body.length > 0), ...conditions.fields, via: viaOf(fields, pseudonym) }
  if (gateway.isOwn(url)) {
    const inner = { method, fields: { ...sent, accept: acceptOf(accept) }, body, ...FETCH_LIMITS }
    const answered = await answerInside(context, url, inner)
    trace.continues()
    return isFailure(answered) ? answered : responseFrom(context, answered, conditions)
  }
  const answer = await fetcher.fetch(url.href, {
    accept: acceptOf(accept),
    method,
    fields: sent,
    ...(body.length > 0 && { body }),
    // A write may be meant for this server only, so the client decides whether to follow a redirect.
    redirects: isSafe ? 'follow' : 'return',
    signal: request.signal(),
  })
  trace.continues()
  if (!isFailure(answer)) return responseFrom(context, answer, conditions)
  trace.cause = answer.failure
  return problem(FETCH_PROBLEMS[answer.failure], answer.detail)
}

/**
 * Values of `Sec-Fetch-Dest` (Fetch §2.2.5) for content that runs in a page or changes it. Images and frames do
 * neither.
 */
const ACTIVE =
  /^(?:audioworklet|embed|json|manifest|object|paintworklet|script|serviceworker|sharedworker|style|worker|xslt)$/

function refusal(fields: Fields, mayUse: boolean, pseudonym: string): Problem | undefined {
  if (!mayUse) {
    return problem('access.denied', 'Access not authorized: only identified agents may use the proxy (?uri=).')
  }
  if (ACTIVE.test(fields['sec-fetch-dest'] ?? '')) {
    return problem('access.denied', 'Content of another server cannot be part of a page of this origin.')
  }
  return fields.via?.includes(pseudonym) ? problem('proxy.loop', 'The URL leads back to this proxy.') : undefined
}

/** Spec 4.4: URLs that are relative to the application's base must be requested directly. */
function destinationOf(uri: string, { base }: Member['application']): URL | Problem {
  const url = parseHttpUrl(uri)
  if (isFailure(url)) {
    return problem('proxy.refused', '?uri= must be an absolute http or https URL without user information.')
  }
  if (!ownUrls([base])(url) || !url.pathname.startsWith(new URL(base).pathname)) return url
  return problem('proxy.refused', `?uri= must be a URL of another server. Request this one directly: ${url.href}`)
}

/**
 * Sent in addition to SENT_FIELDS, Accept, conditions and Via. No field identifies the client or its address.
 */
const SENT_WITH_CONTENT = ['content-type', 'content-language', 'content-encoding', 'link', 'slug']

const sentFields = (fields: Fields, hasContent: boolean): Record<string, string> =>
  Object.fromEntries(
    [...SENT_FIELDS, ...(hasContent ? SENT_WITH_CONTENT : [])].flatMap((name) => {
      const value = fields[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const viaOf = ({ via }: Fields, pseudonym: string): string => [via, `1.1 ${pseudonym}`].filter(Boolean).join(', ')
