// In charge of who is asking: from the credentials of a request to a WebID, to nobody, or to a refusal.
// Profiles of our own documents are read in process; others through the guarded fetcher.
import type { Agent } from './context.js'
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import type { ReadProfile } from '../../policies/identity/webid.js'
import type { Request } from '../http/exchange.js'
import type { Gateway, Member } from '../gateway.js'
import { makeTrace, type Trace } from '../log.js'
import { clearCookie, cookieOf } from '../identity/cookies.js'
import {
  agentOfSession,
  agentOfToken,
  principalOf,
  recallAgentOfSession,
  recallAgentOfToken,
  recallPrincipal,
} from '../identity/identities.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { isLarge, readDocument } from '../documents/document.js'
import { readGraph, READABLE_ACCEPT } from '../rdf/read.js'
import { parseTarget, type Site, type Target } from '../http/target.js'

const NOBODY: Agent = {}

/**
 * A credential that is presented and does not hold is refused, never taken for none. A certificate and a token have to
 * prove the same agent; a session, which a browser sends unasked, counts where there is neither. For whom the agent acts
 * (On-Behalf-Of) is said with a certificate or a token.
 */
export async function identify(
  request: Request,
  target: Target<Member>,
  gateway: Gateway,
  trace: Trace,
): Promise<Agent | Problem> {
  const { fields } = request
  const certified = await agentOfCertificate(request, gateway, trace)
  if (isFailure(certified)) return certified
  const token = fields.authorization === undefined ? undefined : await tokenAgent(request, target, gateway, trace)
  if (isFailure(token)) return token
  if (certified !== undefined && token !== undefined && certified !== token) {
    return problem('credential.invalid', 'The client certificate and the Authorization field are of different agents.')
  }
  const explicit = token ?? certified
  const principal = fields['on-behalf-of']
  if (principal !== undefined) {
    if (explicit === undefined) {
      return problem('credential.invalid', 'On-Behalf-Of goes with a client certificate or a token.')
    }
    return acting(explicit, await principalOf(gateway.identities, explicit, principal, trace), trace)
  }
  if (explicit === undefined) return sessionAgent(request, target, gateway, trace)
  trace.agent = explicit
  return { webId: explicit }
}

function acting(delegate: string, principal: string | Problem, trace: Trace): Agent | Problem {
  trace.agent = delegate
  if (isFailure(principal)) return principal
  trace.agent = principal
  trace.delegate = delegate
  return { webId: principal }
}

async function agentOfCertificate(
  { certificate }: Request,
  { webIds }: Gateway,
  trace: Trace,
): Promise<string | undefined | Problem> {
  if (certificate === undefined || isFailure(certificate)) return certificate
  const verified = await webIds.verify(certificate)
  if (!verified) return undefined
  if ('webId' in verified) return verified.webId
  // The same words for every reason: which documents exist, and what they hold, is not for those who only guess.
  trace.cause = `${verified.reason}: ${verified.detail}`
  const again = { fields: [['Retry-After', '1']] } as const
  if (verified.reason === 'busy') return problem('server.overloaded', verified.detail, again)
  if (verified.reason === 'store-unavailable') {
    return problem('access.unavailable', 'The WebID profile cannot be read now.', again)
  }
  return problem(
    'credential.invalid',
    'The client certificate does not prove a WebID; the log of the gateway says why.',
  )
}

async function tokenAgent(
  request: Request,
  target: Target<Member>,
  { identities }: Gateway,
  trace: Trace,
): Promise<string | Problem> {
  if (identities.providers.length > 0) return agentOfToken(identities, request, target, trace)
  return problem('credential.invalid', 'This gateway takes client certificates; no identity provider is configured.')
}

/**
 * The agent of the session, or nobody. A session that is over makes nobody of somebody: a read goes on as nobody's, and
 * the browser forgets the session; anything else is refused, and says so.
 */
async function sessionAgent(
  { fields, method }: Request,
  target: Target<Member>,
  { identities }: Gateway,
  trace: Trace,
): Promise<Agent | Problem> {
  const {
    application: { base },
    dataspace,
  } = target
  const cookie = cookieOf(fields.cookie, 'session', base)
  // Whoever logs in or out need not be anybody yet, or any more.
  if (cookie === undefined || isLogin(target)) return NOBODY
  const webId = await agentOfSession(identities, cookie, dataspace, trace)
  if (isFailure(webId)) return webId
  if (webId !== 'ended') {
    trace.agent = webId
    return { webId }
  }
  if (method !== 'GET' && method !== 'HEAD') {
    const fields = [clearCookie('session', base)]
    return problem('credential.invalid', 'The session is over: nothing was done. Log in again.', { fields })
  }
  trace.endedSession = base
  return NOBODY
}

const isLogin = (target: Target<Member>): boolean => target.kind === 'endpoint' && target.endpoint.startsWith('oauth2/')

/** Who is asking, where that is known already and needs no waiting; undefined where `identify` has to be asked. */
export function recallAgent(
  { certificate, fields }: Request,
  member: Member,
  { webIds, identities }: Gateway,
): Agent | undefined {
  if (isFailure(certificate)) return undefined
  const certified = certificate && webIds.recall(certificate)
  if (certificate && !certified) return undefined
  const { authorization, cookie, 'on-behalf-of': principal } = fields
  if (authorization === undefined && principal === undefined) {
    if (certified) return certified
    const webId = cookie === undefined ? null : recallAgentOfSession(identities, cookie, member)
    return webId === null ? NOBODY : known(webId)
  }
  const token =
    authorization === undefined ? undefined : recallAgentOfToken(identities, authorization, member.dataspace)
  if (authorization !== undefined && (token === undefined || (certified && certified.webId !== token))) return undefined
  const explicit = token ?? certified?.webId
  if (explicit === undefined) return undefined
  return known(principal === undefined ? explicit : recallPrincipal(identities, explicit, principal))
}

const known = (webId: string | undefined): Agent | undefined => (webId === undefined ? undefined : { webId })

/** Reads WebID profiles: documents of this gateway straight from their store, all others from where they are. */
export function makeReadProfile(site: Site<Member>, fetcher: GuardedFetch, now: () => number): ReadProfile {
  return async (document) => {
    const url = new URL(document)
    const target = parseTarget(url.pathname + url.search, url.host, site)
    if (!isFailure(target)) {
      if (target.kind !== 'document' || target.document !== document)
        return { unavailable: 'It is not the URL of a document.' }
      const local = await readDocument(target.application, target.document, makeTrace(now))
      if (isFailure(local)) return { unavailable: local.detail, isOurs: true }
      if (!local.value) return { unavailable: 'There is no such document.' }
      return isLarge(local.value) ? { unavailable: 'It is too large for a profile.' } : local.value.graph().triples
    }
    if (target.failure !== 'target.unknown-origin') return { unavailable: target.detail }
    return readRemote(document, fetcher)
  }
}

async function readRemote(document: string, fetcher: GuardedFetch): Promise<Awaited<ReturnType<ReadProfile>>> {
  const answer = await fetcher.fetch(document, { accept: READABLE_ACCEPT })
  if (answer.kind === 'fetch-failure') return { unavailable: answer.detail }
  if (answer.status !== 200) return { unavailable: `It was answered with status ${answer.status}.` }
  const triples = await readGraph(answer.body, answer.fields['content-type'], document, {
    loadContext: () => Promise.resolve(undefined),
  })
  return isFailure(triples) ? { unavailable: triples.detail } : triples
}
