// The listeners: sockets, TLS and HTTP framing on one side, `Request` and `Response` values on the other. Fastify runs
// the servers, and routes where speed does not matter. Its errors and those of the HTTP parser get our format too.
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Awaitable } from '../maybe-async.js'
import { makeAnswering, type Answering } from './answering.js'
import { awaitsContinue, NO_ROOM, readBody, streamBody, tooLarge } from './body.js'
import type { Request, Response } from './exchange.js'
import { fieldsOf, fieldLines } from './fields.js'
import { certificateOf } from './peer-certificate.js'
import { clientOf } from './client-network.js'
import { boundConnections, connectionsOf, sweepRegularly } from './connections.js'
import { onceLeft } from './leaving.js'
import { normalisedPath } from './normal-path.js'
import { KEEP_ALIVE_MS, LINGER, send, withoutBody } from './send.js'
import { makeShares, shared, type BodyRoom, type Shares } from './shares.js'
import { takePort, type TakenPort } from './taken-port.js'
import { isItsTurn, responseOn, turn } from './turns.js'

export interface ListenerSettings {
  readonly port: number | TakenPort
  /** The port, which has not been taken yet. */
  readonly host?: string
  /** PEM. Only the TLS listener has it; it asks every client for a certificate, from any issuer. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** True if this peer may name the client's certificate in Client-Cert. Plain listener only. */
  readonly isTrustedProxy?: (address: string) => boolean
  /** How many requests may wait, at most a quarter of them from one network; the rest are answered 503 at once. */
  readonly concurrency?: number
  /** Bytes of content held in memory, per network and in total; beyond that the answer is 503. */
  readonly bodyRoom?: BodyRoom
  /** Milliseconds allowed for reading a content; after that the answer is 408. */
  readonly bodyTimeout?: number
  /** Milliseconds between two looks for clients that do not take their answers. */
  readonly sweepEvery?: number
  /** Turns a problem into a response. `refuse` is for requests that have been read: it may answer with a page. */
  readonly problemResponse: (reason: Problem, accept: string | undefined, status?: number) => Response
  readonly refuse?: (reason: Problem, request: Request) => Response
  readonly now: () => number
  readonly nextId: () => string
}

export interface Listener {
  readonly port: number
  /** A request without a socket, for tests. */
  readonly inject: FastifyInstance['inject']
  /** Switches to another certificate for new connections. TLS listener only. */
  readonly renew?: (tls: NonNullable<ListenerSettings['tls']>) => void
  /** Waits at most `grace` ms for the requests being answered, then ends them. */
  close(grace: number): Promise<void>
}

export type AnswerRequest = (request: Request) => Awaitable<Response>

/** Answers found by Fastify's router, for listeners that need not be as fast as the one for documents. */
export interface AddRoutes {
  /** Adds routes and hooks. They never see requests that are refused because no place is free. */
  add(app: FastifyInstance, door: Door): unknown
}

/** Converts between Fastify's requests and ours. */
export interface Door {
  requestOf(asked: FastifyRequest): Request
  /** Sends the answer. Fastify does nothing more for this request. */
  answer(asked: FastifyRequest, reply: FastifyReply, answer: Response): void
  /** The listener does not close before this work is done, even if the client has left. */
  waitFor<T>(work: Promise<T>): Promise<T>
}

/** State shared by the steps of one listener. */
interface Entrance {
  readonly settings: ListenerSettings
  readonly app: FastifyInstance
  readonly answering: Answering
  readonly shares: Shares
  readonly connections: ReadonlySet<Socket>
  isClosing: boolean
}

