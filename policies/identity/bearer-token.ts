// Verifies tokens of identity providers (RFC 7519, RFC 9068, OpenID Connect Core §2): the signature of a configured
// issuer, an audience of ours, and the time.
import { type Failure, failure, isFailure } from '../failure.js'
import { membershipsOf } from './memberships.js'
import { makeSeenTexts } from './seen-texts.js'
import {
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  jwtVerify,
} from 'jose'

/** Reads the issuer's key set. Never rejects. */
type ReadKeys = () => Promise<JSONWebKeySet | Failure>

const MAX_AGE_MS = 600_000
/** How long an unknown key does not cause the keys to be read again. */
const COOLDOWN_MS = 30_000
/** The same time as in Retry-After. Concurrent requests ask the issuer once. */
const FAILURE_MS = 1_000

/** Passes a failure through jose, which only knows errors. */
class KeysUnavailable extends Error {}

/** Reads the keys once, however many requests wait. Rejects with KeysUnavailable. */
export function makeIssuerKeys(issuer: string, readKeys: ReadKeys, now: () => number): JWTVerifyGetKey {
  let lastGood: JSONWebKeySet | undefined
  let failed: { readonly detail: string; readonly until: number } | undefined

  async function read(): Promise<JSONWebKeySet> {
    if (failed && now() < failed.until) throw new KeysUnavailable(failed.detail)
    const answer = await readKeys()
    if (!isFailure(answer)) return (lastGood = answer)
    // Good keys remain valid while the issuer cannot be reached.
    if (lastGood) return lastGood
    failed = { detail: answer.detail, until: now() + FAILURE_MS }
    throw new KeysUnavailable(answer.detail)
  }

  // The URL only names the issuer: `readKeys` discovers the address of the keys.
  return createRemoteJWKSet(new URL(issuer), {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOLDOWN_MS,
    [customFetch]: async () => Response.json(await read()),
  })
}

export interface Issuer {
  /** Exactly as in the `iss` claim. */
  readonly issuer: string
  /** `aud` must contain one of these. */
  readonly audiences: readonly string[]
  /** The client to which ID tokens are issued. */
  readonly clientId: string
  readonly readKeys: ReadKeys
}

/** The claims proved by a valid token. */
export interface Claims {
  readonly issuer: string
  readonly subject: string
  /** The `webid` claim (Solid-OIDC §5.1), which the profile must confirm. */
  readonly webId?: string
  /** The issuer's statements about the account (memberships.ts). */
  readonly memberships: readonly string[]
  /** The thumbprint of the key that the token is bound to (RFC 9449 §6.1). */
  readonly boundTo?: string
  /** Set if the subject is a client itself, not acting for a person (RFC 6749 §4.4). */
  readonly isService?: true
  /** ms since the epoch. */
  readonly expires: number
}

/** The reason for refusing a token, for the log; `unavailable`: the issuer's keys cannot be read now. */
export type TokenFailure = Failure<
  'malformed' | 'issuer' | 'audience' | 'signature' | 'expired' | 'claims' | 'unavailable'
>

export interface TokenVerifier {
  /** Synchronous if the token has been verified before. */
  verify(token: string): Claims | TokenFailure | Promise<Claims | TokenFailure>
}

/** RFC 8725 §3.1: never `none`, never a shared secret. */
export const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512'].concat([
  'RS256',
  'RS384',
  'RS512',
])
/** RFC 8725 §3.11: tokens for other purposes, such as log-out tokens, prove no identity. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']
/** Solid-OIDC §6.2: the audience of key-bound tokens that are valid at every Solid resource server. */
const SOLID_AUDIENCE = 'solid'
const MAX_TOKEN = 8192
/** The largest accepted clock difference between issuer and gateway, in seconds. */
const SKEW_S = 30

