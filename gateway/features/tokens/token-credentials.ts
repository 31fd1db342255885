// Access tokens in an Authorization field: as a bearer token (RFC 6750 §2.1), or as the password of Basic (RFC 7617),
// which more clients support. Wrong tokens are refused, and a network that sends many of them is slowed down.
import { LRUCache } from 'lru-cache'
import type { AccessTokenCheck } from '../../identity/agent.js'
import type { Log } from '../../log.js'
import { problem, type Problem } from '../../problem.js'
import { PREFIX, type AccessTokens } from './issued-tokens.js'

interface Presented {
  readonly scheme: 'Bearer' | 'Basic'
  readonly text: string
}

/** Undefined if the field has no access token; it may have a token of an identity provider. */
export function accessTokenIn(field: string): Presented | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(field)?.[1]
  if (bearer?.startsWith(PREFIX)) return { scheme: 'Bearer', text: bearer }
  const pair = /^Basic +(\S*)$/i.exec(field)?.[1]
  if (pair === undefined) return undefined
  // RFC 7617 §2: the user has no colon. Any user is accepted: the token identifies the agent.
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(pair, 'base64').toString()) ?? []
  return { scheme: 'Basic', text: password }
}

/**
 * The most wrong tokens of one network in a period; for more, the answer is 429. Guessing 256 random bits is hopeless:
 * the limit protects the log.
 */
const WRONG = { most: 10, ms: 60_000 } as const
const NETWORKS = 10_000

export function makeTokenCheck(tokens: AccessTokens, log: Log): AccessTokenCheck {
  const wrong = new LRUCache<string, { count: number }>({ max: NETWORKS, ttl: WRONG.ms })
  const agentIn: AccessTokenCheck['agentIn'] = (field, { admin, network, trace }) => {
    const presented = accessTokenIn(field)
    if (!presented) return undefined
    const token = tokens.find(presented.text, admin)
    if (token) return { webId: token.agent, memberships: [], token }
    trace.cause = 'access token: unknown, expired or revoked'
    // Such a text cannot be a token, so it does not count as a guess.
    if (!presented.text.startsWith(PREFIX)) return refusalOf(presented)
    const from = network()
    const guesses = wrong.get(from) ?? { count: 0 }
    if (++guesses.count === 1) wrong.set(from, guesses)
    if (guesses.count <= WRONG.most) return refusalOf(presented)
    if (guesses.count === WRONG.most + 1)
      log.warn({ network: from, wrong: WRONG.most }, 'many wrong access tokens in a minute')
    return TOO_MANY
  }
  return { agentIn, isValid: (admin, id) => tokens.list(admin).some((token) => token.id === id) }
}

/** RFC 9110 §11.6.1: the challenge has the client's scheme, so that no browser asks for a password. */
const refusalOf = ({ scheme }: Presented): Problem =>
  problem('token.invalid', 'The access token is unknown, has expired or was revoked.', {
    fields: [
      [
        'WWW-Authenticate',
        scheme === 'Basic' ? 'Basic realm="Triplegate", charset="UTF-8"' : 'Bearer error="invalid_token"',
      ],
    ],
  })

const TOO_MANY = problem('token.guesses', 'Too many wrong access tokens came from this network. Retry in a minute.', {
  fields: [['Retry-After', String(WRONG.ms / 1000)]],
})
