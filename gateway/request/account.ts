// In charge of the pages about the client: who it is, how to log in, and the form of a sign-up.
import { isWhole } from '../documents/document.js'
import type { Field, Response } from '../http/exchange.js'
import { cookieOf } from '../identity/cookies.js'
import { describedIn } from '../pages/triples-by-subject.js'
import { titleOf } from '../pages/document-page.js'
import { judge, lookUp } from './access.js'
import { accountPage, donePage, type AccountView } from '../pages/account-page.js'
import { signUpPage, type SignUpView } from '../features/accounts/sign-up-page.js'
import { controlRefused } from './explain.js'
import { NONE_WAITING, waitingRequests } from '../features/access/waiting-requests.js'
import { isFailure, problem, STATUS_OF, type Problem } from '../problem.js'
import type { Quad } from '../rdf/graph.js'
import { messagesAbout } from '../features/forms/submitted-fields.js'
import type { Context } from './context.js'
import { frameOf, pageAnswer, prefersPage } from './page-answer.js'

export async function accountAnswer(
  context: Context,
  returnTo: string | undefined | Problem,
): Promise<Response | Problem> {
  if (isFailure(returnTo)) return returnTo
  const { gateway, agent, dataspace } = context
  const isOwner = agent.webId !== undefined && controlRefused(context) === undefined
  const waiting = isOwner ? await waitingRequests(dataspace, undefined) : NONE_WAITING
  const canSignUp = gateway.signUps.who !== 'off'
  const page = accountPage({
    frame: frameOf(context),
    agent: agent.webId,
    name: await nameOf(context),
    by: identifiedBy(context),
    signUp: canSignUp ? `${dataspace.admin.base}sign%20up` : undefined,
    providers: gateway.identities.providers,
    returnTo,
    waiting,
  })
  return pageAnswer(200, page, [['Cache-Control', 'no-store']])
}

/** By the profile, where that is a document of this dataspace that the agent may read: in another one its account proves nothing. */
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

function identifiedBy({ request, agent, application }: Context): AccountView['by'] {
  if (agent.webId === undefined) return undefined
  if (request.certificate !== undefined) return 'certificate'
  return cookieOf(request.fields.cookie, 'session', application.base) === undefined ? 'token' : 'session'
}

/** The form for people; programs send POST. */
export function signUpForm(context: Context, endpoint: string): Response | Problem {
  const { signUps } = context.gateway
  if (!prefersPage(context.accept)) {
    return problem('negotiation.not-acceptable', 'There is only a page with a form here. Programs send POST.')
  }
  if (signUps.who === 'off') return problem('access.denied', 'Nobody can sign up here. Ask the owner for access.')
  return pageAnswer(200, signUpPage(viewOf(context, endpoint)))
}

function viewOf(context: Context, endpoint: string): SignUpView {
  const { signUps, mail } = context.gateway
  const isDownload = signUps.who === 'everyone' && !mail
  return { frame: frameOf(context), action: isDownload ? `${endpoint}?download` : endpoint, isDownload }
}

/** The form again, with what was typed except the password: no page holds one. */
export function signUpRefused(
  context: Context,
  endpoint: string,
  { failure, detail, report, fields }: Problem,
  content: readonly Quad[],
): Response {
  const status = STATUS_OF[failure]
  const messages = messagesAbout(report)
  const typed = (property: string): string =>
    content.find(({ predicate }) => predicate.value === property)?.object.value ?? ''
  const page = signUpPage({ ...viewOf(context, endpoint), refusal: { status, detail }, typed, messages })
  return pageAnswer(status, page, [...fields, ['Cache-Control', 'no-store']])
}

export const signedUp = (context: Context, fields: readonly Field[]): Response => {
  const { base } = context.dataspace.endUser
  const frame = frameOf(context)
  const { signUp, signedUp, backHome } = frame.texts
  return pageAnswer(201, donePage({ frame, title: signUp, sentence: signedUp, next: [backHome, base] }), fields)
}
