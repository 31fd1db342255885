// The waiting requests for access, on the page about the client, for agents with Control.
import type { Child } from 'hono/jsx'
import { callOf, type Context } from '../../request/context.js'
import { adminOf, controlRefused } from '../../request/explain.js'
import { WaitingList } from './waiting-list.js'
import { waitingRequests } from './waiting-requests.js'

export async function waitingFor(context: Context): Promise<Child> {
  const { agent, dataspace, application } = context
  if (agent.webId === undefined || controlRefused(context, adminOf(context))) return null
  const requests = await waitingRequests(dataspace, undefined, callOf(context))
  const { base } = application
  return <WaitingList requests={requests} base={base} admin={dataspace.admin.base} own={base} />
}
