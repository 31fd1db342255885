// Identifies the agent: from the credentials of a request to a WebID, an anonymous client, or a refusal. Profiles that
// are documents of this gateway are read in process, others through the guarded fetcher.
import type { Agent, Context, KnownAgent } from './context.js'
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { failure } from '../../policies/failure.js'
import { isUntrusted } from '../../policies/fetch/fetch-failure.js'
import { ALGORITHMS } from '../../policies/identity/bearer-token.js'
import type { CredentialFailure, ProfileFailure, ProfileRequest, ReadProfile } from '../../policies/identity/webid.js'
import type { Request } from '../http/exchange.js'
import type { Reading } from '../evaluation/reading.js'
import type { Gateway, Member } from '../gateway.js'
import type { Trace } from '../log.js'
import { clearCookie } from '../identity/cookies.js'
import { ACCESS_TOKEN_CHECK, type ProvedAgent } from '../identity/agent.js'
import { agentOfSession, agentOfToken, principalOf, tokenRefused, type Asking } from '../identity/identities.js'
import type { TakePlace } from '../places.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readProfile } from '../documents/document.js'
import { readableContent } from '../rdf/foreign-content.js'
import { READABLE_ACCEPT } from '../rdf/read.js'
import { run, wait, type Awaitable, type Steps } from '../maybe-async.js'
import { parseTarget, type Site, type Target } from '../http/target.js'

const ANONYMOUS: Agent = {}

/**
 * The agent that sends the request. Invalid credentials are refused, never ignored. If both a certificate and a token
 * are sent, they must prove the same agent. A session, which browsers send unasked, counts only without these two.
 * On-Behalf-Of (the agent acts for another) needs a certificate or a token.
 */
export function identify(
  request: Request,
  target: Target<Member>,
  { gateway, trace, writes, known }: Identifying,
): Awaitable<Agent | Problem> {
  if (known?.dataspace === target.dataspace) {
    trace.agent = known.agent.webId
    trace.delegate = known.agent.delegate?.webId
    return known.agent
  }
  const { certificate, fields } = request
  const { authorization, cookie, 'on-behalf-of': principal } = fields
  const isAnonymous =
    certificate === undefined && authorization === undefined && cookie === undefined && principal === undefined
  if (isAnonymous) return ANONYMOUS
  const asking = { trace, network: () => request.network(), ...(writes && { maxAge: ageForWrites(gateway) }) }
  return run(identified(request, target, gateway, asking))
}

interface Identifying {
  readonly gateway: Gateway
  readonly trace: Trace
  /** True if the request may need more than Read. */
  readonly writes: boolean
  /**
   * Set for a request that is part of another one: the agent of that request. It was verified as strictly as needed,
   * since the outer request also counts as a write if this one does.
   */
  readonly known?: KnownAgent | undefined
}

/**
 * Why an agent that a certificate proved before is no longer proved, or may no longer act for the other one; for work
 * that goes on after its request. Tokens have a check of their own (`AccessTokenCheck`).
 */
export const whyUnproved = (
  agent: Agent,
  gateway: Gateway,
  about: Pick<Asking, 'trace' | 'network'>,
): Awaitable<undefined | Problem> => run(unproved(agent, gateway, { ...about, maxAge: () => OWN_MS }))

function* unproved({ webId, delegate, ...own }: Agent, gateway: Gateway, asking: Asking): Steps<undefined | Problem> {
  const { certificate } = delegate ?? own
  const certified = certificate && (yield* agentOfCertificate(certificate, gateway, asking))
  if (isFailure(certified)) return certified
  if (webId === undefined || delegate?.webId === undefined) return undefined
  const principal = yield* principalOf(gateway.identities, delegate.webId, webId, asking)
  return isFailure(principal) ? principal : undefined
}

/**
 * How old a verified profile may be when its agent writes. Remote profiles are read again, since a removed key must not
 * write. The gateway knows when its own documents change, except for changes behind it.
 */
const ageForWrites =
  ({ isOwn }: Gateway) =>
  (webId: string): number =>
    URL.canParse(webId) && isOwn(new URL(webId)) ? OWN_MS : 0
