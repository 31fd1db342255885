// The store's own pages and administration on a separate port (--store-pages): only for agents with Control, and
// read-only unless the operator allows writes. On that port they have another origin than the gateway's pages.
// @fastify/http-proxy carries requests and answers; its hooks decide.
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { membersOf, type Gateway } from '../../gateway.js'
import { BodyBreak } from '../../http/body.js'
import type { Door, AddRoutes } from '../../http/listener.js'
import { makeTrace, noteProblem } from '../../log.js'
import { sweep } from '../../mirror/mirror.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { observe } from '../../request/observe.js'
import { methodNotAllowed } from '../../request/refusal.js'
import { CONFINED, READ_METHODS, problemResponse } from '../../request/respond.js'
import { openExchange, type Exchange } from '../../stores/http-exchange.js'
import { endpointFieldsOf } from '../../stores/http-endpoints.js'
import { STORE_LIMITS } from '../../stores/http-store.js'
import { piecesOf } from '../../stores/http-response.js'
import { LATEST_WRITE_MS, StoreBreak } from '../../stores/store.js'
import type { Sent } from '../../stores/whole-response.js'
import { forget } from '../../methods/changed-graphs.js'
import { READS, refusalTo, type Passing, type StoreDoor } from './store-pages-access.js'

interface StorePages extends StoreDoor {
  readonly exchange: Exchange
  /** The fields with the store's credentials. */
  readonly identity: Readonly<Record<string, string>>
}

const WRITE_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/** Undefined if the store has no pages like Fuseki's, whose Graph Store endpoint is `{dataset}/data`. */
export function storePages(
  gateway: Gateway,
  { mayWrite, maxBytes }: { readonly mayWrite: boolean; readonly maxBytes: number },
): (AddRoutes & { close(): Promise<void> }) | undefined {
  const dataspace = gateway.dataspaces[0]!
  const { graphStore, credentials } = dataspace.endUser.service
  const root = graphStore?.endsWith('/data') ? new URL('.', graphStore.slice(0, -'/data'.length)) : undefined
  if (!root) return undefined
  const exchange = openExchange({ ...STORE_LIMITS, connections: 8, queue: 64 })
  const member = { application: dataspace.admin, dataspace }
  const pages = { gateway, member, exchange, root, identity: endpointFieldsOf(credentials), maxBytes }
  const allowed = mayWrite ? WRITE_METHODS : READ_METHODS
  return { add: (app, door) => addRoutes(pages, allowed, app, door), close: exchange.close }
}

/** A field with a symbol as its name, which the client of the store removes: the agent of the request. */
const FOR = Symbol('for')

async function addRoutes(pages: StorePages, allowed: string, app: FastifyInstance, door: Door): Promise<void> {
  const { gateway, root, identity, maxBytes } = pages
  const passing = new WeakMap<FastifyRequest, Passing>()
  const refuse = (asked: FastifyRequest, reply: FastifyReply, reason: Problem): void => {
    const { request, trace } = passing.get(asked)!
    noteProblem(trace, reason)
    const answer = problemResponse(reason, request.fields.accept)
    observe(request, answer, gateway, trace)
    door.answer(asked, reply, answer)
  }
  const broken = (asked: FastifyRequest, reply: FastifyReply, error: unknown): void =>
    refuse(asked, reply, problemOf(error, gateway))
  app.addHook('onRequest', async (asked) => {
    passing.set(asked, { request: door.requestOf(asked), trace: makeTrace() })
  })
  app.addHook('preParsing', async (asked) => Readable.from(door.requestOf(asked).streamBody(maxBytes)))
  app.setNotFoundHandler((asked, reply) => refuse(asked, reply, methodNotAllowed(asked.method, allowed)))
  app.setErrorHandler((error, asked, reply) => broken(asked, reply, error))
  const { fastifyHttpProxy } = await import('@fastify/http-proxy')
  await app.register(fastifyHttpProxy, {
    upstream: root.origin,
    httpMethods: allowed.split(', '),
    undici: { request: clientOf(pages, door) as never },
    preHandler: async (asked, reply) => {
      const refused = await refusalTo(pages, passing.get(asked)!)
      if (refused) refuse(asked, reply, refused)
    },
    replyOptions: {
      rewriteRequestHeaders: (asked, fields) => ({
        ...only(SENT, fields),
        ...identity,
        [FOR]: passing.get(asked as FastifyRequest)!,
      }),
      rewriteHeaders: (fields, asked) => answeredFields(fields, root, asked?.url ?? ''),
      retryDelay: () => null,
      onResponse(asked, reply, { stream }) {
        const { request, trace } = passing.get(asked as FastifyRequest)!
        observe(request, { status: reply.statusCode, fields: [], body: stream }, gateway, trace)
        void reply.send(stream)
      },
      onError: (reply, { error }) => broken(reply.request as FastifyRequest, reply as FastifyReply, error),
    },
  })
}

