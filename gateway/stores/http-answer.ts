// In charge of judging an answer of the triplestore: a refusal, a flaw, a whole text, or pieces that say when they break off.
import { problem, type Problem } from '../problem.js'
import { problemOf, unreachable, type Answer } from './http-exchange.js'
import { StoreBreak } from './store.js'

const DISCARD_BYTES = 64 * 1024

/** Reads a body to its end, or as far as is cheap, so that its connection can be used again. */
export function discard({ body }: Pick<Answer, 'body'>): undefined {
  void body.dump({ limit: DISCARD_BYTES }).catch(() => undefined)
}

/** The answer if it is a success of the media type asked for, and will show whether it is whole. */
export function wholeOf(answer: Answer, mediaType: string): Answer | Problem {
  if (answer.statusCode !== 200) return refusalOf(answer)
  const { headers } = answer
  const flaw =
    mediaTypeOf(headers['content-type']) !== mediaType
      ? 'is not in the format that was asked for'
      : (headers['content-encoding'] ?? 'identity') !== 'identity'
        ? 'is in a content coding that was not asked for'
        : // RFC 9112 §8: without a length or chunks, an answer that broke off looks like a whole one.
          headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
          ? 'does not say where it ends'
          : undefined
  if (!flaw) return answer
  answer.body.destroy()
  return problem('store.failed', `The answer of the triplestore ${flaw}.`)
}

const mediaTypeOf = (field: string | string[] | undefined): string | undefined =>
  typeof field === 'string' ? field.split(';')[0]!.trim().toLowerCase() : undefined

/** The problem that an answer other than a success is. */
export function refusalOf(answer: Answer): Problem {
  const { statusCode: status, headers } = answer
  discard(answer)
  if (status === 503)
    return unreachable('The triplestore is not available at the moment.', delayOf(headers['retry-after']))
  if (status === 401 || status === 403)
    return problem('store.refused', "The triplestore refused the gateway's credentials.")
  if (status >= 300 && status < 400)
    return problem('store.failed', 'The triplestore answered with a redirection, which is not followed.')
  const code = status >= 400 && status < 500 ? 'store.refused' : 'store.failed'
  return problem(code, `The triplestore answered with status ${status}.`)
}

// RFC 9110 §10.2.3: delay-seconds or an HTTP-date; anything else is not passed on.
const delayOf = (field: string | string[] | undefined): string | undefined =>
  typeof field === 'string' && (/^\d{1,9}$/.test(field) || /^\w{3}, [\w: ]{20} GMT$/.test(field)) ? field : undefined

/** A body as text. `store.too-large` above the limit; `store.failed` where it breaks off, or is not in UTF-8. */
export async function textOf({ headers, body }: Answer, maxBytes: number): Promise<string | Problem> {
  const tooLarge = () =>
    problem('store.too-large', `The answer of the triplestore is above the limit of ${maxBytes} bytes.`)
  if (Number(headers['content-length']) > maxBytes) {
    body.destroy()
    return tooLarge()
  }
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      size += piece.length
      if (size > maxBytes) return tooLarge()
      pieces.push(piece)
    }
  } catch (error) {
    return problemOf(error)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces, size))
  } catch {
    return problem('store.failed', 'The answer of the triplestore is not in UTF-8.')
  }
}

/** A body piece by piece as it comes, for as long as it goes on. Throws a StoreBreak where it breaks off. */
export async function* piecesOf({ body, goesOn }: Answer): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      goesOn()
      yield piece
    }
  } catch (error) {
    throw new StoreBreak(problemOf(error))
  }
}
