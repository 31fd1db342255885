// In charge of one HTTP exchange with a triplestore: a connection in turn, time limits, aborts, and failures as Problems.
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { isFailure, problem, type Problem } from '../problem.js'
import { StoreBreak } from './store.js'
import { givenUp, makeTurns } from './turns.js'

/** Times in milliseconds; `ca` is PEM, in place of the system's authorities. */
export interface ExchangeLimits {
  readonly connections: number
  readonly queue: number
  readonly connectTimeout: number
  readonly headersTimeout: number
  /** Between two pieces of a body, while it is read. */
  readonly idleTimeout: number
  /** For the whole exchange; where the body is streamed, for each piece to arrive and to be read. */
  readonly totalTimeout: number
  readonly ca?: string
}

export interface Sent {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly url: URL
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string
  /** It changes nothing at the store, so it may be sent again over a fresh connection. */
  readonly safe: boolean
}

/** The head of a response, and its body, which must be read, discarded or destroyed: it holds its connection until then. */
export interface StoreResponse extends Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'> {
  /** A piece has been read: the total time limit starts again. */
  renewLimit(): void
}

export interface Exchange {
  send(sent: Sent, signal?: AbortSignal): Promise<StoreResponse | Problem>
  close(): Promise<void>
}

const RETRY_AFTER_SECONDS = '5'
const TOO_LONG = problem('store.time', 'The triplestore took longer to answer than its limit (--store-timeout).')
const BROKEN_OFF = problem('store.failed', 'The answer of the triplestore broke off or is not HTTP.')
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH'])
const OUT_OF_TIME = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])
const LOST = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const CLOSED = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])
const CERTIFICATE = /CERT|SIGNATURE|^ERR_TLS_|^ERR_SSL_/

/** `store.unreachable`, with the delay that the store asks for if it does. */
export const unreachable = (detail: string, retryAfter = RETRY_AFTER_SECONDS): Problem =>
  problem('store.unreachable', detail, { fields: [['Retry-After', retryAfter]] })

/** The problem of a failure of the connection. Any other error is a bug, and rethrown. */
export function connectionProblem(error: unknown): Problem {
  if (error instanceof StoreBreak) return error.problem
  const { code, name } = error as { code?: string; name?: string }
  if (name === 'HTTPParserError') return BROKEN_OFF
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') throw error
  if (NO_CONNECTION.has(code)) return unreachable('The triplestore cannot be reached.')
  if (OUT_OF_TIME.has(code)) return TOO_LONG
  if (CLOSED.has(code)) return problem('server.closing', 'The gateway is closing its connections to the triplestore.')
  if (CERTIFICATE.test(code)) return problem('store.failed', 'The certificate of the triplestore was not accepted.')
  return BROKEN_OFF
}

/**
 * Opens the connections. Nothing follows a redirection, and nothing is sent twice but a safe request whose kept-alive
 * connection turned out to be closed before any answer (RFC 9110 §9.2.2, RFC 9112 §9.3.1), and that once.
 */
export function openExchange(limits: ExchangeLimits): Exchange {
  const turns = makeTurns(limits.connections, limits.queue)
  const ofUsedConnection = new WeakSet<Error>()
  const agent = new Agent({
    connections: limits.connections,
    headersTimeout: limits.headersTimeout,
    bodyTimeout: limits.idleTimeout,
    connect: connectorOf(limits, ofUsedConnection),
  })

  const request = ({ method, url, fields, body }: Sent, signal: AbortSignal) =>
    agent.request({ origin: url.origin, path: url.pathname + url.search, method, headers: fields, body, signal })

  const requestTwice = async (sent: Sent, signal: AbortSignal) => {
    try {
      return await request(sent, signal)
    } catch (error) {
      const stale =
        error instanceof Error && ofUsedConnection.has(error) && LOST.has((error as { code?: string }).code!)
      if (!stale || !sent.safe || signal.aborted) throw error
      return request(sent, signal)
    }
  }

  return {
    async send(sent, signal) {
      const limit = limitOf(signal, limits.totalTimeout)
      const place = await turns.take(limit.signal)
      if (isFailure(place)) {
        limit.end()
        return place
      }
      const done = () => {
        limit.end()
        place()
      }
      const answered = requestTwice(sent, limit.signal)
      // The reader of the body gets its failure; where there is none, the failure only frees the place.
      answered.then(({ body }) => body.on('error', () => undefined).once('close', done), done)
      try {
        // undici checks the signal only once it has a connection, so the race stops the wait for one.
        const { statusCode, headers, body } = await Promise.race([answered, limit.over])
        return { statusCode, headers, body, renewLimit: limit.renew }
      } catch (error) {
        return connectionProblem(error)
      }
    },
    close: () => agent.destroy(),
  }
}

/** TLS is verified. The set gets the errors of connections that have carried a response. */
function connectorOf(
  { connectTimeout, ca }: ExchangeLimits,
  ofUsedConnection: WeakSet<Error>,
): buildConnector.connector {
  const connect = buildConnector({ timeout: connectTimeout, ca, rejectUnauthorized: true, allowH2: false })
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      const atStart = socket.bytesRead
      socket.on('error', (failure) => {
        if (socket.bytesRead > atStart) ofUsedConnection.add(failure)
      })
      callback(null, socket)
    })
}

/** A signal that aborts with the caller's or when the time is up; its reason carries the problem. */
function limitOf(signal: AbortSignal | undefined, milliseconds: number) {
  const controller = new AbortController()
  const stop = (reason: Problem) => controller.abort(new StoreBreak(reason))
  const leave = () => stop(givenUp(signal!))
  const timer = setTimeout(() => stop(TOO_LONG), milliseconds)
  const over = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  over.catch(() => undefined)
  if (signal?.aborted) leave()
  else signal?.addEventListener('abort', leave, { once: true })
  return {
    signal: controller.signal,
    over,
    renew: () => void timer.refresh(),
    end: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    },
  }
}
