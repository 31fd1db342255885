// In charge of tokens of identity providers (RFC 7519, RFC 9068, OpenID Connect Core §2): signed by a key of a configured
// issuer, for an audience that is ours, in time. Keys are kept for a while, and not asked for again and again.
import { createLocalJWKSet, decodeJwt, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'
import { makeSeenTexts } from './seen-texts.js'

export interface Issuer {
  /** As the `iss` claim has it. */
  readonly issuer: string
  /** What `aud` has to name one of. */
  readonly audiences: readonly string[]
  /** The client that ID tokens are for. */
  readonly clientId: string
  /** The issuer's key set (RFC 7517 §5), or a sentence saying why it cannot be had. Never rejects. */
  readonly readKeys: () => Promise<JSONWebKeySet | string>
}

/** What a token proves. */
export interface Claims {
  readonly issuer: string
  readonly subject: string
  /** The `webid` claim (Solid-OIDC §5.1), which the profile has to confirm. */
  readonly webId?: string
  /** The thumbprint of the key that the token is bound to (RFC 9449 §6.1). */
  readonly boundTo?: string
  /** ms since the epoch. */
  readonly expires: number
}

/** Why a token is refused, for the log; `unavailable`: its issuer's keys cannot be had now. */
export interface TokenFailure {
  readonly kind: 'token-failure'
  readonly reason: 'malformed' | 'issuer' | 'audience' | 'signature' | 'expired' | 'claims' | 'unavailable'
  readonly detail: string
}

export interface TokenVerifier {
  /** At once where the token was verified before. */
  verify(token: string): Claims | TokenFailure | Promise<Claims | TokenFailure>
}

/** RFC 8725 §3.1: never `none`, never a shared secret. */
export const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512'].concat([
  'RS256',
  'RS384',
  'RS512',
])
/** RFC 8725 §3.11: a token made for another purpose, such as a log-out token, proves nobody. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']
/** Solid-OIDC §6.2: tokens that are bound to a key are for every Solid resource server. */
const SOLID_AUDIENCE = 'solid'
const MAX_TOKEN = 8192
const KEYS_MS = 600_000
const KEYS_AGAIN_MS = 30_000
const FAILURE_MS = 10_000
/** How far the clocks of issuer and gateway may be apart, in seconds. */
const SKEW_S = 30

const failure = (reason: TokenFailure['reason'], detail: string): TokenFailure => ({
  kind: 'token-failure',
  reason,
  detail,
})

export function makeTokenVerifier(issuers: readonly Issuer[], now: () => number, max = 10_000): TokenVerifier {
  const seen = makeSeenTexts<Claims>(max)
  const known = new Map(issuers.map((one) => [one.issuer, { ...one, keys: makeKeys(one.readKeys, now) }]))

  async function check(token: string): Promise<Claims | TokenFailure> {
    const claimed = issuerOf(token)
    const issuer = claimed === undefined ? undefined : known.get(claimed)
    if (!issuer)
      return failure(claimed === undefined ? 'malformed' : 'issuer', 'The issuer is none that is configured.')
    for (const attempt of ['kept', 'fresh'] as const) {
      const keys = await issuer.keys(attempt)
      if (typeof keys === 'string') return failure('unavailable', keys)
      try {
        const { payload, protectedHeader } = await jwtVerify(token, keys, {
          algorithms: ALGORITHMS,
          issuer: issuer.issuer,
          audience: audiencesOf(token, issuer),
          requiredClaims: ['exp', 'sub'],
          clockTolerance: SKEW_S,
          currentDate: new Date(now()),
        })
        if (!TYPES.includes(protectedHeader.typ?.toLowerCase() ?? 'jwt'))
          return failure('claims', 'The token is of another type.')
        return claimsOf(payload, issuer)
      } catch (error) {
        // The issuer may have a new key.
        if (attempt === 'kept' && error instanceof errors.JWKSNoMatchingKey) continue
        return failureOf(error)
      }
    }
    return failure('signature', 'The key of the token is not one of the issuer.')
  }

  return {
    verify(token) {
      if (token.length > MAX_TOKEN) return failure('malformed', 'The token is too long.')
      const before = seen.get(token)
      if (before && before.expires > now()) return before
      return check(token).then((claims) => {
        if (!('kind' in claims)) seen.set(token, claims)
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
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) return failure('claims', 'The subject is none.')
  // RFC 8417 §2: a security event, such as a log-out token, tells of something and lets nobody in.
  if (payload.events !== undefined) return failure('claims', 'The token is about an event.')
  // OpenID Connect Core §3.1.3.7: of several audiences, the party it was issued to is to be ours.
  if (Array.isArray(aud) && aud.length > 1 && azp !== undefined && ![clientId, ...audiences].includes(azp as string)) {
    if (thumbprintOf(payload) === undefined) return failure('audience', 'The token was issued to another party.')
  }
  const boundTo = thumbprintOf(payload)
  if (boundTo !== undefined && typeof boundTo !== 'string') return failure('claims', 'The token is bound to no key.')
  // RFC 8705 §3.1 and others: a confirmation that is not understood is not confirmed.
  if (payload.cnf !== undefined && boundTo === undefined)
    return failure('claims', 'The token is bound to something else.')
  return {
    issuer,
    subject: sub,
    ...(typeof webid === 'string' && { webId: webid }),
    ...(boundTo !== undefined && { boundTo }),
    expires: exp! * 1000,
  }
}

function failureOf(error: unknown): TokenFailure {
  const { code = '', message, claim } = error as { code?: string; message: string; claim?: string }
  if (code === 'ERR_JWT_EXPIRED') return failure('expired', message)
  if (claim === 'aud') return failure('audience', message)
  if (claim === 'iss') return failure('issuer', message)
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return failure('claims', message)
  return failure(/^ERR_JW[ST]_INVALID/.test(code) ? 'malformed' : 'signature', message)
}

type KeySet = ReturnType<typeof createLocalJWKSet>

/** The issuer's keys, asked for once however many wait; 'fresh': again, but not more often than every half minute. */
function makeKeys(
  readKeys: Issuer['readKeys'],
  now: () => number,
): (wanted: 'kept' | 'fresh') => Promise<KeySet | string> {
  let kept: { readonly keys: KeySet | string; readonly asked: number } | undefined
  let asking: Promise<KeySet | string> | undefined

  async function ask(): Promise<KeySet | string> {
    const answer = await readKeys()
    let keys: KeySet | string
    try {
      keys = typeof answer === 'string' ? answer : createLocalJWKSet(answer)
    } catch {
      keys = 'The key set of the issuer is none.'
    }
    // Keys that were good stay so while the issuer is away.
    const usable = typeof keys === 'string' && kept && typeof kept.keys !== 'string' ? kept.keys : keys
    kept = { keys: usable, asked: now() }
    asking = undefined
    return usable
  }

  return async (wanted) => {
    const age = kept ? now() - kept.asked : Infinity
    const enough = typeof kept?.keys === 'string' ? FAILURE_MS : wanted === 'fresh' ? KEYS_AGAIN_MS : KEYS_MS
    return kept && age < enough ? kept.keys : (asking ??= ask())
  }
}
