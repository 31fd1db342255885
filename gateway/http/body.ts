// In charge of the content of a request: read once, counted while it comes.
import type { IncomingMessage } from 'node:http'
import { problem, type Problem } from '../problem.js'

/** Requests whose client sends the content when it is told to (RFC 9110 §10.1.1). */
export const awaitsContinue = new WeakSet<IncomingMessage>()

export const tooLarge = (limit: number): Problem =>
  problem('content.too-large', `The request body is larger than ${limit} bytes.`)

export async function readBody(raw: IncomingMessage, limit: number): Promise<Buffer | Problem> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length
      // Counted while reading, so that a chunked body cannot go on for ever.
      if (size > limit) return tooLarge(limit)
      chunks.push(chunk as Buffer)
    }
  } catch {
    return problem('request.malformed', 'The request body broke off.')
  }
  return Buffer.concat(chunks)
}
