// In charge of proofs of possession (RFC 9449): that whoever presents a token holds the key that it is bound to, for this
// request, now, and for the first time.
import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'
import { ALGORITHMS } from './bearer-token.js'

export interface ProofWanted {
  readonly proof: string
  readonly token: string
  /** The thumbprint in the token's `cnf`. */
  readonly boundTo: string
  readonly method: string
  /** The URL of the request, without query. */
  readonly url: string
}

/** Undefined when the proof holds, else why not, for the log; 'busy' when no more proofs can be remembered. */
export type CheckProof = (wanted: ProofWanted) => Promise<string | undefined>

export const BUSY = 'busy'
const MAX_PROOF = 4096
/** How old, or how much ahead, `iat` may be: RFC 9449 §11.1. */
const WINDOW_MS = 60_000
const REMEMBERED = 100_000

/** `now` in ms. Proofs are remembered while they could be replayed, `max` at most. */
export function makeProofCheck(now: () => number, max = REMEMBERED): CheckProof {
  // In the order in which they may be forgotten: each is remembered for as long.
  const used = new Map<string, number>()

  function isFirst(id: string): boolean | typeof BUSY {
    for (const [old, until] of used) {
      if (until > now()) break
      used.delete(old)
    }
    if (used.has(id)) return false
    if (used.size >= max) return BUSY
    used.set(id, now() + 2 * WINDOW_MS)
    return true
  }

  return async ({ proof, token, boundTo, method, url }) => {
    if (proof.length > MAX_PROOF) return 'The proof is too long.'
    try {
      // RFC 9449 §4.3: the order is ours, the checks are all there.
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: 'dpop+jwt',
        algorithms: ALGORITHMS,
        currentDate: new Date(now()),
      })
      const { htm, htu, iat, jti, ath } = payload
      if ((await calculateJwkThumbprint(protectedHeader.jwk!)) !== boundTo) return 'The token is bound to another key.'
      if (htm !== method) return 'The proof is for another method.'
      if (typeof htu !== 'string' || plainUrl(htu) !== plainUrl(url)) return 'The proof is for another URL.'
      if (typeof iat !== 'number' || Math.abs(now() - iat * 1000) > WINDOW_MS) return 'The proof is not of now.'
      if (ath !== createHash('sha256').update(token).digest('base64url')) return 'The proof is for another token.'
      if (typeof jti !== 'string' || jti === '' || jti.length > 256) return 'The proof has no identifier.'
      const first = isFirst(`${boundTo} ${jti}`)
      return first === BUSY ? BUSY : first ? undefined : 'The proof was used before.'
    } catch (error) {
      return (error as Error).message
    }
  }
}

/** RFC 9449 §4.3: without query and fragment, in the normal form of RFC 3986 §6.2.2 and §6.2.3. */
function plainUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  return (
    origin +
    pathname.replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
      const character = String.fromCharCode(parseInt(triplet.slice(1), 16))
      return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase()
    })
  )
}
