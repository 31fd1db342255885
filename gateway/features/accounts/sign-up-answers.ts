// What people see of a sign-up: its form, the form again after a refusal, and that it is done.
import { ACCOUNT_TEXTS } from './texts.js'
import type { Field, Response } from '../../http/exchange.js'
import { donePage } from '../../pages/account-page.js'
import { problem, STATUS_OF, type Problem } from '../../problem.js'
import type { Quad } from '../../rdf/graph.js'
import type { Context } from '../../request/context.js'
import { frameOf, pageAnswer, prefersPage } from '../../request/page-answer.js'
import { messagesAbout } from '../../request/report-messages.js'
import { signUpPage, type SignUpView } from './sign-up-page.js'
import { SIGN_UPS } from './sign-ups.js'

/** The form for people; programs send POST. */
export function signUpForm(context: Context, endpoint: string): Response | Problem {
  const signUps = SIGN_UPS.of(context.gateway)
  if (!prefersPage(context.accept)) {
    return problem('negotiation.not-acceptable', 'There is only a page with a form here. Programs send POST.')
  }
  if (signUps.who === 'off') return problem('access.denied', 'Nobody can sign up here. Ask the owner for access.')
  return pageAnswer(200, signUpPage(viewOf(context, endpoint)))
}

function viewOf(context: Context, endpoint: string): SignUpView {
  const { mail } = context.gateway
  const signUps = SIGN_UPS.of(context.gateway)
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
  const { signUp, signedUp, backHome } = frame.texts.with(ACCOUNT_TEXTS)
  return pageAnswer(201, donePage({ frame, title: signUp, sentence: signedUp, next: [backHome, base] }), fields)
}
