// Notices that a client has left. Pipelined responses (RFC 9112 §9.3.2) get no 'close' event from Node.js, so this
// listens on the socket as well.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** One listener per socket, however many responses wait on it. */
const WAITING = new WeakMap<Socket, Set<() => void>>()

function waitingOn(socket: Socket): Set<() => void> {
  const known = WAITING.get(socket)
  if (known) return known
  const waiting = new Set<() => void>()
  WAITING.set(socket, waiting)
  socket.once('close', () => {
    for (const left of [...waiting]) left()
  })
  return waiting
}

export const hasLeft = ({ socket }: IncomingMessage, response: ServerResponse): boolean =>
  response.destroyed || socket.destroyed

/**
 * Calls `done` once, when the response or its connection is over, or at once if that has already happened. Returns a
 * function that cancels the call.
 */
export function onceLeft(raw: IncomingMessage, response: ServerResponse, done: () => void): () => void {
  if (hasLeft(raw, response)) {
    done()
    return () => undefined
  }
  const waiting = waitingOn(raw.socket)
  const forget = (): void => {
    waiting.delete(left)
    response.off('close', left)
  }
  const left = (): void => {
    forget()
    done()
  }
  waiting.add(left)
  response.once('close', left)
  return forget
}
