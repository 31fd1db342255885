// In charge of what is known of the agent of a request.
import type { TokenLimits } from '../features/tokens/issued-tokens.js'

/** The agent that sent the request, or on whose behalf it was sent. */
export interface Agent {
  /** Undefined for an anonymous client. */
  readonly webId?: string
  /** Statements of the issuer of its token or session about it: a decision takes these for members too (design 4). */
  readonly memberships?: readonly string[]
  /** Of an agent that is proved by an access token: what that leaves of its rights. */
  readonly token?: TokenLimits
}
