// Log-in and log-out (spec 4.3): `oauth2/login` lists the providers, begins a log-in, and ends a session. A provider
// sends the browser back to `oauth2/authorize/<provider>`. Called without a provider's answer, that URL begins a
// log-in.
import { ofSession } from '../../../policies/identity/memberships.js'
import { open, seal } from '../../../policies/identity/seal.js'
import type { Dataspace } from '../../gateway.js'
import { graphOf, iri, text, triple } from '../../rdf/graph.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import { run, type Awaitable } from '../../maybe-async.js'
import type { Field, Response } from '../../http/exchange.js'
import type { Context } from '../../request/context.js'
import { logIn } from './create-account.js'
import { logOwnerIn, showOwnerLogIn } from './owner-log-in.js'
import type { Begun, LoginFailure } from '../../identity/provider-client.js'
import { clearCookie, cookieOf, setCookie } from '../../identity/cookies.js'
import { agentOf, sessionOf } from '../../identity/identities.js'
import type { Provider } from '../../configuration/identity-providers.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphAnswer } from '../../request/graph-answer.js'
import { prefersPage } from '../../request/page-answer.js'
import { accountAnswer } from '../../request/account.js'
import { linkField, response } from '../../request/respond.js'
import { DCT, LACL, LDS, RDF, RDFS } from '../../rdf/vocabulary.js'

/** The state of a log-in, sealed in a cookie while the browser visits the provider. */
interface PendingLogIn extends Begun {
  readonly provider: string
  readonly redirectUri: string
  readonly returnTo: string
}

const LOGIN_MS = 600_000

export function login({ context, target }: AskedRoute<EndpointTarget>): Awaitable<Response | Problem> {
  const link = target.query.get('link')
  if (context.request.method === 'POST')
    return link === null ? logOut(context, target) : logOwnerIn(context, target, link)
  if (link !== null && prefersPage(context.accept)) return showOwnerLogIn(context, target, link)
  const name = target.query.get('provider')
  if (name === null && prefersPage(context.accept)) return accountAnswer(context, returnAddress(target))
  return name === null ? listProviders(context, target) : begin(context, target, name)
}

export function authorize({ context, target }: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const name = target.iri.slice(`${target.application.base}oauth2/authorize/`.length)
  const hasAnswer = ['code', 'state', 'error'].some((parameter) => target.query.has(parameter))
  return hasAnswer ? finish(context, target, name) : begin(context, target, name)
}

const NO_STORE: Field = ['Cache-Control', 'no-store']

/** The URL of the request may contain a code, which must not reach another site in a Referer. */
const seeOther = (location: string, ...fields: Field[]): Response =>
  response(303, [['Location', location], NO_STORE, ['Referrer-Policy', 'no-referrer'], ...fields])

function listProviders(context: Context, { iri: endpoint, application }: EndpointTarget): Response | Problem {
  const { gateway, agent } = context
  const graph = graphOf(
    gateway.identities.providers.flatMap(({ name, issuer }) => {
      const start = `${endpoint}?provider=${name}`
      return [
        triple(endpoint, RDFS('seeAlso'), iri(start)),
        triple(start, RDF('type'), iri(LDS('IdentityProvider'))),
        triple(start, DCT('identifier'), text(name)),
        triple(start, LACL('issuer'), iri(issuer)),
      ]
    }),
  )
  return graphAnswer(context, graph, [linkField(application, agent.webId, undefined)])
}

const providerOf = ({ gateway }: Context, name: string): Provider | Problem =>
  gateway.identities.providers.find((one) => one.name === name) ??
  problem('target.unknown-endpoint', 'No identity provider has this name.')

async function begin(context: Context, target: EndpointTarget, name: string): Promise<Response | Problem> {
  const provider = providerOf(context, name)
  if (isFailure(provider)) return provider
  const returnTo = returnAddress(target)
  if (isFailure(returnTo)) return returnTo
  const { gateway } = context
  const redirectUri = `${target.application.base}oauth2/authorize/${name}`
  const begun = await gateway.identities.client.begin(provider, redirectUri)
  if (isFailure(begun)) return failed(context, begun)
  const { location, ...secrets } = begun
  const pending: PendingLogIn = { ...secrets, provider: name, redirectUri, returnTo }
  const time = { now: gateway.now(), lifetime: LOGIN_MS }
  const sealed = await seal(gateway.identities.keys, 'login', { ...pending }, time)
  return seeOther(location, setCookie('login', target, sealed, LOGIN_MS / 1000))
}

/** In characters, encoded: the cookie of a log-in has to hold it (policies/identity/seal.ts). */
const MAX_RETURN = 2000

/**
 * The page after the log-in: `?return=`, or LinkedDataHub's `?referer=`. It must be a URL of this dataspace; the base
 * replaces one that is too long.
 */
function returnAddress({ application: { base }, dataspace, query }: EndpointTarget): string | Problem {
  const asked = query.get('return') ?? query.get('referer')
  if (asked === null) return dataspace.endUser.base
  const url = URL.canParse(asked, base) ? new URL(asked, base) : undefined
  // The origin of a blob: URL is the origin of the page that created it.
  const isHttp = url !== undefined && /^https?:$/.test(url.protocol)
  if (!isHttp || !dataspace.origins.includes(url.origin) || url.username || url.password)
    return problem('request.malformed', 'The address to return to is not one of this dataspace.')
  return url.href.length <= MAX_RETURN ? url.href : dataspace.endUser.base
}

