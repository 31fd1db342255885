// The page about the client: who they are, how to log in or sign up, and what awaits their decision.
import { ACCESS_TOKEN_CHECK } from '../identity/agent.js'
import { isWhole } from '../documents/document.js'
import type { Response } from '../http/exchange.js'
import { describedIn } from '../pages/triples-by-subject.js'
import { titleOf } from '../pages/document-page.js'
import { judge, lookUp } from './access.js'
import { accountPage } from '../pages/account-page.js'
import { part } from '../part.js'
import { isFailure, type Problem } from '../problem.js'
import type { Child } from 'hono/jsx'
import type { Dataspace } from '../gateway.js'
import type { Context } from './context.js'
import { frameOf, pageAnswer } from './page-answer.js'

/** Where people sign up, if they may. */
export const SIGN_UP_PAGE = part<(dataspace: Dataspace) => string | undefined>('page of sign-ups')

/** The list of requests that await the agent's decision, as a part of the page. */
export const WAITING_LIST = part<(context: Context) => Promise<Child>>('list of what waits')

export async function accountAnswer(
  context: Context,
  returnTo: string | undefined | Problem,
): Promise<Response | Problem> {
  if (isFailure(returnTo)) return returnTo
  const { gateway, agent, dataspace, trace } = context
  const page = accountPage({
    frame: frameOf(context),
    agent: agent.webId,
    name: await nameOf(context),
    by: agent.webId === undefined ? undefined : trace.identifiedBy,
    signUp: SIGN_UP_PAGE.in(gateway)?.(dataspace),
    providers: gateway.identities.providers,
    returnTo,
    hasTokens: ACCESS_TOKEN_CHECK.in(gateway) !== undefined,
    waiting: await WAITING_LIST.in(gateway)?.(context),
  })
  return pageAnswer(200, page, [['Cache-Control', 'no-store']])
}

/**
 * The name in the agent's profile, if the profile is a document of this dataspace that the agent may read. The account
 * proves nothing in other dataspaces.
 */
async function nameOf(context: Context): Promise<string | undefined> {
  const { agent, dataspace, gateway } = context
  if (agent.webId === undefined || !URL.canParse(agent.webId)) return undefined
  const { pathname, host } = new URL(agent.webId)
  const target = gateway.targetOf(pathname, host)
  if (isFailure(target) || target.kind !== 'document' || target.dataspace !== dataspace) return undefined
  const facts = await lookUp({ ...context, application: target.application }, target, 'Read')
  if (isFailure(facts) || facts.kind !== 'document' || !facts.document || !isWhole(facts.document)) return undefined
  const decision = judge(target, agent, facts, 'Read')
  if (isFailure(decision) || !decision.allowed) return undefined
  return titleOf(target.document, describedIn(target.document, facts.document.nTriples, 1).subjects)
}
