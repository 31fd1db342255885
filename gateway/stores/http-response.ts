// Judges a response of the triplestore: a refusal, a flaw, the whole text, or its pieces, which throw if the response
// breaks off.
import { problem, type Problem } from '../problem.js'
import { connectionProblem, NO_CREDENTIALS, unreachable } from './connection-problem.js'
import type { StoreResponse } from './http-exchange.js'
import { StoreBreak } from './store.js'
import { DISCARD_BYTES, type WholeResponse } from './whole-response.js'
import { wholeTextOf } from './whole-text.js'

export type Head = Pick<WholeResponse, 'statusCode' | 'headers'>

/** Reads a body to its end, or as far as is cheap, so that its connection can be used again. */
export function dropBody({ body }: Pick<StoreResponse, 'body'>): undefined {
  void body.dump({ limit: DISCARD_BYTES }).catch(() => undefined)
}

/** The response if it is a success, has the requested media type, and marks its end. */
export function successOf(response: StoreResponse, mediaType: string): StoreResponse | Problem {
  const failed = failureOf(response, mediaType)
  if (!failed) return response
  if (response.statusCode === 200) response.body.destroy()
  else dropBody(response)
  return failed
}

function failureOf(response: Head, mediaType: string): undefined | Problem {
  if (response.statusCode !== 200) return storeRefusalOf(response)
  const { headers } = response
  const flaw =
    mediaTypeOf(headers['content-type']) !== mediaType
      ? 'is not in the requested format'
      : (headers['content-encoding'] ?? 'identity') !== 'identity'
        ? 'is in a content coding that was not requested'
        : // RFC 9112 §8: without a length or chunks, a response that broke off looks like a whole one.
          headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
          ? 'does not say where it ends'
          : undefined
  return flaw === undefined ? undefined : problem('store.failed', `The answer of the triplestore ${flaw}.`)
}

const mediaTypeOf = (field: string | string[] | undefined): string | undefined =>
  typeof field === 'string' ? field.split(';')[0]!.trim().toLowerCase() : undefined

const IRI_BEYOND_ASCII = /^(?=.*[^\0-\x7f])[^\0-\x20<>"{}|^`\\]*$/

/**
 * Fuseki answers 500 for a graph that does not exist if its name has characters beyond ASCII, so a SPARQL query
 * decides.
 */
export const mayMeanAbsent = ({ statusCode }: Head, graph: string): boolean =>
  statusCode === 500 && IRI_BEYOND_ASCII.test(graph)

/**
 * Stores explain a refusal in a line or two, before a list of expected tokens. Pages and other formats are not for
 * people here.
 */
export function reasonIn({ headers, bytes }: Pick<WholeResponse, 'headers' | 'bytes'>): string {
  if (!mediaTypeOf(headers['content-type'])?.startsWith('text/plain')) return ''
  const line = bytes?.subarray(0, 2048).toString('utf8').split(/[\r\n]+/).find((one) => one.trim() !== '') // prettier-ignore
  return (line ?? '')
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}

/** The problem of an unsuccessful response. */
export function storeRefusalOf(response: Head & Partial<Pick<WholeResponse, 'bytes'>>): Problem {
  const { statusCode: status, headers } = response
  if (status === 400)
    return {
      ...problem('store.refused', 'The triplestore answered with status 400.'),
      reason: reasonIn({ bytes: undefined, ...response }),
    }
  if (status === 503)
    return {
      ...unreachable('The triplestore is not available at the moment.', delayOf(headers['retry-after'])),
      isUnsure: true,
    }
  if (status === 401 || status === 403) return NO_CREDENTIALS
  if (status >= 300 && status < 400)
    return problem('store.failed', 'The triplestore answered with a redirection, which is not followed.')
  if (status >= 400 && status < 500) return problem('store.refused', `The triplestore answered with status ${status}.`)
  return problem(
    'store.failed',
    `The triplestore answered with status ${status}: its log says why. It may be unable to write a value, such as an invalid date.`,
  )
}

// RFC 9110 §10.2.3: delay-seconds or an HTTP-date; anything else is dropped.
const delayOf = (field: string | string[] | undefined): string | undefined =>
  typeof field === 'string' && (/^\d{1,9}$/.test(field) || /^\w{3}, [\w: ]{20} GMT$/.test(field)) ? field : undefined

const MOST_OF_REASON = 2048

/** The beginning of a refusal, in which the store says why. The connection is not used again. */
export async function refusalIn({ statusCode, headers, body }: StoreResponse): Promise<WholeResponse> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      pieces.push(piece)
      if ((size += piece.length) >= MOST_OF_REASON) break
    }
  } catch {
    // The response broke off: its beginning is enough.
  }
  return { statusCode, headers, bytes: Buffer.concat(pieces) }
}

/** SPARQL 1.1 Protocol §2.1.6, §2.2.5: 400 if the store does not accept the text as SPARQL. */
export function refusedText(
  response: Head & Partial<Pick<WholeResponse, 'bytes'>>,
  code: 'query.syntax' | 'update.syntax',
): Problem | undefined {
  const { statusCode: status } = response
  if (status === 500 && code === 'update.syntax') {
    return problem(
      'update.failed',
      'The triplestore did not run the update. Check whether each graph that it names exists, or exists already.',
    )
  }
  if (status !== 400) return undefined
  return {
    ...problem(code, 'The triplestore does not accept this text as SPARQL 1.1.'),
    reason: reasonIn({ bytes: undefined, ...response }),
  }
}

/**
 * Fuseki gives this answer if the format cannot express a graph, since the gateway requests only media types that it
 * writes.
 */
export function storeUnwritable({ statusCode }: Pick<Head, 'statusCode'>, accept: string): Problem | undefined {
  if (statusCode !== 406 || !NOT_FOR_ALL.has(accept)) return undefined
  return problem('negotiation.not-acceptable', `The result cannot be written as ${accept}. Ask for text/turtle.`)
}

const NOT_FOR_ALL = new Set(['application/rdf+xml', 'application/ld+json'])

/**
 * The pieces of a body, which is closed if the reader leaves. Throws a StoreBreak if it breaks off. The total time
 * limit starts again at each piece.
 */
export function piecesOf(response: StoreResponse): AsyncIterable<Uint8Array> {
  const pieces = readPieces(response)
  // A generator that is left before its first piece runs nothing: the body would keep its connection.
  const leave = () => {
    response.body.destroy()
    return pieces.return(undefined)
  }
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: leave }) }
}

async function* readPieces({ body, renewLimit }: StoreResponse): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      renewLimit()
      yield piece
    }
  } catch (error) {
    throw new StoreBreak(connectionProblem(error))
  }
}

/**
 * The text of a success; undefined if it is blank. `store.too-large` above the limit; `store.failed` if it is not
 * in UTF-8.
 */
export function textOfSuccess(response: WholeResponse, mediaType: string, most: number): string | undefined | Problem {
  const failed = failureOf(response, mediaType)
  if (failed) return failed
  if (!response.bytes)
    return problem('store.too-large', `The answer of the triplestore is above the limit of ${most} bytes.`)
  const text = wholeTextOf(response.bytes)
  return typeof text !== 'string' || text.trim() ? text : undefined
}
