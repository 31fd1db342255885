// The management listener, on loopback for programs of this machine: health, readiness, metrics, purging caches, and
// the mirror. The monitoring listener offers health and metrics to clients with a token.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from '../../http/exchange.js'
import type { AddRoutes } from '../../http/listener.js'
import type { Settings } from '../../configuration/settings.js'
import type { Dataspace, Gateway } from '../../gateway.js'
import { forget } from '../../methods/changed-graphs.js'
import { makeMetrics } from './metrics.js'
import { MANAGEMENT_PATH, WRITE_FIELD } from '../../request/managed.js'
import { makeMirrorEndpoints } from './mirror-endpoints.js'
import { fileOf, operatorsAnswer } from './operators-answer.js'
import { confined } from '../../request/respond.js'
import { LOGIN_LINKS } from '../../identity/login-links.js'
import { isFailure } from '../../problem.js'
import { checksOf } from './checks.js'

const json = (status: number, value: unknown, fields: Response['fields'] = []): Response =>
  answerOf(status, 'application/json', `${JSON.stringify(value, null, 2)}\n`, fields)

function answerOf(status: number, type: string, text: string, fields: Response['fields'] = []): Response {
  const body = Buffer.from(text)
  return {
    status,
    fields: [['Content-Type', type], ['Content-Length', String(body.length)], ['Cache-Control', 'no-store'], ...fields],
    body,
  }
}

const REFUSAL_STATUS = { 'application.absent': 404, 'mirror.refused': 409 } as const

/** The routes of the listeners. */
export interface Management {
  /** On loopback, for programs on this machine. @param key of programs that may read the data folder */
  readonly management: (key: string) => AddRoutes
  /** Health and metrics, for clients with the token. */
  readonly monitoring: AddRoutes
}

export function makeManagement(
  dataspaces: readonly Dataspace[],
  gateway: Gateway,
  settings: Pick<Settings, 'data' | 'historyDelay' | 'monitoringToken'>,
): Management {
  const limits = { ...settings, now: gateway.now }
  const metrics = makeMetrics(dataspaces, gateway)
  const ready = async (): Promise<Response> => {
    const checks = await checksOf(dataspaces, limits)
    const isReady = checks.every(({ problem }) => problem === undefined)
    return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks })
  }
  const endpoints = makeMirrorEndpoints(dataspaces, gateway, (dataspace) => forget(dataspace, undefined, gateway))
  const mirror = (name: 'verify' | 'sweep', query: URLSearchParams, request: Request): Response => {
    const answer = endpoints[name](query, request.signal())
    return isFailure(answer) ? json(REFUSAL_STATUS[answer.failure], { error: answer.detail }) : answer
  }
  const page = async (query: URLSearchParams, { fields }: Request): Promise<Response> => {
    const checks = await checksOf(dataspaces, limits)
    return operatorsAnswer({ dataspaces, gateway, checks, query, fields })
  }
  const open: Paths = {
    '/health/live': ['GET, HEAD', () => Promise.resolve(json(200, { status: 'live' }))],
    '/health/ready': ['GET, HEAD', ready],
    '/metrics': ['GET, HEAD', async () => answerOf(200, metrics.contentType, await metrics.text())],
  }
  const managed = MANAGEMENT_PATH.in(gateway)
  const paths = (key: string): Paths => ({
    '/': ['GET, HEAD', page],
    ...open,
    '/login-link': ['POST', async (query, request) => loginLink(query, request, { dataspaces, gateway, key })],
    '/purge': ['POST', (query, request) => purged(query, request, (asked) => purge(asked, dataspaces, gateway))],
    '/mirror/verify': ['POST', async (query, request) => mirror('verify', query, request)],
    '/mirror/sweep': ['POST', async (query, request) => mirror('sweep', query, request)],
    ...(managed && {
      [managed.path]: [
        'POST',
        async (_, request) => (hasToken(request, key) ? managed.answer(request, gateway) : NO_KEY),
      ],
    }),
    '/static/*': ['GET, HEAD', async (_, request) => fileOf(pathOf(request), gateway) ?? NO_FILE],
  })
  const withoutToken = (request: Request): Response | undefined =>
    hasToken(request, settings.monitoringToken) ? undefined : NO_TOKEN
  return {
    management: (key) => routesOf(paths(key), refusalOf, gateway),
    monitoring: routesOf(open, withoutToken, gateway),
  }
}