export function makeTokenVerifier(issuers: readonly Issuer[], now: () => number, max = 10_000): TokenVerifier {
  const seen = makeSeenTexts<Claims>(max)
  const known = new Map(
    issuers.map((one) => [one.issuer, { ...one, keys: makeIssuerKeys(one.issuer, one.readKeys, now) }]),
  )

  async function check(token: string): Promise<Claims | TokenFailure> {
    const claimed = issuerOf(token)
    if (claimed === undefined) return failure('malformed', 'The token names no issuer.')
    const issuer = known.get(claimed)
    if (!issuer) return failure('issuer', 'The issuer of the token is not configured.')
    try {
      const { payload, protectedHeader } = await jwtVerify(token, issuer.keys, {
        algorithms: ALGORITHMS,
        issuer: issuer.issuer,
        audience: audiencesOf(token, issuer),
        requiredClaims: ['exp', 'sub'],
        clockTolerance: SKEW_S,
        currentDate: new Date(now()),
      })
      if (!TYPES.includes(protectedHeader.typ?.toLowerCase() ?? 'jwt'))
        return failure('claims', 'The token has the wrong type.')
      return claimsOf(payload, issuer)
    } catch (error) {
      return failureOf(error)
    }
  }

  return {
    verify(token) {
      if (token.length > MAX_TOKEN) return failure('malformed', 'The token is too long.')
      const before = seen.get(token)
      if (before && before.expires > now()) return before
      return check(token).then((claims) => {
        if (!isFailure(claims)) seen.set(token, claims)
        return claims
      })
    },
  }
}

function issuerOf(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token)
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

const thumbprintOf = ({ cnf }: JWTPayload): unknown => (cnf as { jkt?: unknown } | undefined)?.jkt

const audiencesOf = (token: string, { audiences }: Issuer): string[] =>
  thumbprintOf(decodeJwt(token)) === undefined ? [...audiences] : [...audiences, SOLID_AUDIENCE]

function claimsOf(payload: JWTPayload, { issuer, audiences, clientId }: Issuer): Claims | TokenFailure {
  const { sub, exp, aud, azp, webid } = payload
  if (typeof sub !== 'string' || sub === '' || sub.length > 255)
    return failure('claims', 'The subject is missing, empty or too long.')
  // RFC 8417 §2: a security event, such as a log-out token, is not a credential.
  if (payload.events !== undefined) return failure('claims', 'The token is about an event.')
  const isService = isOfService(payload)
  // OpenID Connect Core §3.1.3.7: if there are several audiences, the authorized party must be ours (not for services).
  if (
    !isService &&
    Array.isArray(aud) &&
    aud.length > 1 &&
    azp !== undefined &&
    ![clientId, ...audiences].includes(azp as string)
  ) {
    if (thumbprintOf(payload) === undefined) return failure('audience', 'The token was issued to another party.')
  }
  const boundTo = thumbprintOf(payload)
  if (boundTo !== undefined && typeof boundTo !== 'string')
    return failure('claims', "The thumbprint of the token's key is not text.")
  // RFC 8705 §3.1 and others: a token with an unsupported confirmation method is refused.
  if (payload.cnf !== undefined && boundTo === undefined)
    return failure('claims', 'The token is bound by an unsupported method.')
  return {
    issuer,
    subject: sub,
    ...(typeof webid === 'string' && { webId: webid }),
    memberships: membershipsOf(issuer, payload),
    ...(boundTo !== undefined && { boundTo }),
    ...(isService && { isService }),
    expires: exp! * 1000,
  }
}

/**
 * RFC 9068 §2.2: the subject of a client's own token is the client. Some providers mark it differently: Auth0 by the
 * grant type, Entra by the identity type, Keycloak by the name of the user that represents the client.
 */
function isOfService({ sub, azp, client_id, cid, gty, idtyp, preferred_username: name }: JWTPayload): boolean {
  if ([azp, client_id, cid].includes(sub) || gty === 'client-credentials' || idtyp === 'app') return true
  return typeof azp === 'string' && name === `service-account-${azp.toLowerCase()}`
}

function failureOf(error: unknown): TokenFailure {
  if (error instanceof KeysUnavailable) return failure('unavailable', error.message)
  const { code = '', message, claim } = error as { code?: string; message: string; claim?: string }
  if (code === 'ERR_JWT_EXPIRED') return failure('expired', message)
  if (claim === 'aud') return failure('audience', message)
  if (claim === 'iss') return failure('issuer', message)
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return failure('claims', message)
  return failure(/^ERR_JW[ST]_INVALID/.test(code) ? 'malformed' : 'signature', message)
}