/** The client gets the same text for every cause; the log names the cause. */
const refused = ({ trace }: Context, cause: string): Problem => {
  trace.cause = cause
  return problem('credential.invalid', 'The log-in failed. Begin again. The log of the gateway says why.')
}

function failed(context: Context, { failure, detail }: LoginFailure): Problem {
  if (failure === 'refused') return refused(context, detail)
  context.trace.cause = detail
  return problem('access.unavailable', 'The identity provider does not answer. Retry shortly.', {
    fields: [['Retry-After', '10']],
  })
}

/** The browser returns from the provider. Its pending log-in can be used only once, whatever the outcome. */
async function finish(context: Context, target: EndpointTarget, name: string): Promise<Response | Problem> {
  const provider = providerOf(context, name)
  if (isFailure(provider)) return provider
  const outcome = await finished(context, target, provider)
  const used = clearCookie('login', target)
  if (isFailure(outcome)) return { ...outcome, fields: [...outcome.fields, used] }
  const { cookie, lifetime, returnTo } = outcome
  // Each log-in creates a new session, and never continues an earlier session of the browser.
  return seeOther(returnTo, used, setCookie('session', target, cookie, Math.floor(lifetime / 1000)))
}

interface Finished {
  readonly cookie: string
  /** ms */
  readonly lifetime: number
  readonly returnTo: string
}

async function finished(context: Context, target: EndpointTarget, provider: Provider): Promise<Finished | Problem> {
  const { gateway, request, trace } = context
  const { identities } = gateway
  const { application } = target
  const redirectUri = `${application.base}oauth2/authorize/${provider.name}`
  const sealed = cookieOf(request.fields.cookie, 'login', target)
  const time = { now: gateway.now(), lifetime: LOGIN_MS }
  const opened = sealed === undefined ? undefined : await open(identities.keys, 'login', sealed, time)
  const pending = opened as unknown as PendingLogIn | undefined
  // RFC 9700 §4.7: only the browser that began a log-in may finish it, with the same parameters.
  if (!pending) return refused(context, 'login: this browser has begun no log-in, or began it too long ago')
  if (pending.redirectUri !== redirectUri)
    return refused(context, 'login: it was begun for another provider or application')
  if (target.query.get('state') !== pending.state) return refused(context, 'login: the state differs')
  const callback = new URL(`${redirectUri}?${target.query.toString()}`)
  const person = await identities.client.finish(provider, callback, pending)
  if (isFailure(person)) return failed(context, person)

  const { dataspace } = target
  const { issuer } = provider
  const { subject, webId: claimed } = person
  const webId = await confirmedWebId(context, dataspace, {
    issuer,
    subject,
    ...(claimed !== undefined && { webId: claimed }),
  })
  if (isFailure(webId)) return webId
  const agent =
    webId ??
    (await logIn(gateway, dataspace, issuer, person, {
      accounts: identities.accounts,
      trace,
      network: request.network(),
    }))
  if (isFailure(agent)) return agent
  trace.agent = agent
  const memberships = ofSession(person.memberships)
  const lost = person.memberships.length - memberships.length
  if (lost > 0)
    trace.cause = `login: ${lost} of ${person.memberships.length} groups are ignored: they do not fit into a session`
  const { cookie, lifetime } = await identities.sessions.begin({
    issuer,
    subject,
    memberships,
    dataspace: dataspace.admin.base,
    ...(webId !== undefined && { webId }),
  })
  return { cookie, lifetime, returnTo: pending.returnTo }
}

/** The WebID that the provider claims, if its profile confirms the provider: then no account is needed. */
async function confirmedWebId(
  { gateway: { identities }, trace, request }: Context,
  dataspace: Dataspace,
  claims: { readonly issuer: string; readonly subject: string; readonly webId?: string },
): Promise<string | undefined | Problem> {
  if (claims.webId === undefined) return undefined
  const agent = await run(agentOf(identities, dataspace, claims, { trace, network: () => request.network() }))
  return agent === claims.webId || isFailure(agent) ? agent : undefined
}

/**
 * Answers `POST oauth2/login?logout` from a page of this dataspace (policies/cross-site.ts): ends the session in all
 * browsers.
 */
async function logOut({ gateway, request }: Context, target: EndpointTarget): Promise<Response | Problem> {
  const { query } = target
  if (!query.has('logout')) return problem('request.malformed', 'A POST to this endpoint logs out. Add ?logout.')
  const returnTo = query.has('return') ? returnAddress(target) : undefined
  if (isFailure(returnTo)) return returnTo
  const cookie = cookieOf(request.fields.cookie, 'session', target)
  const session = cookie === undefined ? 'ended' : await run(sessionOf(gateway.identities, cookie, target.dataspace))
  if (session !== 'ended') gateway.identities.sessions.end(session)
  const cleared = clearCookie('session', target)
  return returnTo === undefined ? response(204, [NO_STORE, cleared]) : seeOther(returnTo, cleared)
}