type Answer = (query: URLSearchParams, request: Request) => Promise<Response>
type Paths = Readonly<Record<string, readonly [methods: string, answer: Answer]>>

const pathOf = ({ requestTarget }: Request): string => requestTarget.split('?', 1)[0]!
const NO_FILE = json(404, { error: 'This file does not exist.' })

/** @param refusal checks each request first, and returns the refusal if there is one */
const routesOf = (
  paths: Paths,
  refusal: (request: Request) => Response | undefined,
  { log }: Pick<Gateway, 'log'>,
): AddRoutes => ({
  add(app, { requestOf, waitFor, ...door }) {
    const answer: typeof door.answer = (asked, reply, given) => door.answer(asked, reply, confined(given))
    app.addHook('onRequest', async (asked, reply) => {
      const refused = refusal(requestOf(asked))
      if (refused) answer(asked, reply, refused)
    })
    // Content is read only where needed.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_asked, _content, done) => done(null))
    for (const [url, [methods, made]] of Object.entries(paths))
      app.route({
        url,
        method: methods.split(', '),
        async handler(asked, reply) {
          const request = requestOf(asked)
          const isOpen = methods !== 'POST' || request.fields[WRITE_FIELD] !== undefined
          const isAllowed = isOpen || (url === '/purge' && isOwnForm(request))
          const query = new URLSearchParams(request.requestTarget.split('?', 2)[1])
          answer(asked, reply, isAllowed ? await waitFor(made(query, request)) : NO_WRITE_FIELD)
        },
      })
    app.setNotFoundHandler((asked, reply) => answer(asked, reply, nothingFor(requestOf(asked), paths)))
    app.setErrorHandler((error, asked, reply) => {
      log.error({ err: error }, 'a request of an operator failed')
      answer(asked, reply, json(500, { error: 'The request failed. See the log.' }))
    })
  },
})

function nothingFor(request: Request, paths: Paths): Response {
  const path = pathOf(request)
  const methods = Object.hasOwn(paths, path) ? paths[path]![0] : undefined
  if (methods === undefined)
    return json(404, { error: `There is nothing at this path. Use one of ${Object.keys(paths).join(', ')}.` })
  const error = `The method is not allowed here. Use ${methods.replace(', ', ' or ')}.`
  return json(405, { error }, [['Allow', methods]])
}

/** RFC 6750 §2.1. Compares hashes, so that the time reveals nothing about the token. */
function hasToken({ fields: { authorization = '' } }: Request, token: string | undefined): boolean {
  const [, sent] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  const [one, other] = [sent ?? '', token ?? ''].map((text) => createHash('sha256').update(text).digest())
  return sent !== undefined && token !== undefined && timingSafeEqual(one!, other!)
}

/** A new link, in plain text, for the owner of `?dataspace=BASE`. Every account of the machine reaches this port. */
function loginLink(
  query: URLSearchParams,
  request: Request,
  { dataspaces, gateway, key }: Pick<Gateway, 'dataspaces'> & { readonly gateway: Gateway; readonly key: string },
): Response {
  if (!hasToken(request, key)) return NO_KEY
  const base = query.get('dataspace')
  const [dataspace, ...others] = dataspaces.filter(({ endUser }) => base === null || endUser.base === base)
  if (!dataspace || others.length > 0)
    return json(404, {
      error: `Give the base of a dataspace: ${dataspaces.map(({ endUser }) => endUser.base).join(', ')}`,
    })
  const link = LOGIN_LINKS.in(gateway)?.make(dataspace)
  return link === undefined
    ? json(409, { error: `A browser logs in by a link over https only: ${dataspace.endUser.base} has no TLS.` })
    : answerOf(200, 'text/plain', `${link}\n`)
}
const NO_KEY = json(401, { error: 'Send the key in the file operators-key of the data folder.' }, [
  ['WWW-Authenticate', 'Bearer realm="operators"'],
])

