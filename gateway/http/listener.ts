// In charge of the listeners: sockets, TLS and HTTP framing on one side, `Request` and `Response` values on the other.
// Everything that Fastify or the HTTP parser would answer by itself is answered here in our form.
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Request, Response } from './exchange.js'
import { certificateOf } from './peer-certificate.js'
import { problem, type Problem } from '../problem.js'
import { awaitsContinue, readBody } from './body.js'
import { fieldsOf, valuesOf, type Fields } from './fields.js'
import { isPlain, sendReady } from './ready-head.js'
import { problemResponse, withoutBody } from '../request/respond.js'
import { sendPieces } from './pieces.js'

export interface ListenerSettings {
  readonly port: number
  readonly host?: string
  /** PEM. Present on the TLS listener, which asks every client for a certificate of any issuer. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Whether this peer address may name the client's certificate in Client-Cert. Plain listener only. */
  readonly isTrustedProxy?: (address: string) => boolean
  /** How many requests may be under way; more are answered 503 at once. */
  readonly concurrency?: number
  readonly requestTimeout?: number
  readonly now: () => number
  readonly nextId: () => string
}

export interface Listener {
  readonly port: number
  /** Lets what is under way finish, for `grace` ms at most; then ends it. */
  close(grace: number): Promise<void>
}

export interface Answer {
  /** Undefined where there is something to wait for: then `later` is asked. */
  now?(request: Request): Response | undefined
  later(request: Request): Promise<Response>
}

export async function listen(settings: ListenerSettings, answer: Answer): Promise<Listener> {
  let closing = false
  let underWay = 0
  /** Answers that are being made, whether or not their clients are still there. */
  const answering = new Set<Promise<Response>>()
  const app = makeServer(settings)
  const concurrency = settings.concurrency ?? 1024
  const left = (): void => void underWay--

  app.addHook('onRequest', async ({ raw }, reply) => {
    reply.hijack()
    const response = reply.raw
    underWay++
    response.on('close', left)
    const request = REQUESTS.get(raw) ?? requestOf(raw, response, settings)
    if (closing)
      return send(raw, response, refusal(request, problem('server.closing', 'The gateway is stopping.', RETRY)))
    if (underWay > concurrency || answering.size >= concurrency) {
      return send(raw, response, refusal(request, problem('server.overloaded', 'Too many requests at once.', RETRY)))
    }
    const answered = answer.later(request)
    answering.add(answered)
    send(raw, response, await answered.finally(() => answering.delete(answered)))
  })

  // What can be answered at once is, before the router.
  const [route] = app.server.listeners('request') as [(raw: IncomingMessage, response: ServerResponse) => void]
  app.server.removeListener('request', route).on('request', (raw: IncomingMessage, response: ServerResponse) => {
    const request = requestOf(raw, response, settings)
    const answered = closing ? undefined : answer.now?.(request)
    if (answered) return send(raw, response, answered, request.fields)
    REQUESTS.set(raw, request)
    route(raw, response)
  })

  await app.listen({ port: settings.port, ...(settings.host && { host: settings.host }) })
  const { port } = app.server.address() as AddressInfo
  return {
    port,
    async close(grace) {
      closing = true
      const enough = new AbortController()
      const graceIsOver = sleep(grace, undefined, { signal: enough.signal }).catch(() => undefined)
      void graceIsOver.then(() => app.server.closeAllConnections())
      await app.close()
      // A write goes on when its client has left.
      await Promise.race([Promise.allSettled(answering), graceIsOver])
      enough.abort()
    },
  }
}

const RETRY = { fields: [['Retry-After', '1']] } as const
const refusal = (request: Request, reason: Problem): Response => {
  const response = problemResponse(reason, request.fields.accept)
  return request.method === 'HEAD' ? withoutBody(response) : response
}

/** Requests that could not be answered at once, on their way through the router. */
const REQUESTS = new WeakMap<IncomingMessage, Request>()
const KEEP_ALIVE_MS = 65_000

