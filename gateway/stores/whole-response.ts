// A triplestore's response collected whole, without a stream: this takes a third of the processor time.
import type { Readable } from 'node:stream'
import type { Agent, Dispatcher } from 'undici'
import type { Problem } from '../problem.js'
import { connectionProblem, TOO_LONG } from './connection-problem.js'
import { StoreBreak } from './store.js'
import { givenUp } from './connection-slots.js'

export interface Sent {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly url: URL
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string | Readable
  /** True if the request changes nothing at the store, so it may be sent again over a new connection. */
  readonly safe: boolean
}

/** A response that has been read to its end, or up to the limit. */
export interface WholeResponse extends Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> {
  /** Undefined if the response is larger than the limit. */
  readonly bytes: Buffer | undefined
}

/** A longer refusal is not read to its end. */
export const DISCARD_BYTES = 64 * 1024

export const optionsOf = ({ method, url, fields, body }: Sent) => ({
  origin: url.origin,
  path: url.pathname + url.search,
  method,
  headers: fields,
  ...(body !== undefined && { body }),
})

interface Collecting {
  readonly most: number
  readonly ms: number
  readonly signal?: AbortSignal
  /** True if a kept-alive connection turned out to be closed. */
  isStale(error: unknown): boolean
  /** Call it when the connection is free again. */
  done(): void
}

interface Gathered {
  begin(statusCode: number, headers: WholeResponse['headers']): void
  /** False if the response is larger than the limit. */
  add(piece: Buffer): boolean
  isTooLarge(): boolean
  /** The response so far; undefined before it begins. */
  whole(): WholeResponse | undefined
}

function gather(most: number): Gathered {
  let head: Omit<WholeResponse, 'bytes'> | undefined
  let pieces: Buffer[] | undefined = []
  let size = 0
  return {
    begin(statusCode, headers) {
      head = { statusCode, headers }
    },
    add(piece) {
      size += piece.length
      if (size > (head!.statusCode === 200 ? most : DISCARD_BYTES)) pieces = undefined
      pieces?.push(piece)
      return pieces !== undefined
    },
    isTooLarge: () => pieces === undefined,
    whole: () => head && { ...head, bytes: pieces && (pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, size)) },
  }
}

/** Sends the request once there is a connection for it, and again if that turns out to be closed (`Sent.safe`). */
export function collectWhole(
  agent: Agent,
  sent: Sent,
  { most, ms, signal, isStale, done }: Collecting,
): Promise<WholeResponse | Problem> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let stopped: StoreBreak | undefined
    const gathered = gather(most)
    let isRepeated = false
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
    const stop = (reason: Problem): void => {
      stopped = new StoreBreak(reason)
      settle()
      // Before undici has a connection there is no controller to abort, so answer the caller at once.
      resolve(reason)
      controller?.abort(stopped)
    }
    const leave = (): void => stop(givenUp(signal!))
    const timer = setTimeout(() => stop(TOO_LONG), ms)
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given
        if (stopped) given.abort(stopped)
      },
      onResponseStart(_, statusCode, headers) {
        if (statusCode >= 200) gathered.begin(statusCode, headers)
      },
      onResponseData(given, piece) {
        if (!gathered.add(piece)) given.abort(new StoreBreak(TOO_LONG))
      },
      onResponseEnd() {
        done()
        settle()
        resolve(gathered.whole()!)
      },
      onResponseError(_, error) {
        if (!gathered.whole() && !stopped && !isRepeated && sent.safe && isStale(error)) {
          isRepeated = true
          // After undici has taken the closed connection out of its pool.
          return queueMicrotask(() => void agent.dispatch(optionsOf(sent), handler))
        }
        done()
        settle()
        try {
          resolve(gathered.isTooLarge() ? gathered.whole()! : connectionProblem(error))
        } catch (bug) {
          reject(bug)
        }
      },
    }
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    agent.dispatch(optionsOf(sent), handler)
  })
}
