// Verifies tokens, sessions and On-Behalf-Of: with the accounts of the dataspace and the statements of profiles, they
// become a WebID or a refusal.
import { ALGORITHMS, makeTokenVerifier, type Claims, type TokenVerifier } from '../../policies/identity/bearer-token.js'
import { makeProofCheck, type CheckProof } from '../../policies/identity/dpop.js'
import type { Proved } from '../../policies/identity/memberships.js'
import {
  makeProfileStatements,
  webIdOf,
  type Confirmation,
  type ProfileStatements,
} from '../../policies/identity/profile-statement.js'
import type { SealingKeys } from '../../policies/identity/seal.js'
import { makeSeenTexts, type SeenTexts } from '../../policies/identity/seen-texts.js'
import { makeSessions, type Session, type Sessions } from '../../policies/identity/session.js'
import { isPassing, type ProfileRequest, type ReadProfile } from '../../policies/identity/webid.js'
import type { Request } from '../http/exchange.js'
import type { Trace } from '../log.js'
import {
  accountDocument,
  makeAccounts,
  serviceWebId,
  type Accounts,
  type AccountId,
  type HasAccounts,
} from './accounts.js'
import type { OidcClient } from './provider-client.js'
import { cookieOf } from './cookies.js'
import { LOGIN_LINK_ISSUER } from './login-links.js'
import type { Provider } from '../configuration/identity-providers.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { wait, type Steps } from '../maybe-async.js'
import type { Target } from '../http/target.js'

/** The part of an application and its dataspace that identifies agents. */
export interface HasIdentities {
  readonly application: { readonly base: string }
  readonly dataspace: HasAccounts
}

export interface Identities {
  readonly providers: readonly Provider[]
  readonly client: OidcClient
  readonly keys: SealingKeys
  readonly sessions: Sessions
  readonly accounts: Accounts
  readonly tokens: TokenVerifier
  readonly proofs: CheckProof
  readonly statements: ProfileStatements
  /** Verified sessions and claims by the whole Cookie or Authorization field, so that it is not parsed again. */
  readonly seen: { readonly sessions: SeenTexts<Session>; readonly claims: SeenTexts<Claims> }
  /** True if service accounts are agents before anyone has created an account for them. */
  readonly opensToServices: boolean
  readonly now: () => number
  /** Forgets everything that depends on this document. */
  forget(document: string): void
  clear(): void
}

export interface IdentitiesSettings {
  readonly providers: readonly Provider[]
  readonly client: OidcClient
  readonly keys: SealingKeys
  /** The lifetime of a session, in ms. */
  readonly lifetime: number
  readonly readProfile: ReadProfile
  /** The maximum age of statements from a profile, in ms. */
  readonly profileMaxAge: number
  readonly opensToServices: boolean
  readonly now: () => number
}

/** The number of cached fields and their maximum length: one session can be sent in any number of fields. */
const SEEN = 5_000
const LONGEST_FIELD = 4096

export function makeIdentities(settings: IdentitiesSettings): Identities {
  const { providers, client, keys, lifetime, readProfile, profileMaxAge, opensToServices, now } = settings
  const accounts = makeAccounts(now)
  const statements = makeProfileStatements({ readProfile, lifetime: profileMaxAge, now })
  const issuers = providers.map((provider) => ({ ...provider, readKeys: () => client.readKeys(provider) }))
  return {
    providers,
    client,
    keys,
    accounts,
    statements,
    opensToServices,
    now,
    seen: { sessions: makeSeenTexts<Session>(SEEN, LONGEST_FIELD), claims: makeSeenTexts<Claims>(SEEN, LONGEST_FIELD) },
    sessions: makeSessions(keys, lifetime, now),
    tokens: makeTokenVerifier(issuers, now),
    proofs: makeProofCheck(now),
    forget(document) {
      accounts.forget(document)
      statements.forget(document)
    },
    clear() {
      accounts.clear()
      statements.clear()
    },
  }
}