const OWN_MS = 5_000
/** How old a verified profile may be for reads. */
export const PROFILE_MAX_AGE_MS = 60_000

function* identified(
  request: Request,
  target: Target<Member>,
  gateway: Gateway,
  asking: Asking,
): Steps<Agent | Problem> {
  const { trace } = asking
  const { certificate, fields } = request
  const { authorization, 'on-behalf-of': principal } = fields
  if (isFailure(certificate)) return certificate
  const certified = certificate && (yield* agentOfCertificate(certificate, gateway, asking))
  if (isFailure(certified)) return certified
  const token = authorization === undefined ? undefined : yield* tokenAgent(request, target, gateway, asking)
  if (isFailure(token)) return token
  if (certified !== undefined && token !== undefined && certified !== token.webId) {
    return problem('credential.invalid', 'The client certificate and the Authorization field name different agents.')
  }
  const explicit = token?.webId ?? certified
  if (explicit !== undefined) trace.identifiedBy = certified === undefined ? 'token' : 'certificate'
  if (principal !== undefined) {
    if (explicit === undefined) {
      return problem('credential.invalid', 'On-Behalf-Of needs a client certificate or a token.')
    }
    const delegate = token ?? { webId: explicit, certificate }
    const acts = acting(delegate, yield* principalOf(gateway.identities, explicit, principal, asking), trace)
    return token?.token && !isFailure(acts) ? { ...acts, token: token.token } : acts
  }
  if (explicit === undefined) return yield* sessionAgent(request, target, gateway, asking)
  trace.agent = explicit
  return token ?? { webId: explicit, certificate }
}

function acting(delegate: Agent, principal: string | Problem, trace: Trace): Agent | Problem {
  trace.agent = delegate.webId
  if (isFailure(principal)) return principal
  trace.agent = principal
  trace.delegate = delegate.webId
  return { webId: principal, delegate }
}

function* agentOfCertificate(
  certificate: Uint8Array,
  { webIds }: Gateway,
  asking: Asking,
): Steps<string | undefined | Problem> {
  const verified = yield* wait(webIds.verify(certificate, asking))
  return isFailure(verified) ? certificateRefused(verified, asking.trace) : verified?.webId
}

/** The same message for every reason, so that guessing reveals neither which documents exist nor what they contain. */
function certificateRefused({ failure, detail }: CredentialFailure, trace: Trace): Problem {
  trace.cause = `${failure}: ${detail}`
  const again = { fields: [['Retry-After', '1']] } as const
  if (failure === 'busy') return problem('server.overloaded', detail, again)
  // The credential could not be checked; it need not be wrong.
  if (failure === 'store-unavailable' || failure === 'unreachable') {
    return problem('access.unavailable', 'The WebID profile cannot be read now. Retry shortly.', again)
  }
  return problem(
    'credential.invalid',
    'The client certificate does not prove a WebID. The log of the gateway has the reason.',
  )
}

function* tokenAgent(
  request: Request,
  target: Target<Member>,
  gateway: Gateway,
  asking: Asking,
): Steps<ProvedAgent | Problem> {
  const { identities } = gateway
  const { network, trace } = asking
  const asked = { admin: target.dataspace.admin.base, network, trace }
  const proved = ACCESS_TOKEN_CHECK.in(gateway)?.agentIn(request.fields.authorization!, asked)
  if (proved) return proved
  if (identities.providers.length > 0) return yield* agentOfToken(identities, request, target, asking)
  return tokenRefused(asking.trace, 'provider: no identity provider is configured')
}

/** The refusal of an access token that has ended since it identified the agent. */
export function tokenEnded({ agent, dataspace, gateway, request, trace }: Context): Problem | undefined {
  const { authorization } = request.fields
  if (!agent.token || authorization === undefined) return undefined
  const asked = { admin: dataspace.admin.base, network: () => request.network(), trace }
  const proved = ACCESS_TOKEN_CHECK.in(gateway)?.agentIn(authorization, asked)
  return isFailure(proved) ? proved : undefined
}

