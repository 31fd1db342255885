// What is known of the agent of a request.
import type { Proved } from '../../policies/identity/memberships.js'
import type { Trace } from '../log.js'
import { part } from '../part.js'
import type { Problem } from '../problem.js'

/** What an access token leaves of the rights of its agent. */
export interface TokenLimits {
  /** Of the token, where it is to be asked for again. */
  readonly id?: string
  readonly readOnly: boolean
  /** A document: with what is below it. */
  readonly only?: string | undefined
}

/** The agent that a token proves, with what its issuer says about the account. */
export type ProvedAgent = Proved & Pick<Agent, 'token'>

/** Proves agents by access tokens, where these are a feature of the gateway. */
export interface AccessTokenCheck {
  /** Undefined where the Authorization field has no access token, but perhaps one of an identity provider. */
  agentIn(field: string, asked: AskedForToken): ProvedAgent | Problem | undefined
  /** False where the token has ended. */
  isValid(admin: string, id: string): boolean
}
interface AskedForToken {
  readonly admin: string
  readonly network: () => string
  readonly trace: Trace
}
export const ACCESS_TOKEN_CHECK = part<AccessTokenCheck>('check of access tokens')

/** The agent that sent the request, or on whose behalf it was sent. */
export interface Agent {
  /** Undefined for an anonymous client. */
  readonly webId?: string
  /** Statements of the issuer of its token or session about it: a decision takes these for members too (design 4). */
  readonly memberships?: readonly string[]
  /** Of an agent that is proved by an access token: what that leaves of its rights. */
  readonly token?: TokenLimits
}
