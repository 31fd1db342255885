// The open connections of a server. Limits those of one network, since even idle ones and unfinished handshakes cost
// memory, and ends those whose clients do not take their answers.
import type { Server, Socket } from 'node:net'
import { clientNetwork } from '../../policies/fetch/address.js'

/** Connections over the limit are closed before TLS. Trusted proxies are exempt, since they carry many clients. */
export function boundConnections(server: Server, each: number, isTrustedProxy: (address: string) => boolean): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isTrustedProxy(address)) return
    const network = clientNetwork(address) ?? ''
    const before = open.get(network) ?? 0
    if (before >= each) {
      socket.destroy()
      return
    }
    open.set(network, before + 1)
    socket.once('close', () => {
      const left = open.get(network)! - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}

/** All open connections, also those that Node.js does not track: unfinished handshakes, and sockets after CONNECT. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/** Milliseconds. */
const SWEEP_MS = 60_000
/** A client takes so many bytes of its answer from one sweep to the next: a slower one only holds memory (design 7). */
const LEAST_BYTES = 64 * 1024

/** The bytes that Node.js has given to the system, and those of them that the system has not taken yet. */
type Sending = Readonly<Record<'bytesWritten' | 'writeQueueSize', number>>

/** Internal to Node.js, which asks it for the same in its own time limit of sockets. Undefined if nothing waits. */
export function sendingOn(socket: Socket): Sending | undefined {
  const handle = (socket as Socket & { readonly _handle?: Sending | null })._handle
  if (!handle?.writeQueueSize) return undefined
  return { bytesWritten: handle.bytesWritten, writeQueueSize: handle.writeQueueSize }
}

/** Ends the connections of which the same bytes wait as at the sweep before, but for a few. */
export function makeSweep(connections: Iterable<Socket>): () => void {
  let before = new Map<Socket, Sending>()
  return () => {
    const waiting = new Map<Socket, Sending>()
    for (const socket of connections) {
      const now = sendingOn(socket)
      if (!now) continue
      const last = before.get(socket)
      const taken = last?.bytesWritten === now.bytesWritten ? last.writeQueueSize - now.writeQueueSize : LEAST_BYTES
      if (taken < LEAST_BYTES) socket.destroy()
      else waiting.set(socket, now)
    }
    before = waiting
  }
}

/** Sweeps until the server has closed. One timer for all connections: a cached read must not pay for one of its own. */
export function sweepRegularly(server: Server, connections: Iterable<Socket>, every = SWEEP_MS): void {
  const timer = setInterval(makeSweep(connections), every).unref()
  server.once('close', () => clearInterval(timer))
}
