// In charge of what a browser keeps for us: sessions and log-ins under way, sealed so that nobody else can read or make
// them (AES-256-GCM). What a seal is for is authenticated with it, so that one kind never passes for the other.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { makeSeenTexts } from './seen-texts.js'

export interface SealingKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  /** 32 octets. */
  readonly secret: Buffer
}

export interface SealingKeys {
  /** The one to seal with now. */
  current(): SealingKey
  byId(id: string): SealingKey | undefined
}

/** Who has logged in: known by issuer and subject, so that the account decides which agent that is, each time. */
export interface Session {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  /** As the ID token claims it; it counts where the WebID's profile names the issuer. */
  readonly webId?: string
  /** The admin base of the dataspace that it was made for. */
  readonly dataspace: string
  /** ms since the epoch. */
  readonly expires: number
}

const ID_BYTES = 8
const IV_BYTES = 12
const TAG_BYTES = 16
/** A cookie that a browser keeps has 4096 octets at most (RFC 6265 §6.1). */
const MAX_SEALED = 4000

/** `purpose` is authenticated, and has to be the same when it is opened. The text is base64url. */
export function seal(keys: SealingKeys, purpose: string, value: object): string {
  const { id, secret } = keys.current()
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', secret, iv).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from(id, 'hex'), iv, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** The value that was sealed for this purpose, or undefined for anything else. */
export function open(keys: SealingKeys, purpose: string, text: string): object | undefined {
  if (text.length > MAX_SEALED || !/^[\w-]+$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // One text for one seal: the unused bits at its end are zero.
  if (bytes.length < ID_BYTES + IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined
  const key = keys.byId(bytes.subarray(0, ID_BYTES).toString('hex'))
  if (!key) return undefined
  const iv = bytes.subarray(ID_BYTES, ID_BYTES + IV_BYTES)
  const tag = bytes.subarray(-TAG_BYTES)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.secret, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag)
    const opened = decipher.update(bytes.subarray(ID_BYTES + IV_BYTES, -TAG_BYTES))
    return JSON.parse(Buffer.concat([opened, decipher.final()]).toString('utf8')) as object
  } catch {
    return undefined
  }
}

export interface Sessions {
  /** The text for the cookie, and for how many ms it is good. */
  begin(who: Omit<Session, 'id' | 'expires'>): { readonly cookie: string; readonly lifetime: number }
  /** The session in force in this dataspace; 'ended' for whatever is none, or not any more. */
  recall(text: string, dataspace: string): Session | 'ended'
  /** Whether one that was recalled before still is. */
  isInForce(session: Session, dataspace: string): boolean
  /** Ends it before its time, wherever else its cookie may be. */
  end(session: Session): void
}

const ENDED = 100_000
const OPENED = 10_000

/** `lifetime` in ms. Sessions that were ended are remembered until they would have expired, in this process only. */
export function makeSessions(keys: SealingKeys, lifetime: number, now: () => number): Sessions {
  const opened = makeSeenTexts<Session>(OPENED)
  const ended = new Map<string, number>()

  function read(text: string): Session | undefined {
    const known = opened.get(text)
    if (known) return known
    const session = open(keys, 'session', text) as Session | undefined
    if (!session) return undefined
    opened.set(text, session)
    return session
  }

  const isInForce = ({ id, expires, dataspace }: Session, wanted: string): boolean =>
    expires > now() && dataspace === wanted && !ended.has(id)

  return {
    isInForce,
    begin(who) {
      const session: Session = { ...who, id: randomBytes(16).toString('base64url'), expires: now() + lifetime }
      return { cookie: seal(keys, 'session', session), lifetime }
    },
    recall(text, dataspace) {
      const session = read(text)
      return session && isInForce(session, dataspace) ? session : 'ended'
    },
    end({ id, expires }) {
      for (const [other, until] of ended) if (until <= now() || ended.size >= ENDED) ended.delete(other)
      ended.set(id, expires)
    },
  }
}
