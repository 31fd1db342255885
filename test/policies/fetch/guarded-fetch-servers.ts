// Servers on loopback for the tests of the guarded fetcher. They record the requests that reach them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server as NetServer } from 'node:net'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly fields: IncomingMessage['headers']
  readonly body: string
}

export interface TestServer {
  readonly port: number
  /** `host:port` */
  readonly authority: string
  /** Requests since the last `forget`. */
  readonly seen: readonly Seen[]
  /** Connections since the last `forget`. */
  connections(): number
  forget(): void
  /** Resolves when no connection is open. */
  idle(): Promise<void>
  close(): Promise<void>
}

export type Respond = (request: Seen, response: ServerResponse) => void

/** Starts a server on 127.0.0.1, with TLS when there is a key with its certificate (`pem`). */
export async function startServer(respond: Respond, pem?: string): Promise<TestServer> {
  const seen: Seen[] = []
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, path: url, fields: headers, body: Buffer.concat(chunks).toString() }
      seen.push(one)
      respond(one, response)
    })
  }
  const server = pem ? createTlsServer({ key: pem, cert: pem }, listener) : createServer(listener)
  return { ...(await listen(server)), seen, forget: forgetter(server, seen) }
}

/** Makes any kind of server listen; counts its connections and closes them at the end. */
export async function listen(server: NetServer): Promise<Omit<TestServer, 'seen' | 'forget'>> {
  const open = new Set<{ destroy(): void }>()
  counts.set(server, 0)
  server.on('connection', (socket) => {
    counts.set(server, counts.get(server)! + 1)
    open.add(socket)
    socket.on('close', () => {
      open.delete(socket)
      if (open.size === 0) server.emit('idle')
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    authority: `127.0.0.1:${port}`,
    connections: () => counts.get(server)!,
    idle: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => server.once('idle', resolve))),
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const counts = new WeakMap<NetServer, number>()
const forgetter = (server: NetServer, seen: Seen[]) => () => {
  seen.length = 0
  counts.set(server, 0)
}