export async function listen(settings: ListenerSettings, answer: AnswerRequest | AddRoutes): Promise<Listener> {
  const { concurrency = 1024, bodyRoom = shared(128 * 2 ** 20) } = settings
  const shares = makeShares(shared(concurrency), bodyRoom)
  const isRouted = typeof answer !== 'function'
  const app = makeServer(settings, isRouted)
  const connections = connectionsOf(app.server)
  sweepRegularly(app.server, connections, settings.sweepEvery)
  const entrance: Entrance = { settings, app, answering: makeAnswering(), shares, connections, isClosing: false }
  if (isRouted) await addRoutes(entrance, answer)
  else answerAll(entrance, answer)
  const taken = typeof settings.port === 'number' ? await takePort(settings.port, settings.host) : settings.port
  await app.ready()
  await taken.give(app.server)

  return {
    port: taken.port,
    inject: app.inject.bind(app) as FastifyInstance['inject'],
    ...(settings.tls && { renew: (tls) => (app.server as unknown as Server).setSecureContext({ ...tls, ...TLS }) }),
    close(grace) {
      entrance.isClosing = true
      return closed(entrance, taken, grace)
    },
  }
}

/** Takes a place for a request; undefined if none is free, or if the connection has had its last answer. */
const enter = ({ shares, isClosing }: Entrance, raw: IncomingMessage, request: Request): (() => void) | undefined =>
  isClosing || raw.socket.writableEnded ? undefined : shares.enter(raw, request.network())

function refuse(
  { settings, isClosing }: Entrance,
  request: Request,
  raw: IncomingMessage,
  response: ServerResponse,
): void {
  send(raw, response, refusal(request, isClosing ? CLOSING : TOO_MANY_REQUESTS, settings))
}

async function addRoutes(entrance: Entrance, { add }: AddRoutes): Promise<void> {
  const { app, answering, settings, shares } = entrance
  const requests = new WeakMap<IncomingMessage, Request>()
  app.addHook('onRequest', async ({ raw }, reply) => {
    const request = requestOf(raw, reply.raw, settings, shares)
    requests.set(raw, request)
    const leave = enter(entrance, raw, request)
    if (!leave) {
      reply.hijack()
      return refuse(entrance, request, raw, reply.raw)
    }
    onceLeft(raw, reply.raw, leave)
    if (!isItsTurn(reply.raw) && !(await turn(raw, reply.raw))) reply.hijack()
  })
  await add(app, {
    requestOf: ({ raw }) => requests.get(raw)!,
    answer({ raw }, reply, answer) {
      reply.hijack()
      send(raw, reply.raw, raw.method === 'HEAD' ? withoutBody(answer) : answer)
    },
    waitFor: answering.waitFor,
  })
}

/**
 * Documents are answered on the server's own event, before Fastify's router: through one of its hooks a cached read
 * takes 3 to 20 % more CPU (nine starts of both, with sockets, in turns, Node.js 20). Only requests without a socket
 * use the hook.
 */
function answerAll(entrance: Entrance, answer: AnswerRequest): void {
  const { app } = entrance
  app.server.removeAllListeners('request')
  app.server.on('request', (raw: IncomingMessage, response: ServerResponse) =>
    answerOne(entrance, raw, response, answer),
  )
  app.all('/', () => undefined)
  app.addHook('onRequest', ({ raw }, reply, _done) => {
    reply.hijack()
    answerOne(entrance, raw, reply.raw, answer)
  })
}

/** A cached read is answered before this returns. */
function answerOne(entrance: Entrance, raw: IncomingMessage, response: ServerResponse, answer: AnswerRequest): void {
  if (!isItsTurn(response)) return void answerInTurn(entrance, raw, response, answer)
  const { answering, settings, shares } = entrance
  const request = requestOf(raw, response, settings, shares)
  const isRead = raw.method === 'GET' || raw.method === 'HEAD'
  const begun = isRead && !entrance.isClosing ? answer(request) : undefined
  if (begun && !(begun instanceof Promise)) return send(raw, response, begun, request.fields)
  const leave = begun && !request.isAdmitted ? undefined : enter(entrance, raw, request)
  if (!leave) {
    if (begun) answering.drop(begun)
    return refuse(entrance, request, raw, response)
  }
  const made = answering.waitFor(begun ?? Promise.resolve(answer(request)))
  void answerLater(made, leave, raw, response)
}

/** A request takes a place while it waits for its turn too: no connection can queue more than its network may. */
async function answerInTurn(
  entrance: Entrance,
  raw: IncomingMessage,
  response: ServerResponse,
  answer: AnswerRequest,
): Promise<void> {
  const request = requestOf(raw, response, entrance.settings, entrance.shares)
  const leave = enter(entrance, raw, request)
  if (!leave) return refuse(entrance, request, raw, response)
  const isOpen = await turn(raw, response)
  leave()
  if (isOpen) answerOne(entrance, raw, response, answer)
}

