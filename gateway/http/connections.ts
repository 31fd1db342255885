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
