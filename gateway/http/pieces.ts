// In charge of bodies that are sent as they come: back-pressure, the field at their end, the cut where they break off.
import type { ServerResponse } from 'node:http'
import type { Response } from './exchange.js'

/** With back-pressure. RFC 9112 §8: an answer that broke off must not look like a whole one, so the connection is cut. */
export async function sendPieces(
  response: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  trailer: Response['trailer'],
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return
      if (!response.write(piece)) await drained(response)
    }
    const value = trailer?.value()
    if (value !== undefined) response.addTrailers([[trailer!.name, value]])
    response.end()
  } catch {
    response.destroy()
  }
}

/** Resolves when there is room again, or the client has left. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    if (response.destroyed) resolve()
    else response.once('drain', done).once('close', done)
  })