async function answerLater(
  made: Promise<Response>,
  leave: () => void,
  raw: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const left = new Promise<void>((done) => onceLeft(raw, response, done))
  // A write continues after its client has left, so its place is freed only when both are over.
  void Promise.allSettled([made, left]).then(leave)
  const { body } = await made
  send(raw, response, await made)
  // The unread rest of a content is dropped, which needs no place.
  if (!raw.complete && (!body || Buffer.isBuffer(body))) leave()
}

async function closed({ app, answering, connections }: Entrance, taken: TakenPort, grace: number): Promise<void> {
  const enough = new AbortController()
  const graceIsOver = sleep(grace, undefined, { signal: enough.signal }).catch(() => undefined)
  void graceIsOver.then(() => {
    for (const socket of connections) socket.destroy()
    app.server.on('connection', (socket: Socket) => socket.destroy())
  })
  await Promise.all([app.close(), taken.close()])
  // A write continues after its client has left.
  await Promise.race([Promise.allSettled(answering.all), graceIsOver])
  enough.abort()
}

const HEADERS_MS = 20_000
const BODY_TIMEOUT_MS = 30_000
const LONGEST_REQUEST_MS = 2 * 60 * 60_000
/** Per network. */
const CONNECTIONS = 2048

const RETRY = { fields: [['Retry-After', '1']] } as const
const CLOSING = problem('server.closing', 'The gateway is stopping.', RETRY)
export const TOO_MANY_REQUESTS = problem('server.overloaded', 'Too many requests. Retry shortly.', RETRY)

function refusal(request: Request, reason: Problem, { problemResponse, refuse }: ListenerSettings): Response {
  const response = refuse?.(reason, request) ?? problemResponse(reason, request.fields.accept)
  return request.method === 'HEAD' ? withoutBody(response) : response
}

const TLS = { minVersion: 'TLSv1.2' } as const

/** The router gets the normalised path. A path that cannot be normalised becomes one segment that matches no route. */
function pathForRouter({ url }: { readonly url?: string | undefined }): string {
  const [path, ...query] = url!.split('?')
  const normal = normalisedPath(path!)
  return isFailure(normal) ? `/${encodeURIComponent(url!)}` : [normal, ...query].join('?')
}

function makeServer(settings: ListenerSettings, isRouted: boolean): FastifyInstance {
  const { problemResponse } = settings
  const options: FastifyServerOptions = {
    // For documents the router sees a single path: target.ts interprets the URL, from the request-target as received.
    rewriteUrl: isRouted ? pathForRouter : () => '/',
    logger: false,
    schemaController: { compilersFactory: { buildValidator: Object, buildSerializer: Object } }, // No route has a schema.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A last resort that must also allow a large file on a slow line: readBody and streamBody have their own limits.
    requestTimeout: LONGEST_REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    clientErrorHandler: malformedAnswers(settings),
  }
  // RFC 9112 §3.2: handle.ts answers a missing Host, in our format.
  const framing = { requireHostHeader: false, headersTimeout: HEADERS_MS, connectionsCheckingInterval: 5_000 }
  const https = settings.tls && {
    ...framing,
    ...settings.tls,
    ...TLS,
    requestCert: true,
    // Any issuer is accepted: policies/identity/webid.ts checks the key against the profile.
    rejectUnauthorized: false,
    handshakeTimeout: 10_000,
  }
  const app = fastify({ ...options, ...(https ? { https } : { http: framing }) } as object) as FastifyInstance
  boundConnections(app.server, CONNECTIONS, settings.isTrustedProxy ?? noProxy)
  // RFC 9110 §10.1.1: the 100 is sent when the content is read, so a refusal spares the upload.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    awaitsContinue.add(request)
    app.server.emit('request', request, response)
  })
  // RFC 9110 §9.3.6: the gateway is not a tunnel.
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node.js no longer serves the socket, so an earlier answer may never be sent.
    if (responseOn(socket)) return void socket.destroy()
    const fields = [['Allow', 'GET, HEAD, OPTIONS']] as const
    const reason = problem('method.not-allowed', 'CONNECT is not allowed here.', { fields })
    answerRaw(socket, problemResponse(reason, undefined), settings.now)
  })
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const reason = problem('request.malformed', 'The only supported expectation is 100-continue.')
    send(request, response, problemResponse(reason, request.headers.accept, 417))
  })
  return app
}