const NO_TOKEN = json(401, { error: 'Send the token of --monitoring-token: Authorization: Bearer TOKEN.' }, [
  ['WWW-Authenticate', 'Bearer realm="monitoring"'],
])

const NO_WRITE_FIELD = json(403, {
  error: 'A request that changes something needs the field Triplegate-Management: 1.',
})

// Another server's name that resolves to this machine does not match (DNS rebinding). Any port is allowed, since
// tunnels have their own.
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/** Browsers can reach loopback too, so pages of other origins and other host names are refused. */
function refusalOf({ hosts, fields }: Request): Response | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = fields
  if (hosts !== 1 || !LOCAL_HOST.test(host)) {
    return json(421, { error: 'The Host is not this machine. Use localhost, 127.0.0.1 or [::1].' })
  }
  const isForeign = origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`
  if (!isForeign && (site === undefined || site === 'same-origin' || site === 'none')) return undefined
  return json(403, { error: 'A page of another site may not use the management port.' })
}

/**
 * Recognises a form of this listener's own page by two fields that no page of another origin can set (Fetch Metadata,
 * Fetch §3.2).
 */
const isOwnForm = ({ fields: { host = '', origin, 'sec-fetch-site': site } }: Request): boolean =>
  site === 'same-origin' && origin?.toLowerCase() === `http://${host.toLowerCase()}`

/** Answers the form of the operators' page: the browser returns to the page. */
async function purged(
  query: URLSearchParams,
  request: Request,
  purge: (query: URLSearchParams) => Promise<Response>,
): Promise<Response> {
  if (request.fields[WRITE_FIELD] !== undefined || !isOwnForm(request)) return purge(query)
  const body = await request.readBody(LONGEST_FORM)
  if (isFailure(body)) return json(413, { error: body.detail })
  const graph = new URLSearchParams(body.toString()).get('graph')?.trim() ?? ''
  const done = await purge(new URLSearchParams(graph === '' ? {} : { graph }))
  return done.status === 200 ? answerOf(303, 'text/plain', '', [['Location', '/?purged']]) : done
}
const LONGEST_FORM = 16 * 1024

/**
 * Clears the caches of everything, of `?dataspace=BASE`, or of `?graph=IRI`. Any store may have a graph that is below
 * no base.
 */
async function purge(query: URLSearchParams, dataspaces: readonly Dataspace[], gateway: Gateway): Promise<Response> {
  const [base, graph] = [query.get('dataspace'), query.get('graph')]
  const ofGraph = dataspaces.filter(({ endUser, admin }) =>
    [endUser, admin].some((application) => graph?.startsWith(application.base)),
  )
  const isOfBase = ({ endUser, admin }: Dataspace): boolean =>
    base === null || [endUser.base, admin.base].includes(base)
  const wanted = ofGraph.length > 0 ? ofGraph : dataspaces.filter((one) => graph !== null || isOfBase(one))
  if (wanted.length === 0) return json(404, { error: 'No dataspace of this gateway has the base of ?dataspace=.' })
  if (graph === null) for (const cache of Object.values(gateway.caches)) cache.clear()
  const failed: string[] = []
  for (const dataspace of wanted) {
    const problem = await forget(dataspace, graph ?? undefined, gateway)
    if (problem) failed.push(`${dataspace.admin.base}: ${problem}`)
  }
  return failed.length > 0
    ? json(503, { error: 'The authorizations could not be read again.', failed })
    : json(200, { purged: graph ?? wanted.map(({ endUser }) => endUser.base) })
}
