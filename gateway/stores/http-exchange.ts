// HTTP exchanges with a triplestore: a connection in turn, time limits, aborts, and failures as Problems.
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { isFailure, problem, type Problem } from '../problem.js'
import { connectionProblem, TOO_LONG } from './connection-problem.js'
import type { Asker } from './fair-queue.js'
import { StoreBreak } from './store.js'
import { givenUp, makeTurns, type EndTurn, type Turns } from './connection-slots.js'
import { collectWhole, optionsOf, type Sent, type WholeResponse } from './whole-response.js'

/** Times are in milliseconds; `ca` is PEM, and replaces the system's authorities. */
export interface ExchangeLimits {
  readonly connections: number
  readonly queue: number
  readonly connectTimeout: number
  readonly headersTimeout: number
  /** The longest time between two pieces of a body, while it is read. */
  readonly idleTimeout: number
  /** The longest time for the whole exchange; for a streamed body, the time for each piece to arrive and be read. */
  readonly totalTimeout: number
  /** The longest wait for an exchange to begin while the store is paused. */
  readonly pauseTimeout: number
  readonly ca?: string
  /** A Unix socket that replaces host and port of the URLs. */
  readonly socketPath?: string
}

/**
 * The head of a response, and its body, which must be read, discarded or destroyed: it holds its connection until then.
 */
export interface StoreResponse extends Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'> {
  /** Call it when a piece has been read: the total time limit starts again. */
  renewLimit(): void
}

export interface Exchange {
  send(sent: Sent, signal?: AbortSignal, asker?: Asker): Promise<StoreResponse | Problem>
  /** @param most the most bytes of a response with status 200 */
  collect(sent: Sent, most: number, signal?: AbortSignal): Promise<WholeResponse | Problem>
  /** Waits for the running exchanges. Then none begins until the returned function is called. */
  pause(signal: AbortSignal): Promise<Resume | Problem>
  close(): Promise<void>
}

export type Resume = () => void

const PAUSED = problem('store.overloaded', 'The triplestore is being compacted. Retry shortly.', {
  fields: [['Retry-After', '10']],
})

const LOST = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/**
 * Opens the connections. Redirections are not followed. Only a safe request is sent again, once, if its kept-alive
 * connection turned out to be closed before any answer (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
 */
export function openExchange(limits: ExchangeLimits): Exchange {
  const turns = pausableTurns(limits)
  const ofUsedConnection = new WeakSet<Error>()
  const agent = new Agent({
    connections: limits.connections,
    headersTimeout: limits.headersTimeout,
    bodyTimeout: limits.idleTimeout,
    connect: connectorOf(limits, ofUsedConnection),
  })

  const isStale = (error: unknown): boolean =>
    error instanceof Error && ofUsedConnection.has(error) && LOST.has((error as { code?: string }).code!)

  const requestTwice = async (sent: Sent, signal: AbortSignal) => {
    const request = () => agent.request({ ...optionsOf(sent), signal })
    try {
      return await request()
    } catch (error) {
      if (!isStale(error) || !sent.safe || signal.aborted) throw error
      return request()
    }
  }

  return {
    async send(sent, signal, asker) {
      const limit = limitOf(signal, limits.totalTimeout)
      const place = await turns.take(limit.signal, asker)
      if (isFailure(place)) {
        limit.end()
        return place
      }
      const done = () => {
        limit.end()
        place()
      }
      const answered = requestTwice(sent, limit.signal)
      // A failure of the body goes to its reader; without a reader it only frees the connection.
      answered.then(({ body }) => body.on('error', () => undefined).once('close', done), done)
      try {
        // undici checks the signal only once it has a connection, so the race stops the wait for one.
        const { statusCode, headers, body } = await Promise.race([answered, limit.over])
        return { statusCode, headers, body, renewLimit: limit.renew }
      } catch (error) {
        return connectionProblem(error)
      }
    },
    async collect(sent, most, signal) {
      const from = performance.now()
      const place = turns.takeNow() ?? (await waitedFor(turns, signal, limits.totalTimeout))
      if (isFailure(place)) return place
      const ms = limits.totalTimeout - (performance.now() - from)
      return collectWhole(agent, sent, { most, ms, ...(signal && { signal }), isStale, done: place })
    },
    pause: turns.pause,
    close: () => agent.destroy(),
  }
}

/** Turns that can be paused: the caller takes all connections, so that it is the only user of the store. */
function pausableTurns({ connections, queue, pauseTimeout }: ExchangeLimits): Turns & Pick<Exchange, 'pause'> {
  const turns = makeTurns(connections, queue)
  let isPaused = false
  return {
    takeNow: turns.takeNow,
    async take(signal, asker) {
      if (!isPaused) return turns.take(signal, asker)
      const wait = limitOf(signal, pauseTimeout, PAUSED)
      const place = await turns.take(wait.signal, asker)
      wait.end()
      return place
    },
    async pause(signal) {
      isPaused = true
      const places = await Promise.all(Array.from({ length: connections }, () => turns.take(signal)))
      const resume = (): void => {
        isPaused = false
        for (const place of places) if (!isFailure(place)) place()
      }
      const failed = places.find((place) => isFailure(place))
      if (failed) resume()
      return failed ?? resume
    },
  }
}

async function waitedFor(turns: Turns, signal: AbortSignal | undefined, ms: number): Promise<EndTurn | Problem> {
  const limit = limitOf(signal, ms)
  const place = await turns.take(limit.signal)
  limit.end()
  return place
}

/** TLS is verified. The set gets the errors of connections that have carried a response. */
function connectorOf(
  { connectTimeout, ca, socketPath }: ExchangeLimits,
  ofUsedConnection: WeakSet<Error>,
): buildConnector.connector {
  const connect = buildConnector({
    ...{ timeout: connectTimeout, ca, rejectUnauthorized: true, allowH2: false },
    ...(socketPath !== undefined && { socketPath }),
  })
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
function limitOf(signal: AbortSignal | undefined, milliseconds: number, late = TOO_LONG) {
  const controller = new AbortController()
  const stop = (reason: Problem) => controller.abort(new StoreBreak(reason))
  const leave = () => stop(givenUp(signal!))
  const timer = setTimeout(() => stop(late), milliseconds)
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