/** For whom profiles are read, and the trace that receives the reason for a refusal. */
export interface Asking extends ProfileRequest {
  readonly trace: Trace
}

/** The same sentence for every reason. The reason itself is only logged. */
function refused(trace: Trace, cause: string): Problem {
  trace.cause = cause
  return problem('credential.invalid', 'The credential does not prove an agent. The log of the gateway has the reason.')
}

/** RFC 6750 §3.1, RFC 9449 §7.1: an invalid token gets a challenge. */
export function tokenRefused(trace: Trace, cause: string): Problem {
  trace.cause = cause
  const challenge = `Bearer error="invalid_token", DPoP error="invalid_token", algs="${ALGORITHMS.join(' ')}"`
  return problem('token.invalid', 'The token does not prove an agent. The log of the gateway has the reason.', {
    fields: [['WWW-Authenticate', challenge]],
  })
}

const AGAIN = { fields: [['Retry-After', '1']] } as const
const overloaded = (): Problem => problem('server.overloaded', 'Too many credentials are being checked.', AGAIN)

/** True or false, or the problem that prevents an answer. */
function settled(answer: Confirmation, trace: Trace): boolean | Problem {
  if (!isFailure(answer)) return answer
  if (answer.failure === 'busy') return overloaded()
  if (isPassing(answer)) return problem('access.unavailable', 'The WebID profile cannot be read now.', AGAIN)
  return refused(trace, `${answer.failure}: ${answer.detail}`)
}

/**
 * Solid-OIDC §5: the WebID claimed by the issuer, if the WebID's profile names this issuer; otherwise the agent of the
 * account.
 */
export function* agentOf(
  { accounts, statements }: Identities,
  dataspace: HasAccounts,
  claims: AccountId & { readonly webId?: string },
  asking: Asking,
): Steps<string | undefined | Problem> {
  const webId = claims.webId === undefined ? undefined : webIdOf(claims.webId)
  if (webId !== undefined) {
    const confirmed = settled(yield* wait(statements.hasIssuer(webId, claims.issuer, asking)), asking.trace)
    if (confirmed === true) return webId
    if (isFailure(confirmed) && confirmed.failure !== 'credential.invalid') return confirmed
  }
  return yield* wait(accounts.find(dataspace, claims))
}

const AUTHORIZATION = /^(Bearer|DPoP) +([\w\-.~+/]+=*)$/i

/** The agent that an Authorization field proves (RFC 6750 §2.1, RFC 9449 §7.1). */
export function* agentOfToken(
  identities: Identities,
  request: Request,
  target: Target<HasIdentities>,
  asking: Asking,
): Steps<Proved | Problem> {
  const { trace } = asking
  const { seen, now } = identities
  const { authorization = '' } = request.fields
  const known = seen.claims.get(authorization)
  const claims = known && known.expires > now() ? known : yield* claimsIn(identities, request, target, asking)
  if (isFailure(claims)) return claims
  // A token bound to a key proves nothing by itself, so it is not cached.
  if (claims.boundTo === undefined) seen.claims.set(authorization, claims)
  const webId = yield* agentOf(identities, target.dataspace, claims, asking)
  if (isFailure(webId)) return webId
  const { memberships } = claims
  if (webId !== undefined) return { webId, memberships }
  const { base } = target.dataspace.admin
  if (claims.isService && identities.opensToServices) return { webId: serviceWebId(base, claims), memberships }
  return tokenRefused(
    trace,
    `account: <${accountDocument(base, claims)}> does not exist, and no claimed WebID has a profile that names the issuer`,
  )
}

