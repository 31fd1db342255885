// The keys of token issuers (RFC 7517 §5): which are cached, for how long, and when they are read again.
import { createRemoteJWKSet, customFetch, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isFailure, type Failure } from '../failure.js'

/** Reads the issuer's key set. Never rejects. */
export type ReadKeys = () => Promise<JSONWebKeySet | Failure>

const MAX_AGE_MS = 600_000
/** How long an unknown key does not make the gateway read the keys again. */
const COOLDOWN_MS = 30_000
/** As clients are told to wait: requests at the same time ask the issuer once. */
const FAILURE_MS = 1_000

/** Thrown through jose, which knows failures as errors only. */
export class KeysUnavailable extends Error {}

/** The keys are read once, however many requests wait for them. Rejects with KeysUnavailable. */
export function makeIssuerKeys(issuer: string, readKeys: ReadKeys, now: () => number): JWTVerifyGetKey {
  let lastGood: JSONWebKeySet | undefined
  let failed: { readonly detail: string; readonly until: number } | undefined

  async function read(): Promise<JSONWebKeySet> {
    if (failed && now() < failed.until) throw new KeysUnavailable(failed.detail)
    const answer = await readKeys()
    if (!isFailure(answer)) return (lastGood = answer)
    // Good keys stay valid while the issuer cannot be reached.
    if (lastGood) return lastGood
    failed = { detail: answer.detail, until: now() + FAILURE_MS }
    throw new KeysUnavailable(answer.detail)
  }

  // The URL only names the issuer: `readKeys` finds the address of the keys by discovery.
  return createRemoteJWKSet(new URL(issuer), {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOLDOWN_MS,
    [customFetch]: async () => Response.json(await read()),
  })
}
