// Proofs of possession (RFC 9449): the client holds the key that its token is bound to, and made the proof for this
// request, just now, and for a single use.
import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'
import { failure, isFailure, type Failure } from '../failure.js'
import { ALGORITHMS } from './bearer-token.js'

export interface ProofWanted {
  readonly proof: string
  readonly token: string
  /** The thumbprint in the token's `cnf`. */
  readonly boundTo: string
  readonly method: string
  /** The URL of the request, without query. */
  readonly url: string
  /** The client's network. */
  readonly network: string
}

/** Undefined if the proof is valid; `busy`: no more proofs can be remembered. `detail` is for the log. */
export type CheckProof = (wanted: ProofWanted) => Promise<undefined | Failure<'proof' | 'busy'>>

const MAX_PROOF = 4096
/** RFC 9449 §11.1: how far `iat` may be in the past or the future. */
const WINDOW_MS = 60_000
/** The most proofs that are remembered: of one key or network, and in all. */
const REMEMBERED = { each: 25_000, all: 100_000 } as const

/** `now` in ms. Remembers proofs as long as they could be replayed. */
export function makeProofCheck(
  now: () => number,
  most: { readonly each: number; readonly all: number } = REMEMBERED,
): CheckProof {
  // In the order in which they may be forgotten, since all are remembered equally long.
  const used = new Map<string, { readonly until: number; readonly of: readonly string[] }>()
  const counts = new Map<string, number>()

  function count(of: readonly string[], change: 1 | -1): void {
    for (const one of of) {
      const now = (counts.get(one) ?? 0) + change
      if (now > 0) counts.set(one, now)
      else counts.delete(one)
    }
  }

  function use(id: string, of: readonly string[]): undefined | Failure<'proof' | 'busy'> {
    for (const [old, { until, of: earlier }] of used) {
      if (until > now()) break
      used.delete(old)
      count(earlier, -1)
    }
    if (used.has(id)) return flaw('The proof was used before.')
    if (used.size >= most.all) return failure('busy', 'No more proofs can be remembered.')
    if (of.some((one) => (counts.get(one) ?? 0) >= most.each))
      return failure('busy', 'No more proofs of this key or network can be remembered.')
    used.set(id, { until: now() + 2 * WINDOW_MS, of })
    count(of, 1)
    return undefined
  }

  return async (wanted) => {
    const id = await identifierOf(wanted, now())
    return isFailure(id) ? id : use(id, [wanted.boundTo, wanted.network])
  }
}

const flaw = (detail: string): Failure<'proof'> => failure('proof', detail)

/** Verifies the proof and its key, and returns its identifier. RFC 9449 §4.3: all checks, in our own order. */
async function identifierOf(
  { proof, token, boundTo, method, url }: ProofWanted,
  now: number,
): Promise<string | Failure<'proof'>> {
  if (proof.length > MAX_PROOF) return flaw('The proof is too long.')
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ALGORITHMS,
      currentDate: new Date(now),
    })
    const { htm, htu, iat, jti, ath } = payload
    if ((await calculateJwkThumbprint(protectedHeader.jwk!)) !== boundTo)
      return flaw('The token is bound to another key.')
    if (htm !== method) return flaw('The proof is for another method.')
    if (typeof htu !== 'string' || plainUrl(htu) !== plainUrl(url)) return flaw('The proof is for another URL.')
    if (typeof iat !== 'number' || Math.abs(now - iat * 1000) > WINDOW_MS) return flaw('The proof is not recent.')
    if (ath !== createHash('sha256').update(token).digest('base64url')) return flaw('The proof is for another token.')
    if (typeof jti !== 'string' || jti === '' || jti.length > 256) return flaw('The proof has no identifier.')
    return `${boundTo} ${jti}`
  } catch (error) {
    return flaw((error as Error).message)
  }
}

/** RFC 9449 §4.3: without query and fragment, normalised as in RFC 3986 §6.2.2 and §6.2.3. */
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