/** The claims of the token in the Authorization field. If it is bound to a key, includes the proof of the key. */
function* claimsIn(
  { tokens, proofs }: Identities,
  { fields, method }: Request,
  target: Target<HasIdentities>,
  { trace, network }: Asking,
): Steps<Claims | Problem> {
  const [, scheme, token] = AUTHORIZATION.exec(fields.authorization ?? '') ?? []
  if (token === undefined) return tokenRefused(trace, 'malformed: neither a Bearer nor a DPoP token')
  const claims = yield* wait(tokens.verify(token))
  if (isFailure(claims)) {
    if (claims.failure !== 'unavailable') return tokenRefused(trace, `${claims.failure}: ${claims.detail}`)
    trace.cause = claims.detail
    return problem('access.unavailable', 'The identity provider cannot be reached now.', AGAIN)
  }
  const isBound = scheme!.toLowerCase() === 'dpop'
  // RFC 9449 §7.1: a token bound to a key is worthless without the proof of that key.
  if (isBound !== (claims.boundTo !== undefined))
    return tokenRefused(trace, `claims: the token cannot be used with ${scheme}`)
  if (!isBound) return claims
  const { dpop: proof = '' } = fields
  const wanted = { proof, token, boundTo: claims.boundTo!, method, url: urlOf(target), network: network() }
  const flaw = yield* wait(proofs(wanted))
  if (flaw?.failure === 'busy') return overloaded()
  return flaw ? tokenRefused(trace, `proof: ${flaw.detail}`) : claims
}

/** RFC 9449 §4.2: the URL without its query. */
function urlOf(target: Target<HasIdentities>): string {
  if (target.kind === 'endpoint') return target.url ?? target.iri
  return target.kind === 'proxied' ? target.path : 'url' in target ? target.url : target.document
}

/**
 * The agent of the session in a Cookie field; undefined without a session, 'ended' if it has expired or its account is
 * gone.
 */
export function* agentOfSession(
  identities: Identities,
  field: string,
  place: HasIdentities,
  asking: Asking,
): Steps<Proved | undefined | 'ended' | Problem> {
  const { dataspace } = place
  const { seen, sessions } = identities
  const known = seen.sessions.get(field)
  if (known && sessions.isInForce(known, dataspace.admin.base)) {
    return proved(yield* agentIn(identities, dataspace, known, asking), known)
  }
  const cookie = cookieOf(field, 'session', place)
  if (cookie === undefined) return undefined
  const session = yield* sessionOf(identities, cookie, dataspace)
  if (session === 'ended') return session
  seen.sessions.set(field, session)
  return proved(yield* agentIn(identities, dataspace, session, asking), session)
}

function* agentIn(
  identities: Identities,
  dataspace: HasAccounts,
  session: Session,
  asking: Asking,
): Steps<string | undefined | Problem> {
  // The gateway itself has seen that this is the owner.
  if (session.issuer === LOGIN_LINK_ISSUER) return dataspace.owner
  return yield* agentOf(identities, dataspace, session, asking)
}

const proved = (webId: string | undefined | Problem, { memberships }: Session): Proved | 'ended' | Problem =>
  webId === undefined ? 'ended' : isFailure(webId) ? webId : { webId, memberships }

/** The session of this cookie, if its provider is still configured or its agent is still the owner. */
export function* sessionOf(
  { sessions, providers }: Identities,
  cookie: string,
  { admin, owner }: HasAccounts,
): Steps<Session | 'ended'> {
  const session = yield* wait(sessions.read(cookie, admin.base))
  if (session === 'ended') return session
  const { issuer, subject } = session
  const isKnown =
    issuer === LOGIN_LINK_ISSUER ? subject === owner : providers.some((provider) => provider.issuer === issuer)
  return isKnown ? session : 'ended'
}

/** The principal in an On-Behalf-Of field, if the agent may act for it (LinkedDataHub 4.2). */
export function* principalOf(
  { statements }: Identities,
  delegate: string,
  field: string,
  asking: Asking,
): Steps<string | Problem> {
  const { trace } = asking
  const principal = webIdOf(field)
  if (principal === undefined) return refused(trace, 'delegation: On-Behalf-Of is not a WebID')
  if (principal === delegate) return principal
  const may = settled(yield* wait(statements.mayActFor(delegate, principal, asking)), trace)
  if (isFailure(may)) return may
  return may ? principal : refused(trace, `delegation: the profile of <${principal}> does not let <${delegate}>`)
}
