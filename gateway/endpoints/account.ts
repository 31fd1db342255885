// In charge of the pages about the client: who it is, how to log in, and the form of a sign-up.
import type { Field, Response } from '../http/exchange.js'
import { cookieOf } from '../identity/cookies.js'
import { accountPage, donePage, signUpPage, type AccountView } from '../pages/account-page.js'
import { TEXTS } from '../pages/texts.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Context } from '../request/context.js'
import { frameOf, pageAnswer, prefersPage } from '../request/frame.js'

export function accountAnswer(context: Context, returnTo: string | undefined | Problem): Response | Problem {
  if (isFailure(returnTo)) return returnTo
  const { gateway, agent, dataspace } = context
  const canSignUp = gateway.signUps.who !== 'off'
  const page = accountPage({
    frame: frameOf(context),
    agent: agent.webId,
    by: identifiedBy(context),
    signUp: canSignUp ? `${dataspace.admin.base}sign%20up` : undefined,
    providers: gateway.identities.providers,
    returnTo,
  })
  return pageAnswer(200, page, [['Cache-Control', 'no-store']])
}

function identifiedBy({ request, agent, application }: Context): AccountView['by'] {
  if (agent.webId === undefined) return undefined
  if (request.certificate !== undefined) return 'certificate'
  return cookieOf(request.fields.cookie, 'session', application.base) === undefined ? 'token' : 'session'
}

/** The form for people; programs send POST. */
export function signUpForm(context: Context, endpoint: string): Response | Problem {
  const { signUps, mail } = context.gateway
  if (!prefersPage(context.accept)) {
    return problem('negotiation.not-acceptable', 'There is only a page with a form here. Programs send POST.')
  }
  if (signUps.who === 'off') return problem('access.denied', 'Nobody can sign up here. Ask the owner for access.')
  const isDownload = signUps.who === 'everyone' && !mail
  const action = isDownload ? `${endpoint}?download` : endpoint
  return pageAnswer(200, signUpPage({ frame: frameOf(context), action, isDownload }))
}

export const signedUp = (context: Context, fields: readonly Field[]): Response => {
  const { base } = context.dataspace.endUser
  return pageAnswer(201, donePage(frameOf(context), TEXTS.signUp, TEXTS.signedUp, [TEXTS.backHome, base]), fields)
}
