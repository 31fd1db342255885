// Sessions: sealed in a cookie, decrypted once, and valid until they expire or the agent logs out.
import { randomBytes } from 'node:crypto'
import { open, seal, type SealingKeys } from './seal.js'
import { makeSeenTexts } from './seen-texts.js'

/** A log-in, by issuer and subject. The account decides on each request which agent that is. */
export interface Session {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  /** The claim of the ID token. It counts only if the WebID's profile names the issuer. */
  readonly webId?: string
  /** The issuer's statements about the account at log-in (memberships.ts). */
  readonly memberships: readonly string[]
  /** The admin base of the dataspace that the session is for. */
  readonly dataspace: string
  /** ms since the epoch. */
  readonly expires: number
}

export interface Sessions {
  /** The text for the cookie, and its lifetime in ms. */
  begin(
    who: Omit<Session, 'id' | 'expires' | 'memberships'> & Partial<Pick<Session, 'memberships'>>,
  ): Promise<{ readonly cookie: string; readonly lifetime: number }>
  /** The session if it is valid in this dataspace, otherwise 'ended'. Synchronous if the text has been read before. */
  read(text: string, dataspace: string): Session | 'ended' | Promise<Session | 'ended'>
  isInForce(session: Session, dataspace: string): boolean
  /** Ends the session early, wherever its cookie may be stored. */
  end(session: Session): void
}

const ENDED = 100_000
const OPENED = 10_000

/** `lifetime` in ms. Ended sessions are remembered until their expiry, only in this process. */
export function makeSessions(keys: SealingKeys, lifetime: number, now: () => number): Sessions {
  const opened = makeSeenTexts<Session>(OPENED)
  const ended = new Map<string, number>()

  const isInForce = ({ id, expires, dataspace }: Session, wanted: string): boolean =>
    expires > now() && dataspace === wanted && !ended.has(id)
  const checked = (session: Session | undefined, dataspace: string): Session | 'ended' =>
    session && isInForce(session, dataspace) ? session : 'ended'

  return {
    isInForce,
    async begin({ issuer, subject, webId, memberships = [], dataspace }) {
      const claims = {
        jti: randomBytes(16).toString('base64url'),
        iss: issuer,
        sub: subject,
        aud: dataspace,
        ...(memberships.length > 0 && { memberships }),
        ...(webId !== undefined && { webid: webId }),
      }
      return { cookie: await seal(keys, 'session', claims, { now: now(), lifetime }), lifetime }
    },
    read(text, dataspace) {
      const known = opened.get(text)
      if (known) return checked(known, dataspace)
      return readSession(keys, text, { now: now(), lifetime }).then((session) => {
        if (session) opened.set(text, session)
        return checked(session, dataspace)
      })
    },
    end({ id, expires }) {
      for (const [other, until] of ended) if (until <= now() || ended.size >= ENDED) ended.delete(other)
      ended.set(id, expires)
    },
  }
}

async function readSession(
  keys: SealingKeys,
  text: string,
  time: { readonly now: number; readonly lifetime: number },
): Promise<Session | undefined> {
  const claims = await open(keys, 'session', text, time)
  if (!claims) return undefined
  const { jti, iss, sub, aud, exp, webid, memberships } = claims
  if (typeof jti !== 'string' || typeof iss !== 'string' || typeof sub !== 'string' || typeof aud !== 'string')
    return undefined
  return {
    id: jti,
    issuer: iss,
    subject: sub,
    ...(typeof webid === 'string' && { webId: webid }),
    // Trusted, since the gateway sealed them.
    memberships: Array.isArray(memberships) ? (memberships as readonly string[]) : [],
    dataspace: aud,
    expires: exp! * 1000,
  }
}
