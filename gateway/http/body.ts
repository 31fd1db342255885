// In charge of reading the content of a request: once, and counted while reading.
import type { IncomingMessage } from 'node:http'
import { problem, type Problem } from '../problem.js'

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