function requestOf(
  raw: IncomingMessage,
  response: ServerResponse,
  settings: ListenerSettings,
  shares: Shares,
): Request {
  const fields = fieldsOf(raw.rawHeaders)
  const address = (): string => clientOf(raw, settings.isTrustedProxy ?? noProxy).address
  const network = (): string => clientOf(raw, settings.isTrustedProxy ?? noProxy).network
  const hold = (bytes: number): boolean => shares.hold(raw, bytes)
  let left: AbortController | undefined
  return {
    id: settings.nextId(),
    method: raw.method!,
    requestTarget: (raw as { originalUrl?: string }).originalUrl ?? raw.url!,
    fields,
    hosts: fieldLines(raw.rawHeaders, 'host').length,
    certificate: certificateOf(raw, fields, settings.isTrustedProxy),
    receivedAt: settings.now(),
    isAdmitted: !shares.isFull(network),
    address,
    network,
    signal() {
      if (!left) {
        const controller = (left = new AbortController())
        onceLeft(raw, response, () => response.writableFinished || controller.abort())
      }
      return left.signal
    },
    streamBody: (limit, setting) => streamBody(raw, response, limit, setting),
    hold,
    async readBody(limit, flag) {
      const declared = Number(fields['content-length'] ?? 0)
      if (declared > limit || !shares.hasRoom(raw, declared)) return declared > limit ? tooLarge(limit, flag) : NO_ROOM
      if (awaitsContinue.delete(raw)) response.writeContinue()
      return readBody(raw, { limit, setting: flag, time: settings.bodyTimeout ?? BODY_TIMEOUT_MS, hold })
    },
  }
}

const noProxy = (): boolean => false

const PARSER_STATUS: Readonly<Record<string, [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The header fields are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
}

/** RFC 9112 §3: answers a request that the HTTP parser refuses, in the format of every other error. */
function malformedAnswers({
  problemResponse,
  now,
}: ListenerSettings): (error: NodeJS.ErrnoException, socket: Socket) => void {
  // Node.js reports an error for each further piece.
  const reported = new WeakSet<Socket>()
  return (error, socket) => {
    const isFirst = !reported.has(socket)
    reported.add(socket)
    if (error.code === 'ECONNRESET' || (isFirst && !socket.writable)) socket.destroy()
    else if (isFirst) {
      const [status, detail] = PARSER_STATUS[error.code ?? ''] ?? [400, 'The request is not well-formed HTTP.']
      answerLast(socket, problemResponse(problem('request.malformed', detail), undefined, status), now)
    }
  }
}

/**
 * RFC 9112 §9.3.2: the answer comes after those to earlier requests. If the content of a request is malformed, it is
 * the answer to that request, unless this has begun one.
 */
function answerLast(socket: Socket, answer: Response, now: () => number): void {
  if (!socket.writable) return
  const earlier = responseOn(socket)
  if (earlier && (earlier.headersSent || earlier.req.complete))
    earlier.once('close', () => answerLast(socket, answer, now))
  else answerRaw(socket, answer, now)
}

/** Writes a response when there is no response object. Node.js no longer listens to errors of such a socket. */
function answerRaw(socket: Socket, { status, fields, body }: Response, now: () => number): void {
  socket.on('error', () => socket.destroy())
  const lines = [...fields, ['Connection', 'close'], ['Date', new Date(now()).toUTCString()]]
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${String(body)}`)
  // RFC 9112 §9.6. A socket that is not read never notices that its client has left.
  const timer = setTimeout(() => socket.destroy(), LINGER.ms)
  socket.resume().once('close', () => clearTimeout(timer))
}
