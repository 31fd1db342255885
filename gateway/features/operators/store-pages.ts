// The store's own pages and administration at a port of their own (--store-pages): for agents with Control only, to be
// read only unless the operator says otherwise. A page of the store is of another origin there than the gateway's.
import { Readable } from 'node:stream'
import { isCrossSite } from '../../../policies/cross-site.js'
import type { Gateway, Member } from '../../gateway.js'
import { BodyBreak, tooLarge } from '../../http/body.js'
import type { Field, Request, Response } from '../../http/exchange.js'
import { normalisedPath } from '../../http/normal-path.js'
import { makeTrace, noteProblem, type Trace } from '../../log.js'
import { sweep } from '../../mirror/mirror.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { decideOn, lookUp } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { identify } from '../../request/identify.js'
import { observe } from '../../request/observe.js'
import { methodNotAllowed, refusalOf } from '../../request/refusal.js'
import { READ_METHODS, problemResponse } from '../../request/respond.js'
import { openExchange, type Exchange, type StoreResponse } from '../../stores/http-exchange.js'
import { fieldsOf } from '../../stores/http-endpoints.js'
import { LIMITS } from '../../stores/http-store.js'
import { piecesOf } from '../../stores/http-response.js'
import { LATEST_WRITE_MS } from '../../stores/store.js'
import type { Sent } from '../../stores/whole-response.js'
import { forget } from './management.js'

interface StorePages {
  readonly gateway: Gateway
  /** The dataspace whose agents with Control may come. */
  readonly member: Member
  readonly exchange: Exchange
  /** The URL below which the pages are; ends with a slash. */
  readonly root: URL
  /** The fields with the credentials of the store. */
  readonly identity: Readonly<Record<string, string>>
  /** True where requests that write are passed on. */
  readonly mayWrite: boolean
  readonly maxBytes: number
}

const WRITE_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const READS = ['GET', 'HEAD', 'OPTIONS']

function makeStorePages(pages: StorePages): (request: Request) => Promise<Response> {
  const { gateway } = pages
  const sweeps = makeSweeps(gateway)
  return async (request) => {
    const trace = makeTrace()
    const answered = await passed(pages, request, trace, sweeps)
    if (isFailure(answered)) noteProblem(trace, answered)
    const answer = isFailure(answered) ? problemResponse(answered, request.fields.accept) : answered
    observe(request, answer, gateway, trace)
    return answer
  }
}

/** Undefined where the store has no pages as Fuseki has: its Graph Store endpoint is `{dataset}/data` there. */
export function openStorePages(
  gateway: Gateway,
  { mayWrite, maxBytes }: Pick<StorePages, 'mayWrite' | 'maxBytes'>,
): { readonly answer: (request: Request) => Promise<Response>; close(): Promise<void> } | undefined {
  const dataspace = gateway.dataspaces[0]!
  const { graphStore, credentials } = dataspace.endUser.service
  const root = graphStore?.endsWith('/data') ? new URL('.', graphStore.slice(0, -'/data'.length)) : undefined
  if (!root) return undefined
  const exchange = openExchange({ ...LIMITS, connections: 8, queue: 64 })
  const member = { application: dataspace.admin, dataspace }
  const pages = { gateway, member, exchange, root, identity: fieldsOf(credentials), mayWrite, maxBytes }
  return { answer: makeStorePages(pages), close: exchange.close }
}

/** Everything is decided before anything is sent. */
async function passed(
  pages: StorePages,
  request: Request,
  trace: Trace,
  sweeps: () => void,
): Promise<Response | Problem> {
  const url = targetOf(pages, request)
  if (isFailure(url)) return url
  const allowed = pages.mayWrite ? WRITE_METHODS : READ_METHODS
  if (!allowed.split(', ').includes(request.method)) return methodNotAllowed(request.method, allowed)
  const refused = await refusalTo(pages, request, trace)
  if (refused) return refused
  const isRead = READS.includes(request.method)
  if (!isRead && Number(request.fields['content-length'] ?? 0) > pages.maxBytes) return tooLarge(pages.maxBytes)
  const response = await trace.store(exchanged(pages, request, url, isRead))
  if (!isRead) await written(pages.gateway, isFailure(response), sweeps)
  return isFailure(response) ? response : answerOf(response, pages.root)
}

/** The URL at the store, made of what was decided on. A name that another server resolves to this machine is none (DNS rebinding). */
function targetOf({ gateway, root }: StorePages, { hosts, fields, requestTarget }: Request): URL | Problem {
  const host = /^(.*?)(?::\d{1,5})?$/.exec(fields.host ?? '')![1]!.toLowerCase()
  const isKnown = gateway.dataspaces.some(({ endUser, admin }) =>
    [endUser.base, admin.base].some((base) => new URL(base).hostname === host),
  )
  if (hosts !== 1 || !isKnown) return problem('target.unknown-origin', 'These pages are at the host of the gateway.')
  const [rawPath, ...rest] = requestTarget.split('?')
  const path = normalisedPath(rawPath!)
  if (isFailure(path)) return path
  const query = rest.join('?')
  if (!/^[\x21\x22\x24-\x7e]*$/.test(query)) return problem('target.malformed', 'The query has a character that a URI may not hold.') // prettier-ignore
  if (!path.startsWith(root.pathname))
    return problem('target.unknown-endpoint', `The pages are below ${root.pathname}.`)
  const url = new URL(root)
  url.pathname = path
  url.search = query
  return url.pathname === path ? url : problem('target.malformed', 'Malformed URI: its path has two readings.')
}