/** The problem of a request that the store did not answer. */
function problemOf(error: unknown, { log }: Gateway): Problem {
  const { cause = error, statusCode } = error as { readonly cause?: unknown; readonly statusCode?: number }
  if (cause instanceof StoreBreak || cause instanceof BodyBreak) return cause.problem
  if (statusCode !== undefined && statusCode < 500) return problem('request.malformed', 'The request is malformed.')
  log.error({ err: error }, 'a request for the pages of the store failed')
  return problem('internal', 'The request failed.')
}

/** The request fields that the store gets: none of them identifies the client. */
const SENT: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'content-type', 'content-encoding'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'range'],
])

const only = (names: ReadonlySet<string>, fields: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)))

interface Asked {
  readonly path: string
  readonly method: Sent['method']
  readonly headers: Sent['fields'] & { readonly [FOR]: Passing }
  readonly body?: Readable | ''
}
type Answered = { readonly statusCode: number; readonly headers: object; readonly body: Readable | undefined }

/**
 * The exchange with a store, with its usual limits, as the client that the library needs. A read is aborted when its
 * client leaves. A write is not: the store may perform it anyway.
 */
function clientOf({ gateway, exchange, root }: StorePages, door: Door) {
  const sweepSoon = makeSweeps(gateway)
  const exchanged = async ({ path, method, headers, body }: Asked): Promise<Answered> => {
    const { request, trace } = headers[FOR]
    const isRead = READS.includes(method)
    const sent = { method, url: new URL(path, root), fields: headers, safe: false }
    const asked = exchange.send({ ...sent, ...(!isRead && body && { body }) }, isRead ? request.signal() : undefined)
    const response = await trace.store(asked).catch((error: unknown) => {
      if (error instanceof BodyBreak) return error.problem
      throw error
    })
    if (!isRead) await written(gateway, isFailure(response), sweepSoon)
    if (isFailure(response)) throw new StoreBreak(response)
    const { statusCode, headers: fields } = response
    const isEmpty = method === 'HEAD' || statusCode === 204 || statusCode === 304
    if (isEmpty) response.body.resume()
    return { statusCode, headers: fields, body: isEmpty ? undefined : Readable.from(piecesOf(response)) }
  }
  return (asked: Asked, done: (error: unknown, answered?: Answered) => void): void => {
    void door.waitFor(exchanged(asked)).then((answered) => done(null, answered), done)
  }
}

/**
 * The answer fields that the client gets: no cookies, which would belong to the gateway's host, and no addresses of the
 * store.
 */
const ANSWERED: ReadonlySet<string> = new Set([
  ...['allow', 'content-type', 'content-length', 'content-encoding', 'content-language', 'content-disposition'],
  ...['etag', 'last-modified', 'accept-ranges', 'content-range', 'retry-after', 'vary'],
])
const OWN = {
  'cache-control': 'private, no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The policy of the store's pages. Results are not among them, whatever media type a query asks for. */
const OF_PAGES = "frame-ancestors 'none'"
const policyOf = ({ 'content-type': type = '' }: IncomingHttpHeaders, url: string): string =>
  type.startsWith('text/html') && !url.includes('?') ? OF_PAGES : CONFINED[1]

function answeredFields(fields: IncomingHttpHeaders, root: URL, url: string): IncomingHttpHeaders {
  const { location = '' } = fields
  const moved = URL.canParse(location, root.href) ? new URL(location, root) : undefined
  const isHere = location !== '' && moved?.origin === root.origin
  const moving = isHere && { location: moved.pathname + moved.search }
  return { ...only(ANSWERED, fields), ...moving, ...OWN, 'content-security-policy': policyOf(fields, url) }
}

/** Requests here bypass the write path, so all caches are cleared and the mirror commits the differences. */
async function written(gateway: Gateway, isInDoubt: boolean, sweepSoon: () => void): Promise<void> {
  const until = gateway.now() + LATEST_WRITE_MS
  if (isInDoubt)
    for (const { application } of membersOf(gateway.dataspaces)) application.cache.versions.inDoubt(undefined, until)
  for (const dataspace of gateway.dataspaces) await forget(dataspace, undefined, gateway)
  sweepSoon()
}

/** One sweep at a time. Writes in the meantime are handled by the next sweep. */
function makeSweeps({ dataspaces, locks, log }: Gateway): () => void {
  let last = Promise.resolve()
  let isWaiting = false
  const run = async (): Promise<void> => {
    isWaiting = false
    for (const { application } of membersOf(dataspaces)) {
      const { mirrored } = application
      const outcome = mirrored && (await sweep(mirrored, { locks, report: () => undefined }))
      if (isFailure(outcome))
        log.warn({ problem: outcome.detail }, 'a write on the pages of the store is not committed yet')
    }
  }
  return () => {
    if (isWaiting) return
    isWaiting = true
    last = last.then(run).catch((error: unknown) => log.error({ err: error }, 'the sweep after a write failed'))
  }
}
