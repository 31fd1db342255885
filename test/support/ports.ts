// Ports for tests that must name a port before anything listens on it.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems use for outgoing connections and for listeners on port 0 (Linux: 32768 and above). */
const [FIRST, LAST] = [20_000, 32_000]

const marks = new Map<number, Socket>()

/**
 * A port that no other test here gets until this process stops or releases it, and on which nothing listens now. The
 * reservation is the UDP port with the same number: the system gives it to one process only, and frees it with the
 * process.
 */
export async function freePort(): Promise<number> {
  for (let port = FIRST; port <= LAST; port++) {
    if ((await isReserved(port)) && (await isUnused(port))) return port
  }
  throw new Error(`no port from ${FIRST} to ${LAST} is free`)
}

/** Call this once nothing listens on the port any more. */
export function releasePort(port: number): void {
  marks.get(port)?.close()
  marks.delete(port)
}

async function isReserved(port: number): Promise<boolean> {
  const mark = createSocket('udp4').unref()
  mark.bind({ port, address: '127.0.0.1', exclusive: true })
  return once(mark, 'listening').then(
    () => (marks.set(port, mark), true),
    () => false,
  )
}

/** Checks all addresses, so that a listener on any of them counts. */
async function isUnused(port: number): Promise<boolean> {
  const server = createServer().listen(port)
  return once(server, 'listening').then(
    () => once(server.close(), 'close').then(() => true),
    () => false,
  )
}
