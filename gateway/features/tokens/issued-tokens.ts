// Access tokens: random texts that prove an agent until they expire or are revoked. Only a hash of each is stored, in a
// file of the data folder that only its owner may read: a document would show it to readers of the rules, and its
// history would keep what was revoked (design 4).
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { makeQueue } from '../../../versioning/queue.js'
import type { TokenLimits } from '../../identity/agent.js'
import type { Log } from '../../log.js'
import { part } from '../../part.js'
import { writePrivate } from '../../identity/private-file.js'

export interface NewAccessToken extends TokenLimits {
  /** The base of the admin application: a token is one of a dataspace. */
  readonly admin: string
  /** A WebID. */
  readonly agent: string
  readonly name: string
  /** ms since the epoch. */
  readonly expires: number
}

export interface AccessToken extends NewAccessToken {
  readonly id: string
  readonly created: number
  /** ms since the epoch; to the hour after a restart. */
  readonly lastUsed?: number | undefined
}

export interface AccessTokens {
  /** Stored when it resolves. `text` is known only to its agent from then on. 'full' where there are too many. */
  create(token: NewAccessToken): Promise<{ readonly text: string; readonly token: AccessToken } | 'full' | 'failed'>
  /**
   * Those of a dataspace, the newest first; one whose revocation is not stored is still among them, to be revoked
   * again.
   */
  list(admin: string): readonly AccessToken[]
  /** It proves nothing from the call on, and after a restart when this resolves. */
  revoke(id: string): Promise<undefined | 'failed'>
  /** The token of this text; undefined where there is none, or none any longer. */
  find(text: string, admin: string): AccessToken | undefined
}
export const TOKENS = part<AccessTokens>('access tokens')

/** Tokens of one agent in a dataspace, and of all. */
const EACH = 50
const ALL = 10_000
const HOUR = 3_600_000

/** OpenID tokens have dots, or other beginnings. */
export const PREFIX = 'tgt_'
const TEXT = /^tgt_([0-9a-f]{16})_([\w-]{43})$/

interface Stored {
  readonly token: AccessToken
  /** SHA-256 of the secret, which has 256 random bits: no slow hash is needed. */
  readonly hash: string
  readonly revoked?: true
}

export const ACCESS_TOKENS_FILE = 'access-tokens.json'

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** @returns undefined where the file cannot be read: then no token may count, and none may be lost */
export async function openAccessTokens(
  file: string,
  { now, log }: { readonly now: () => number; readonly log: Log },
): Promise<AccessTokens | undefined> {
  const stored = await read(file, log)
  return stored && accessTokensIn(stored, file, { now, log })
}

function accessTokensIn(
  stored: Map<string, Stored>,
  file: string,
  { now, log }: { readonly now: () => number; readonly log: Log },
): AccessTokens {
  const inTurn = makeQueue()
  const isValid = ({ token, revoked }: Stored): boolean => !revoked && token.expires > now()
  const valid = (): AccessToken[] => [...stored.values()].filter(isValid).map(({ token }) => token)

  const save = (): Promise<undefined | 'failed'> => inTurn(() => write(file, [...stored.values()].filter(isValid), log))
  function used(id: string, entry: Stored): AccessToken {
    const { lastUsed = 0 } = entry.token
    const token = { ...entry.token, lastUsed: now() }
    // One write for an hour: the time of the last use is no more exact after a crash.
    if (Math.floor(lastUsed / HOUR) !== Math.floor(token.lastUsed / HOUR)) void save()
    stored.set(id, { ...entry, token })
    return token
  }

  return {
    async create(given) {
      for (const [id, { token }] of stored) if (token.expires <= now()) stored.delete(id)
      const own = valid().filter(({ agent, admin }) => agent === given.agent && admin === given.admin)
      if (own.length >= EACH || stored.size >= ALL) return 'full'
      const [id, secret] = [randomBytes(8).toString('hex'), randomBytes(32).toString('base64url')]
      const token = { ...given, id, created: now() }
      stored.set(id, { token, hash: hashOf(secret).toString('base64url') })
      if (await save()) {
        stored.delete(id)
        return 'failed'
      }
      return { text: `${PREFIX}${id}_${secret}`, token }
    },
    list: (admin) =>
      [...stored.values()]
        .map(({ token }) => token)
        .filter((token) => token.admin === admin && token.expires > now())
        .sort((a, b) => b.created - a.created),
    async revoke(id) {
      const entry = stored.get(id)
      if (entry) stored.set(id, { ...entry, revoked: true })
      const failed = await save()
      if (!failed) stored.delete(id)
      return failed
    },
    find(text, admin) {
      const [, id, secret] = TEXT.exec(text) ?? []
      const entry = id === undefined ? undefined : stored.get(id)
      if (!entry || !isValid(entry) || entry.token.admin !== admin) return undefined
      return timingSafeEqual(hashOf(secret!), Buffer.from(entry.hash, 'base64url')) ? used(id!, entry) : undefined
    },
  }
}

async function write(file: string, entries: readonly Stored[], log: Log): Promise<undefined | 'failed'> {
  try {
    await writePrivate(file, JSON.stringify(entries))
    return undefined
  } catch (error) {
    log.error({ file, err: error }, 'the access tokens cannot be stored')
    return 'failed'
  }
}

async function read(file: string, log: Log): Promise<Map<string, Stored> | undefined> {
  try {
    const written = JSON.parse(await readFile(file, 'utf8')) as readonly Stored[]
    await chmod(file, 0o600)
    return new Map(written.map((entry) => [entry.token.id, entry]))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    log.error({ file, err: error }, 'the access tokens cannot be read')
    return undefined
  }
}
