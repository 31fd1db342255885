// What is known about a request: the value that every step of the pipeline receives.
import type { Gateway, Member } from '../gateway.js'
import type { Agent } from '../identity/agent.js'
import type { Request } from '../http/exchange.js'
import type { Trace } from '../log.js'
import { askerOf } from '../evaluation/job-queue.js'
import type { LoadContext } from '../rdf/read-json-ld.js'
import type { Call } from '../stores/store.js'

export { askerOf }
export type { Agent } from '../identity/agent.js'

export type { KnownAgent } from '../gateway.js'

/** A request on its way, with everything found out about it so far. */
export interface Context extends Member {
  readonly gateway: Gateway
  readonly request: Request
  readonly agent: Agent
  /** The media types that the client accepts: `?accept=`, otherwise the Accept field. */
  readonly accept: string | undefined
  readonly trace: Trace
}

/** The call of a store for this request: it takes its turn among the clients, and ends when its client leaves. */
export const callOf = (context: Pick<Context, 'agent' | 'request'>): Call => ({
  asker: askerOf(context),
  signal: context.request.signal(),
})

/** Loads remote JSON-LD contexts for the agent. Anonymous clients get none (design 7). */
export const contextsFor = ({ agent, gateway }: Pick<Context, 'agent' | 'gateway'>): LoadContext | undefined =>
  agent.webId === undefined ? undefined : gateway.loadContext
