// The content of a request: read once, bounded while it arrives, and decoded where it is text.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request } from './exchange.js'
import { parseMediaType } from './media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'

/** Requests whose client waits for 100 (Continue) before it sends the content (RFC 9110 §10.1.1). */
export const awaitsContinue = new WeakSet<IncomingMessage>()

/** The setting that most contents are bounded by. */
export const MAX_BODY = '--max-body'

/** @param setting that the limit is, if any: operators can change it. */
export const tooLarge = (limit: number, setting?: string): Problem =>
  problem('content.too-large', `The request body is larger than ${limit} bytes${setting ? ` (${setting})` : ''}.`)

/** Bytes of the content, where the client says it. */
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

/** The least rate of a body, and the time until it is measured: less is a client that only holds a place. */
const LEAST = { bytesPerSecond: 1024, afterMs: 5_000 }

const isSlow = (size: number, elapsed: number): boolean =>
  size < ((elapsed - LEAST.afterMs) / 1000) * LEAST.bytesPerSecond

interface BodyBounds {
  /** Bytes. */
  readonly limit: number
  readonly setting?: string | undefined
  /** Milliseconds. */
  readonly time: number
  /** Counts bytes that are held; false where there is no room for them. */
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
      // send.ts drops the rest of a body that is refused.
      raw.pause()
      resolve(outcome)
    }
    // Counted while reading: a chunked body has no length in advance.
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

/** Thrown by the iteration over a content that is refused, or breaks off. */
export class BodyBreak extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** Milliseconds. */
const TICK = 1_000

/**
 * The content piece by piece, for one that is not held in memory. Only the time in which the gateway waits for the
 * client counts: it may take its pieces as slowly as it works.
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
      // Also short waits count: a client may send an octet just before each tick.
      waited += performance.now() - since
      const piece = next.value as Buffer
      size += piece.length
      if (isSlow(size, waited)) throw new BodyBreak(LATE)
      if (size > limit) throw new BodyBreak(tooLarge(limit, setting))
      yield piece
    }
  } finally {
    // send.ts drops the rest of a body that is refused.
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

/** Into one buffer, which grows: a list of chunks of single octets would be many times as large as the content. */
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
 * The content of a request as text. `refuse` makes the problem of content that is in a coding or a charset that is not
 * supported, or that is not UTF-8.
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

/** RFC 9110 §8.4: a sentence about a content coding that is not supported. */
export const codingFlaw = ({ 'content-encoding': coding }: Fields): string | undefined =>
  coding === undefined || coding.trim().toLowerCase() === 'identity'
    ? undefined
    : 'Content codings are not supported: send the content as it is.'

/** RFC 9110 §8.3.2: a sentence about a charset that is not supported. */
export function charsetFlaw(contentType: string | undefined): string | undefined {
  const charset = parseMediaType(contentType ?? '')?.parameters.get('charset')
  return charset === undefined || /^(utf-?8|(us-)?ascii)$/i.test(charset)
    ? undefined
    : `The charset ${charset.slice(0, 100)} is not supported, only UTF-8 is.`
}

/** Undefined where the content is not UTF-8. */
export function decodeText(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return undefined
  }
}
