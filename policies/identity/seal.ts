// Seals values that a browser stores for the gateway, so that clients can neither read nor make them: encrypted JWTs
// (RFC 7516, RFC 7519), AES-256-GCM with a key of the gateway.
import { EncryptJWT, jwtDecrypt, type JWTHeaderParameters, type JWTPayload } from 'jose'

export interface SealingKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  /** 32 octets. */
  readonly secret: Buffer
}

export interface SealingKeys {
  /** The key for new seals. */
  current(): SealingKey
  byId(id: string): SealingKey | undefined
}

/**
 * The purpose of a seal. RFC 8725 §3.11: the type is authenticated, so a seal for one purpose is never accepted for
 * another.
 */
const TYPES = { session: 'triplegate-session+jwt', login: 'triplegate-login+jwt' } as const
export type Purpose = keyof typeof TYPES

/** RFC 6265 §6.1: browsers must store cookies of up to 4096 octets. */
const MAX_SEALED = 4000
const HEADER_PARAMETERS = ['alg', 'enc', 'kid', 'typ']
/** RFC 7516 §7.1, with an empty encrypted key (RFC 7518 §4.5). */
const COMPACT = /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/

/** `now`, `lifetime` in ms. */
export async function seal(
  keys: SealingKeys,
  purpose: Purpose,
  claims: JWTPayload,
  { now, lifetime }: { readonly now: number; readonly lifetime: number },
): Promise<string> {
  const { id, secret } = keys.current()
  return new EncryptJWT(claims)
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: id, typ: TYPES[purpose] })
    .setIssuedAt(seconds(now))
    .setExpirationTime(seconds(now + lifetime))
    .encrypt(secret)
}

/** The claims, if they were sealed for this purpose and have not expired; otherwise undefined. */
export async function open(
  keys: SealingKeys,
  purpose: Purpose,
  text: string,
  { now, lifetime }: { readonly now: number; readonly lifetime: number },
): Promise<JWTPayload | undefined> {
  if (text.length > MAX_SEALED || !isCanonical(text)) return undefined
  try {
    const { payload } = await jwtDecrypt(text, (header) => keyFor(keys, header), {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      typ: TYPES[purpose],
      requiredClaims: ['iat', 'exp'],
      maxTokenAge: seconds(lifetime),
      currentDate: new Date(now),
    })
    return payload
  } catch {
    return undefined
  }
}

/** Accepts no other header parameters, such as `zip`. */
function keyFor(keys: SealingKeys, header: JWTHeaderParameters): Buffer {
  const key = typeof header.kid === 'string' ? keys.byId(header.kid) : undefined
  if (!key || !Object.keys(header).every((name) => HEADER_PARAMETERS.includes(name))) throw new Error('No such key.')
  return key.secret
}

/** True if no other text decodes to the same value: the unused bits at the end of each part must be zero. */
const isCanonical = (text: string): boolean =>
  COMPACT.test(text) && text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

const seconds = (time: number): number => Math.floor(time / 1000)