/**
 * The agent of the session, or an anonymous client. If the session has ended, a read continues as anonymous and the
 * browser is told to drop the session; any other method is refused with the reason.
 */
function* sessionAgent(
  { fields, method }: Request,
  target: Target<Member>,
  { identities }: Gateway,
  asking: Asking,
): Steps<Agent | Problem> {
  const { trace } = asking
  // Logging in or out must work even without a valid session.
  if (fields.cookie === undefined || isLogin(target)) return ANONYMOUS
  const agent = yield* agentOfSession(identities, fields.cookie, target, asking)
  if (agent === undefined) return ANONYMOUS
  if (isFailure(agent)) return agent
  if (agent !== 'ended') {
    trace.agent = agent.webId
    trace.identifiedBy = 'session'
    return agent
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return problem('session.ended', 'Your session has ended, so nothing was changed. Log in again.', {
      fields: [['WWW-Authenticate', CHALLENGE], clearCookie('session', target)],
    })
  }
  trace.endedSession = clearCookie('session', target)
  return ANONYMOUS
}

/** RFC 9110 §15.5.2: the credentials that programs can send. */
const CHALLENGE = `Bearer realm="triplegate", DPoP algs="${ALGORITHMS.join(' ')}"`

const isLogin = (target: Target<Member>): boolean => target.kind === 'endpoint' && target.endpoint.startsWith('oauth2/')

const unavailable = (detail: string): ProfileFailure => failure('profile-unavailable', detail)

/** Remote profiles that may be read at once, per network and in total. Local documents need no place. */
export const REMOTE_PROFILES = { each: 16, all: 64 } as const

/** Reads WebID profiles: documents of this gateway directly from their store, all others over HTTP. */
export function makeReadProfile(
  site: Site<Member>,
  fetcher: GuardedFetch,
  reading: Reading,
  takePlace: TakePlace,
): ReadProfile {
  return async (document, asking) => {
    const url = new URL(document)
    const target = parseTarget(url.pathname + url.search, url.host, site)
    if (!isFailure(target)) {
      if (target.kind !== 'document' || target.document !== document)
        return unavailable('Its URL is not that of a document.')
      const profile = await readProfile(target.application, target.document)
      if (isFailure(profile)) {
        return profile.failure === 'store.too-large'
          ? unavailable('It is too large for a profile.')
          : failure('store-unavailable', profile.detail)
      }
      return profile ?? unavailable('There is no such document.')
    }
    if (target.failure !== 'target.unknown-origin') return unavailable(target.detail)
    const leave = takePlace(asking.network())
    if (!leave) return failure('busy', 'Too many WebID profiles are being read.')
    return readRemote(document, asking, fetcher, reading).finally(leave)
  }
}

/** In bytes, decompressed. */
const LARGEST_PROFILE = 1024 * 1024

/** Counted against the client's network, since the agent is not known yet. Remote contexts are not fetched. */
async function readRemote(
  document: string,
  asking: ProfileRequest,
  fetcher: GuardedFetch,
  reading: Reading,
): Promise<Awaited<ReturnType<ReadProfile>>> {
  const answer = await fetcher.fetch(document, { accept: READABLE_ACCEPT })
  if (isFailure(answer)) {
    const passes = PASSING.has(answer.failure) && !isUntrusted(answer)
    return passes ? unreachable(answer.detail) : unavailable(answer.detail)
  }
  const { status } = answer
  if (status !== 200) {
    const detail = `Its server answered with status ${status}.`
    return status >= 500 || status === 429 ? unreachable(detail) : unavailable(detail)
  }
  const content = await readableContent(answer, LARGEST_PROFILE)
  if (isFailure(content)) return unavailable(content.detail)
  const triples = await reading.readRdf(asking.network(), { ...content, base: document }, undefined)
  if (!isFailure(triples)) return triples
  return triples.failure === 'server.overloaded' ? failure('busy', triples.detail) : unavailable(triples.detail)
}

/** Failures of a fetch after which a later attempt may succeed. */
const PASSING: ReadonlySet<string> = new Set(['unresolvable', 'unreachable', 'time', 'aborted'])
const unreachable = (detail: string): ProfileFailure => failure('unreachable', detail)
