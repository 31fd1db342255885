// Access to the store's own pages: checks the URL, the agent and its right before anything is sent to the store.
import { isCrossSite } from '../../../policies/cross-site.js'
import type { Gateway, Member } from '../../gateway.js'
import { tooLarge } from '../../http/body.js'
import type { Request } from '../../http/exchange.js'
import { normalisedPath } from '../../http/normal-path.js'
import type { Trace } from '../../log.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { decideOn, lookUp } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { identify } from '../../request/identify.js'
import { refusalOf } from '../../request/refusal.js'
import { BEYOND_TOKEN, isLimited } from '../../request/token-limits.js'

export interface StoreDoor {
  readonly gateway: Gateway
  /** The dataspace whose agents with Control have access. */
  readonly member: Member
  /** The base URL of the pages; ends with a slash. */
  readonly root: URL
  readonly maxBytes: number
}

/** A request, and what the log needs to know about it. */
export interface Passing {
  readonly request: Request
  readonly trace: Trace
}

export const READS = ['GET', 'HEAD', 'OPTIONS']

/** Undefined if the request may pass. Everything is checked before anything is sent. */
export async function refusalTo(door: StoreDoor, passing: Passing): Promise<undefined | Problem> {
  const { method, fields } = passing.request
  const refused = urlFlaw(door, passing.request) ?? (await accessTo(door, passing))
  if (refused || READS.includes(method)) return refused
  return Number(fields['content-length'] ?? 0) > door.maxBytes ? tooLarge(door.maxBytes) : undefined
}

/** Another server's name that resolves to this machine is not a host of the gateway (DNS rebinding). */
function urlFlaw({ gateway, root }: StoreDoor, { hosts, fields, requestTarget }: Request): Problem | undefined {
  const host = /^(.*?)(?::\d{1,5})?$/.exec(fields.host ?? '')![1]!.toLowerCase()
  const isKnown = gateway.dataspaces.some(({ endUser, admin }) =>
    [endUser.base, admin.base].some((base) => new URL(base).hostname === host),
  )
  if (hosts !== 1 || !isKnown) return problem('target.unknown-origin', 'Use the host name of the gateway.')
  const [rawPath, ...query] = requestTarget.split('?')
  const path = normalisedPath(rawPath!)
  if (isFailure(path)) return path
  if (!/^[\x21\x22\x24-\x7e]*$/.test(query.join('?'))) return problem('target.malformed', 'The query contains a character that is not allowed in a URI.') // prettier-ignore
  if (!path.startsWith(root.pathname))
    return problem('target.unknown-endpoint', `The pages are below ${root.pathname} only.`)
  const isSame = new URL(path, root).pathname === path
  return isSame ? undefined : problem('target.malformed', 'Malformed URI: its path is ambiguous.')
}

/** Undefined for an agent with Control. */
async function accessTo({ gateway, member }: StoreDoor, { request, trace }: Passing): Promise<undefined | Problem> {
  const { application, dataspace } = member
  const isRead = READS.includes(request.method)
  const { fields } = request
  const isToken = /^(?:bearer|dpop) /i.test(fields.authorization ?? '')
  // A link on another page may lead here, since that page cannot read the answer. A link with a query is refused: with
  // SERVICE, the store would send data to another server.
  const isLink = isRead && fields['sec-fetch-mode'] === 'navigate' && !request.requestTarget.includes('?')
  if (!isToken && !isLink && isCrossSite(fields, [`https://${fields.host}`, `http://${fields.host}`]))
    return problem('access.cross-site', 'A page of another site may not use the pages of the store.')
  const target = { application, dataspace, kind: 'document', document: application.base } as const
  trace.dataspace = dataspace.endUser.base
  // Sessions are those of the documents.
  const { endUser } = dataspace
  const there = { application: endUser, dataspace, kind: 'document', document: endUser.base } as const
  const agent = await identify(request, there, { gateway, trace, writes: !isRead })
  if (isFailure(agent)) return agent
  // Design 4: the pages show the datasets of both applications, and no limit covers both.
  if (agent.token && isLimited(agent.token)) return BEYOND_TOKEN
  const context: Context = { gateway, request, application, dataspace, agent, accept: fields.accept, trace }
  const facts = await lookUp(context, target, 'Control')
  const decision = isFailure(facts) ? facts : decideOn(context, facts, 'Control')
  if (isFailure(decision)) return decision
  trace.decision = decision
  return decision.allowed ? undefined : refusalOf(decision, context, application.base)
}
