// The request that stands behind an import in the background, and of whether its agent may still import.
import { ACCESS_TOKEN_CHECK, type TokenLimits } from '../../identity/agent.js'
import type { Gateway, Member } from '../../gateway.js'
import { makeTrace } from '../../log.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { decideOn } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { placeless } from './write-as.js'

export interface Behind {
  /** With the state of the import. */
  readonly document: string
  readonly agent: string | undefined
  /** Of an agent that an access token proved: what that leaves of its rights. */
  readonly token?: TokenLimits | undefined
  readonly network: string
}

/** Its token may expire or be revoked meanwhile, and its agent may lose the right to import. */
export async function whyEnded(context: Context): Promise<undefined | Problem> {
  const { gateway, application, dataspace, agent } = context
  // Without a cache, rules are read as for a request.
  await dataspace.access.refresh?.(agent)
  const { id } = agent.token ?? {}
  if (id !== undefined && !ACCESS_TOKEN_CHECK.in(gateway)?.isValid(dataspace.admin.base, id))
    return problem('access.denied', 'The access token of the import has expired, or was revoked.')
  const now = { ...context, request: { ...context.request, receivedAt: gateway.now() } }
  const decision = decideOn(now, { kind: 'endpoint', iri: `${application.base}importer` }, 'Append')
  // Without rules each write waits for them.
  if (isFailure(decision) || decision.allowed) return undefined
  return problem('access.denied', 'The agent has lost the right to import: Append on the endpoint.')
}

/** As a request of the agent. Claims of its token ended with the request that started the import. */
export const backgroundContext = (
  gateway: Gateway,
  member: Member,
  { agent, token, network, document }: Behind,
): Context => ({
  gateway,
  ...member,
  agent: agent === undefined ? {} : { webId: agent, ...(token && { token }) },
  accept: undefined,
  trace: makeTrace(),
  request: placeless(gateway, document, network),
})
