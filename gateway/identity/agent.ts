// The agent of a request, and its access token.
import type { Proved } from '../../policies/identity/memberships.js'
import type { Trace } from '../log.js'
import { part } from '../part.js'
import type { Problem } from '../problem.js'

/** The limits that an access token puts on the rights of its agent. */
export interface TokenLimits {
  /** The id of the token, if it has to be verified again. */
  readonly id?: string
  readonly readOnly: boolean
  /** Limits the token to this document and everything below it. */
  readonly only?: string | undefined
}

/** An agent proved by a token, with the issuer's statements about the account. */
export type ProvedAgent = Proved & Pick<Agent, 'token'>

/** Proves agents by access tokens, if the gateway has this feature. */
export interface AccessTokenCheck {
  /** Undefined if the Authorization field contains no access token; it may contain a token of an identity provider. */
  agentIn(field: string, asked: AskedForToken): ProvedAgent | Problem | undefined
  /** False if the token has ended. */
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
  /** Further subjects that the agent counts as, according to the issuer of its token or session (design 4). */
  readonly memberships?: readonly string[]
  /** The limits of the access token, if the agent was proved by one. */
  readonly token?: TokenLimits
  /** The client certificate that proved the agent, if nothing else did. */
  readonly certificate?: Uint8Array | undefined
  /** The agent that sent the request on behalf of this one. It gives no right (self-granted-modes.ts). */
  readonly delegate?: Agent
}