/** Undefined for an agent with Control. */
async function refusalTo(
  { gateway, member }: StorePages,
  request: Request,
  trace: Trace,
): Promise<undefined | Problem> {
  const { application, dataspace } = member
  const isRead = READS.includes(request.method)
  const { fields } = request
  const isToken = /^(?:bearer|dpop) /i.test(fields.authorization ?? '')
  // A link may lead here; its answer cannot be read by the page that it is on. One with a query may not: with SERVICE the
  // store itself would send the answer on.
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
  const context: Context = { gateway, request, application, dataspace, agent, accept: fields.accept, trace }
  const facts = await lookUp(context, target, 'Control')
  const decision = isFailure(facts) ? facts : decideOn(context, facts, 'Control')
  if (isFailure(decision)) return decision
  trace.decision = decision
  return decision.allowed ? undefined : refusalOf(decision, context, application.base)
}

/** The fields of a request that the store gets: nothing that says who the client is. */
const SENT = [
  ...['accept', 'accept-encoding', 'accept-language', 'content-type', 'content-encoding'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'range'],
] as const

/** A write is not given up when its client leaves: the store may perform it all the same. */
async function exchanged(
  { exchange, identity, maxBytes }: StorePages,
  request: Request,
  url: URL,
  isRead: boolean,
): Promise<StoreResponse | Problem> {
  const given = SENT.flatMap((name) => {
    const value = request.fields[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const fields = { ...Object.fromEntries(given), ...identity }
  const sent = { method: request.method as Sent['method'], url, fields, safe: false }
  if (isRead) return exchange.send(sent, request.signal())
  let broken: Problem | undefined
  const body = Readable.from(request.streamBody(maxBytes))
  body.on('error', (error) => (broken = error instanceof BodyBreak ? error.problem : undefined))
  try {
    const response = await exchange.send({ ...sent, body })
    return isFailure(response) ? (broken ?? response) : response
  } catch (error) {
    if (broken) return broken
    throw error
  }
}

/** The fields of an answer that its client gets: no cookie, which would be one of the gateway's host, and no address of the store. */
const ANSWERED: ReadonlySet<string> = new Set([
  ...['allow', 'content-type', 'content-length', 'content-encoding', 'content-language', 'content-disposition'],
  ...['etag', 'last-modified', 'accept-ranges', 'content-range', 'retry-after', 'vary'],
])
const OWN: readonly Field[] = [
  ['Cache-Control', 'private, no-cache'],
  ['Content-Security-Policy', "frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
]

function answerOf(response: StoreResponse, root: URL): Response {
  const { statusCode: status, headers } = response
  const fields = Object.entries(headers).flatMap(([name, value]): Field[] =>
    ANSWERED.has(name) && value !== undefined ? [[name, String(value)]] : [],
  )
  const location = headers['location']
  const moved = typeof location === 'string' && URL.canParse(location, root.href) ? new URL(location, root) : undefined
  const isHere = moved?.origin === root.origin
  const there: Field[] = isHere ? [['Location', moved!.pathname + moved!.search]] : []
  const isEmpty = status === 204 || status === 304
  if (isEmpty) response.body.resume()
  return { status, fields: [...fields, ...there, ...OWN], ...(!isEmpty && { body: piecesOf(response) }) }
}

/** Requests that passed here went around the write path: nothing that was cached counts, and the mirror commits the differences. */
async function written(gateway: Gateway, isInDoubt: boolean, sweeps: () => void): Promise<void> {
  for (const dataspace of gateway.dataspaces) {
    if (isInDoubt)
      for (const { cache } of [dataspace.endUser, dataspace.admin])
        cache.versions.inDoubt(undefined, gateway.now() + LATEST_WRITE_MS)
    await forget(dataspace, undefined, gateway)
  }
  sweeps()
}

/** One sweep at a time; what is written meanwhile has one after it. */
function makeSweeps(gateway: Gateway): () => void {
  let state: 'idle' | 'running' | 'again' = 'idle'
  const run = async (): Promise<void> => {
    for (state = 'running'; ; state = 'running') {
      for (const { endUser, admin } of gateway.dataspaces)
        for (const { mirrored } of [endUser, admin]) {
          const outcome = mirrored && (await sweep(mirrored, { locks: gateway.locks, report: () => undefined }))
          if (isFailure(outcome)) gateway.log.warn({ problem: outcome.detail }, 'a write of the store pages is not committed yet') // prettier-ignore
        }
      if ((state as string) !== 'again') break
    }
    state = 'idle'
  }
  return () => {
    if (state !== 'idle') state = 'again'
    else void run().catch((error: unknown) => gateway.log.error({ err: error }, 'the sweep after a write broke off'))
  }
}
