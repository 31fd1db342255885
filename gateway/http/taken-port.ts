// Takes a port before the rest of a start, and hands it to a server later. Until then, every connection is closed at
// once.
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

export interface TakenPort {
  readonly port: number
  /** From now on the server gets the connections. It listens on the first address itself. */
  give(server: Server): Promise<void>
  /** Accepts no more connections. Resolves when all connections that the server does not track have ended. */
  close(): Promise<unknown>
}

/** The machine may lack one of the addresses of `localhost`: one is enough. */
const LACKING: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/**
 * Takes the port on all addresses of `localhost`, or on the given one. Rejects with the error of a failing `listen`.
 */
export async function takePort(port: number, host = 'localhost'): Promise<TakenPort> {
  const addresses = host === 'localhost' ? (await lookup(host, { all: true })).map(({ address }) => address) : [host]
  const doors: Server[] = []
  let lacking: unknown
  for (const address of new Set(addresses)) {
    try {
      doors.push(await doorAt(address, doors.length > 0 ? portOf(doors[0]!) : port))
    } catch (error) {
      if (LACKING.includes((error as NodeJS.ErrnoException).code)) lacking = error
      else {
        await closed(doors)
        throw error
      }
    }
  }
  const [first, ...others] = doors
  if (!first) throw lacking
  let own = doors
  return {
    port: portOf(first),
    async give(server) {
      own = others
      server.listen(first)
      await once(server, 'listening')
      for (const door of others) door.off('connection', drop).on('connection', (socket) => hand(socket, server))
    },
    close: () => closed(own),
  }
}

async function doorAt(host: string, port: number): Promise<Server> {
  const door = createServer({ noDelay: true }).on('connection', drop).listen({ host, port })
  await once(door, 'listening')
  return door
}

const drop = (socket: Socket): unknown => socket.destroy()

function hand(socket: Socket, server: Server): void {
  // Servers of Node.js do the same for their own connections.
  socket.allowHalfOpen = !(server instanceof TlsServer)
  server.emit('connection', socket)
}

const portOf = (door: Server): number => (door.address() as AddressInfo).port

const closed = (doors: readonly Server[]): Promise<unknown> =>
  Promise.all(doors.map((door) => new Promise((resolve) => door.close(resolve))))
