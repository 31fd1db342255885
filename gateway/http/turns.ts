// The order of the requests of one connection. Node.js emits a pipelined request before the earlier ones are answered.
// Here it waits for its turn (RFC 9112 §9.3.2): writes keep their order, and nothing is done after an answer that closes
// the connection (§9.6).
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hasLeft, onceLeft } from './leaving.js'

/** True unless an earlier answer is not sent yet. Cached reads ask this too, so it is one property of Node.js. */
export const isItsTurn = (response: ServerResponse): boolean => response.socket !== null

/** Internal to Node.js: the response that the socket sends now. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null }
/** Undefined if every request has its whole answer. */
export const responseOn = (socket: Answering): ServerResponse | undefined => socket._httpMessage ?? undefined

/** Resolves when all earlier answers have been sent: to false if no answer can follow them. */
export const turn = (raw: IncomingMessage, response: ServerResponse): Promise<boolean> =>
  new Promise<boolean>((resolve) => {
    const forget = onceLeft(raw, response, () => resolve(false))
    response.once('socket', () => {
      forget()
      resolve(true)
    })
  }).then((isOpen) => isOpen && !hasLeft(raw, response) && !raw.socket.writableEnded)
