// In charge of the content of a request: read once, bounded while it arrives, and decoded where it is text.
import type { IncomingMessage } from 'node:http'
import type { Request } from './exchange.js'
import { parseMediaType } from './media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'

/** Requests whose client waits for 100 (Continue) before it sends the content (RFC 9110 §10.1.1). */
export const awaitsContinue = new WeakSet<IncomingMessage>()

export const tooLarge = (limit: number): Problem =>
  problem('content.too-large', `The request body is larger than ${limit} bytes.`)

export async function readBody(raw: IncomingMessage, limit: number): Promise<Buffer | Problem> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length
      // Counted while reading: a chunked body has no length in advance.
      if (size > limit) return tooLarge(limit)
      chunks.push(chunk as Buffer)
    }
  } catch {
    return problem('request.malformed', 'The request body broke off.')
  }
  return Buffer.concat(chunks)
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
): Promise<string | Problem> {
  const flaw = codingFlaw(fields) ?? charsetFlaw(fields['content-type'])
  if (flaw !== undefined) return refuse('unsupported', flaw)
  const body = await readBody(limit)
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
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)
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
