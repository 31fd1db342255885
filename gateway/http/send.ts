// Writes responses, whole or streamed with back-pressure, and drops the unread body of the request.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { awaitsContinue } from './body.js'
import type { Response } from './exchange.js'
import { fieldsOf, type Fields } from './fields.js'
import { hasLeft, onceLeft } from './leaving.js'
import { isPlainHead, readyFields, sendReady } from './ready-head.js'

/** How long an idle connection stays open, in ms. Sent to clients. */
export const KEEP_ALIVE_MS = 65_000

// RFC 9112 §6: a request has content if either framing field is present.
const hasBody = ({ rawHeaders }: IncomingMessage, fields = fieldsOf(rawHeaders)): boolean =>
  fields['transfer-encoding'] !== undefined || Number(fields['content-length'] ?? 0) > 0

/** How much of an unread body is read and dropped after the answer, so that the client receives the answer. */
export const LINGER = { bytes: 32 * 1024 * 1024, ms: 5_000 }

/** If an answer cannot be written, its connection is cut. No answer may end the process. */
export function send(raw: IncomingMessage, response: ServerResponse, answer: Response, own?: Fields): void {
  try {
    write(raw, response, answer, own)
  } catch {
    discard(answer)
    response.destroy()
  }
}

function write(
  raw: IncomingMessage,
  response: ServerResponse,
  { status, fields, ready, body, trailer }: Response,
  own?: Fields,
): void {
  if (hasLeft(raw, response)) return discard({ body })
  const unread = !raw.complete && hasBody(raw, own)
  if (ready && (ready.text !== undefined || !body) && fields.length === 0 && !unread && isPlainHead(response)) {
    sendReady(response, status, ready, KEEP_ALIVE_MS)
    return
  }
  const headers = [...(ready ? readyFields(ready) : []), ...fields].flat()
  if (unread) headers.push('Connection', 'close')
  // RFC 9110 §6.6.2; HTTP/1.0 has no trailer section.
  if (trailer && raw.httpVersion !== '1.0') headers.push('Trailer', trailer.name)
  response.writeHead(status, headers)
  if (body && !Buffer.isBuffer(body)) {
    void sendPieces(raw, response, body, trailer)
    return
  }
  if (!unread) {
    response.end(body)
    return
  }
  // RFC 9112 §9.6: closing with unread bytes in the buffer would reset the connection and lose the answer.
  response.write(body ?? '')
  let size = 0
  const end = (): void => void response.end()
  const timer = setTimeout(end, LINGER.ms)
  raw.on('data', (chunk: Buffer) => (size += chunk.length) > LINGER.bytes && end()).resume()
  raw.once('end', end)
  response.once('close', () => clearTimeout(timer))
  if (awaitsContinue.has(raw)) end()
}

/** Streams with back-pressure. RFC 9112 §8: a broken answer must not look complete, so the connection is cut. */
async function sendPieces(
  raw: IncomingMessage,
  response: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  trailer: Response['trailer'],
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (hasLeft(raw, response)) return
      if (!response.write(piece)) await drained(raw, response)
    }
    const value = trailer?.value()
    if (value !== undefined) response.addTrailers([[trailer!.name, value]])
    response.end()
  } catch {
    response.destroy()
  }
}

/** Resolves when the client can take more, or has left. */
const drained = (raw: IncomingMessage, response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const drain = (): void => {
      forget()
      resolve()
    }
    const forget = onceLeft(raw, response, () => {
      response.off('drain', drain)
      resolve()
    })
    response.once('drain', drain)
  })

/** Stops the source of an answer that will not be sent. */
export function discard({ body }: { readonly body?: Response['body'] | undefined }): void {
  if (body && !Buffer.isBuffer(body))
    void body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => undefined)
}

/** RFC 9110 §9.3.2: HEAD is GET without the content; the fields stay. */
export const withoutBody = ({ status, fields, ready }: Response): Response => ({
  status,
  fields,
  ...(ready && { ready: { head: ready.head, age: ready.age, time: ready.time } }),
})
