// Reads the content of a request once, bounds it while it arrives, and decodes it if it is text.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request } from './exchange.js'
import { parseMediaType } from './media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'

/** Requests whose client waits for 100 (Continue) before it sends the content (RFC 9110 §10.1.1). */
export const awaitsContinue = new WeakSet<IncomingMessage>()

/** The setting that bounds most contents. */
export const MAX_BODY = '--max-body'

/** @param setting the setting that `limit` comes from, if any: an operator can raise it. */
export const tooLarge = (limit: number, setting?: string): Problem =>
  problem('content.too-large', `The request body is larger than ${limit} bytes${setting ? ` (${setting})` : ''}.`)

/** The Content-Length, if the client sent one. */
export function toldLength({ fields }: Pick<Request, 'fields'>): number | undefined {
  const length = fields['content-length']
  return length === undefined ? undefined : Number(length)
}

const BROKEN = problem('request.malformed', 'The request body broke off.')
export const NO_ROOM = problem('server.overloaded', 'Too many request bodies are being read. Retry shortly.', {
  fields: [['Retry-After', '1']],
})
/** RFC 9110 §15.5.9: the connection is closed, since the rest of the body is not read. */
const LATE = problem('content.time', 'The request body did not arrive in time.')

/** The lowest accepted rate of a body, measured after a grace period: a slower client only blocks a place. */
const LEAST = { bytesPerSecond: 1024, afterMs: 5_000 }

const isSlow = (size: number, elapsed: number): boolean =>
  size < ((elapsed - LEAST.afterMs) / 1000) * LEAST.bytesPerSecond

interface BodyBounds {
  /** Bytes. */
  readonly limit: number
  readonly setting?: string | undefined
  /** Milliseconds. */
  readonly time: number
  /** Counts bytes that are held in memory; false if there is no room for them. */
  readonly hold: (bytes: number) => boolean
}

export function readBody(raw: IncomingMessage, { limit, setting, time, hold }: BodyBounds): Promise<Buffer | Problem> {
  if (raw.destroyed) return Promise.resolve(BROKEN)
  return new Promise((resolve) => {
    let content: Buffer = Buffer.alloc(0)
    let size = 0
    let elapsed = 0
    const settle = (outcome: Buffer | Problem): void => {
      clearInterval(timer)
      raw.off('data', take).off('end', whole).off('error', broken).off('close', broken)
      // send.ts drops the rest of a refused body.
      raw.pause()
      resolve(outcome)
    }
    // Counted while reading, since a chunked body has no length in advance.
    const take = (chunk: Buffer): void => {
      if (size + chunk.length > limit) settle(tooLarge(limit, setting))
      else if (!hold(chunk.length)) settle(NO_ROOM)
      else {
        content = size === 0 ? chunk : appended(content, size, chunk)
        size += chunk.length
      }
    }
    const whole = (): void => settle(content.subarray(0, size))
    const broken = (): void => settle(BROKEN)
    const interval = Math.min(time, 1_000)
    const timer = setInterval(() => {
      elapsed += interval
      if (elapsed >= time || isSlow(size, elapsed)) settle(LATE)
    }, interval)
    raw.on('data', take).on('end', whole).on('error', broken).on('close', broken)
  })
}

/** Thrown while iterating over a content that is refused or breaks off. */
export class BodyBreak extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** Milliseconds. */
const TICK = 1_000

/**
 * Yields the content in pieces, for contents that are not held in memory. Only the time spent waiting for the client
 * counts towards the limit; the consumer may take as long as it needs.
 */
export async function* streamBody(
  raw: IncomingMessage,
  response: ServerResponse,
  limit: number,
  setting?: string,
): AsyncGenerator<Buffer, void> {
  if (Number(raw.headers['content-length'] ?? 0) > limit) throw new BodyBreak(tooLarge(limit, setting))
  if (raw.destroyed) throw new BodyBreak(BROKEN)
  if (awaitsContinue.delete(raw)) response.writeContinue()
  const pieces = raw.iterator({ destroyOnReturn: false })
  let size = 0
  let waited = 0
  try {
    for (;;) {
      const since = performance.now()
      const next = await inTime(pieces.next(), () => isSlow(size, waited + performance.now() - since))
      if (next.done) return
      // Short waits count too: a client could send one octet just before each tick.
      waited += performance.now() - since
      const piece = next.value as Buffer
      size += piece.length
      if (isSlow(size, waited)) throw new BodyBreak(LATE)
      if (size > limit) throw new BodyBreak(tooLarge(limit, setting))
      yield piece
    }
  } finally {
    // send.ts drops the rest of a refused body.
    raw.pause()
  }
}

async function inTime<T>(promised: Promise<T>, isLate: () => boolean): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => isLate() && reject(new BodyBreak(LATE)), TICK)
  })
  try {
    return await Promise.race([promised.catch(() => Promise.reject(new BodyBreak(BROKEN))), late])
  } finally {
    clearInterval(timer)
  }
}

/** Collects chunks in one growing buffer: a list of one-octet chunks would be many times as large as the content. */
function appended(content: Buffer, size: number, chunk: Buffer): Buffer {
  const needed = size + chunk.length
  if (needed <= content.length) {
    chunk.copy(content, size)
    return content
  }
  const larger = Buffer.allocUnsafe(Math.max(needed, 2 * content.length))
  content.copy(larger, 0, 0, size)
  chunk.copy(larger, size)
  return larger
}

type Fields = Request['fields']

/**
 * Reads the content as text. `refuse` makes the problem for an unsupported coding or charset, or for content that is
 * not UTF-8.
 */
export async function readText(
  { fields, readBody }: Pick<Request, 'fields' | 'readBody'>,
  limit: number,
  refuse: (reason: 'unsupported' | 'malformed', detail: string) => Problem,
  setting?: string,
): Promise<string | Problem> {
  const flaw = codingFlaw(fields) ?? charsetFlaw(fields['content-type'])
  if (flaw !== undefined) return refuse('unsupported', flaw)
  const body = await readBody(limit, setting)
  if (isFailure(body)) return body
  return decodeText(body) ?? refuse('malformed', 'The content is not UTF-8.')
}

/** RFC 9110 §8.4: a message if the content coding is not supported. */
export const codingFlaw = ({ 'content-encoding': coding }: Fields): string | undefined =>
  coding === undefined || coding.trim().toLowerCase() === 'identity'
    ? undefined
    : 'Content codings are not supported. Send the content uncompressed.'

/** RFC 9110 §8.3.2: a message if the charset is not supported. */
export function charsetFlaw(contentType: string | undefined): string | undefined {
  const charset = parseMediaType(contentType ?? '')?.parameters.get('charset')
  return charset === undefined || /^(utf-?8|(us-)?ascii)$/i.test(charset)
    ? undefined
    : `The charset ${charset.slice(0, 100)} is not supported. Use UTF-8.`
}

/** Undefined if the content is not UTF-8. */
export function decodeText(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return undefined
  }
}
