// Logging in as the owner by a link that works once: a page with one button, whose POST begins the session.
import type { Response } from '../../http/exchange.js'
import { setCookie } from '../../identity/cookies.js'
import { LOGIN_LINK_ISSUER, LOGIN_LINKS } from '../../identity/login-links.js'
import { problem, type Problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'
import { response } from '../../request/respond.js'
import type { EndpointTarget } from '../../request/route.js'
import { ownerLogInPage } from './owner-log-in-page.js'

/**
 * The page needs this too, since its address contains the secret. With `no-referrer`, its form would have no Origin
 * (Fetch §3.1).
 */
const SECRET = [
  ['Cache-Control', 'no-store'],
  ['Referrer-Policy', 'strict-origin'],
] as const

const used = (): Problem =>
  problem(
    'credential.invalid',
    'This link has been used, or is older than ten minutes. Get another one with: triplegate login-link',
  )

export function showOwnerLogIn(context: Context, { dataspace }: EndpointTarget, secret: string): Response | Problem {
  if (LOGIN_LINKS.in(context.gateway)?.isValid(dataspace, secret) !== true) return used()
  const action = `${dataspace.endUser.base}oauth2/login?link=${encodeURIComponent(secret)}`
  return pageAnswer(200, ownerLogInPage({ frame: frameOf(context), action, owner: dataspace.owner }), SECRET)
}

/** Never continues an earlier session of the browser. */
export async function logOwnerIn(
  { gateway, trace }: Context,
  target: EndpointTarget,
  secret: string,
): Promise<Response | Problem> {
  const { dataspace } = target
  if (LOGIN_LINKS.in(gateway)?.use(dataspace, secret) !== true) return used()
  const { owner, admin, endUser } = dataspace
  trace.agent = owner
  const who = { issuer: LOGIN_LINK_ISSUER, subject: owner, dataspace: admin.base }
  const { cookie, lifetime } = await gateway.identities.sessions.begin(who)
  const session = setCookie('session', target, cookie, Math.floor(lifetime / 1000))
  return response(303, [['Location', endUser.base], ...SECRET, session])
}
