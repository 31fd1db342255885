// What is known of one request on its way: the value that every step of the pipeline is given.
import type { Gateway, Member } from '../gateway.js'
import type { Agent } from '../identity/agent.js'
import type { Request } from '../http/exchange.js'
import type { Trace } from '../log.js'
import type { LoadContext } from '../rdf/read-json-ld.js'

export { askerOf } from '../evaluation/job-queue.js'
export type { Agent } from '../identity/agent.js'

export type { KnownAgent } from '../gateway.js'

/** One request on its way, with what has been found out about it. */
export interface Context extends Member {
  readonly gateway: Gateway
  readonly request: Request
  readonly agent: Agent
  /** The media types that the client accepts: `?accept=`, else the Accept field. */
  readonly accept: string | undefined
  readonly trace: Trace
}

/** The remote JSON-LD contexts that the gateway fetches for the agent: none for anonymous clients (design 7). */
export const contextsFor = ({ agent, gateway }: Pick<Context, 'agent' | 'gateway'>): LoadContext | undefined =>
  agent.webId === undefined ? undefined : gateway.loadContext