function makeServer(settings: ListenerSettings): FastifyInstance {
  const options: FastifyServerOptions = {
    // The router sees one path only: what a URL means is target.ts's to say, from the request-target as it came.
    rewriteUrl: () => '/',
    logger: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: settings.requestTimeout ?? 60_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    clientErrorHandler: answerMalformed,
  }
  // RFC 9112 §3.2: a missing Host is answered by target.ts, in our form.
  const framing = { requireHostHeader: false }
  const https = settings.tls && {
    ...framing,
    ...settings.tls,
    requestCert: true,
    // Any issuer will do: policies/webid.ts checks the key against the profile.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2' as const,
    handshakeTimeout: 10_000,
  }
  const app = fastify({ ...options, ...(https ? { https } : { http: framing }) } as object) as FastifyInstance
  app.all('/', () => undefined)
  // RFC 9110 §10.1.1: the 100 is sent when the content is asked for, so that a refusal spares the upload.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    awaitsContinue.add(request)
    app.server.emit('request', request, response)
  })
  // RFC 9110 §9.3.6: this is no tunnel.
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answerRaw(
      socket,
      405,
      problem('method.not-allowed', 'CONNECT is not allowed here.', { fields: [['Allow', 'GET, HEAD, OPTIONS']] }),
    )
  })
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const reason = problem('request.malformed', 'Only the expectation 100-continue can be met.')
    send(request, response, problemResponse(reason, request.headers.accept, 417))
  })
  return app
}

function requestOf(raw: IncomingMessage, response: ServerResponse, settings: ListenerSettings): Request {
  const fields = fieldsOf(raw.rawHeaders)
  let left: AbortController | undefined
  return {
    id: settings.nextId(),
    method: raw.method!,
    requestTarget: (raw as { originalUrl?: string }).originalUrl ?? raw.url!,
    fields,
    hosts: valuesOf(raw.rawHeaders, 'host').length,
    certificate: certificateOf(raw, fields, settings.isTrustedProxy),
    receivedAt: settings.now(),
    signal() {
      if (!left) {
        const controller = (left = new AbortController())
        if (response.destroyed) controller.abort()
        response.once('close', () => response.writableFinished || controller.abort())
      }
      return left.signal
    },
    readBody: (limit) => {
      if (awaitsContinue.delete(raw)) response.writeContinue()
      return readBody(raw, limit)
    },
  }
}

// RFC 9112 §6: a request has content when one of the two framing fields says so.
const hasBody = ({ rawHeaders }: IncomingMessage, fields = fieldsOf(rawHeaders)): boolean =>
  fields['transfer-encoding'] !== undefined || Number(fields['content-length'] ?? 0) > 0

/** The bytes of an unread body that are still taken after the answer, so that the client gets to see the answer. */
const LINGER = { bytes: 32 * 1024 * 1024, ms: 5_000 }

function send(
  raw: IncomingMessage,
  response: ServerResponse,
  { status, fields, ready, body, trailer }: Response,
  own?: Fields,
): void {
  if (response.destroyed) {
    if (body && !Buffer.isBuffer(body)) void body[Symbol.asyncIterator]().return?.()
    return
  }
  const unread = !raw.complete && hasBody(raw, own)
  if (ready && (ready.text !== undefined || !body) && fields.length === 0 && !unread && isPlain(response)) {
    sendReady(response, status, ready, KEEP_ALIVE_MS)
    return
  }
  const headers = [...(ready ? [...ready.head.fields, ['Age', ready.age]] : []), ...fields].flat()
  if (unread) headers.push('Connection', 'close')
  // RFC 9110 §6.6.2; HTTP/1.0 has no trailer section.
  if (trailer && raw.httpVersion !== '1.0') headers.push('Trailer', trailer.name)
  response.writeHead(status, headers)
  if (body && !Buffer.isBuffer(body)) {
    void sendPieces(response, body, trailer)
    return
  }
  if (!unread) {
    response.end(body)
    return
  }
  // RFC 9112 §9.6: closing with unread bytes in the buffer would reset the connection and lose the answer.
  response.write(body ?? '')
  let size = 0
  const end = (): void => void response.end()
  const timer = setTimeout(end, LINGER.ms)
  raw.on('data', (chunk: Buffer) => (size += chunk.length) > LINGER.bytes && end())
  raw.once('end', end)
  response.once('close', () => clearTimeout(timer))
  if (awaitsContinue.has(raw)) end()
}

const PARSER_STATUS: Readonly<Record<string, [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The header fields are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
}

/** RFC 9112 §3: what the HTTP parser refuses is answered here, in the form of every other error. */
function answerMalformed(this: unknown, error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, detail] = PARSER_STATUS[error.code ?? ''] ?? [400, 'The request is not well-formed HTTP.']
  answerRaw(socket, status, problem('request.malformed', detail))
}

/** An answer where there is no response to write it to. */
function answerRaw(socket: Socket, status: number, reason: Problem): void {
  const { fields, body } = problemResponse(reason, undefined, status)
  const lines = [...fields, ['Connection', 'close'], ['Date', new Date(Date.now()).toUTCString()]]
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${String(body)}`)
}
