// Access tokens: random texts that identify an agent until they expire or are revoked. Only a hash of each is stored,
// in a file of the data folder that only its owner may read. In a document, readers of the rules would see the hashes,
// and its history would keep revoked ones (design 4).
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { makeQueue } from '../../../versioning/queue.js'
import type { TokenLimits } from '../../identity/agent.js'
import type { Log } from '../../log.js'
import { part } from '../../part.js'
import { writePrivate } from '../../identity/private-file.js'

export interface NewAccessToken extends TokenLimits {
  /** The base of the admin application: a token belongs to one dataspace. */
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
  /** In ms since the epoch; exact to the hour after a restart. */
  readonly lastUsed?: number | undefined
}

export interface AccessTokens {
  /** Stored once it resolves. Afterwards only the agent knows `text`. 'full' if there are too many tokens. */
  create(token: NewAccessToken): Promise<{ readonly text: string; readonly token: AccessToken } | 'full' | 'failed'>
  /**
   * The tokens of a dataspace, newest first. If a revocation could not be stored, its token is still listed, so that it
   * can be revoked again.
   */
  list(admin: string): readonly AccessToken[]
  /** The token is invalid from the call on; after a restart only if this has resolved. */
  revoke(id: string): Promise<undefined | 'failed'>
  /** The token with this text; undefined if there is none, or it is no longer valid. */
  find(text: string, admin: string): AccessToken | undefined
}
export const TOKENS = part<AccessTokens>('access tokens')

/** The most tokens of one agent in a dataspace, and of all agents. */
const EACH = 50
const ALL = 10_000
const HOUR = 3_600_000

/** OpenID tokens contain dots, or begin differently. */
export const PREFIX = 'tgt_'
const TEXT = /^tgt_([0-9a-f]{16})_([\w-]{43})$/

interface Stored {
  readonly token: AccessToken
  /** SHA-256 of the secret, which has 256 random bits, so no slow hash is needed. */
  readonly hash: string
  readonly revoked?: true
}

export const ACCESS_TOKENS_FILE = 'access-tokens.json'

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** @returns undefined if the file cannot be read: then no token is accepted, and the file stays unchanged */
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
    // Saved once per hour: after a crash, the time of the last use is only exact to the hour.
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
