// Taking a port before anything else of a start is done, and of giving it to a server later. Until then, who
// connects is disconnected at once.
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

export interface TakenPort {
  readonly port: number
  /** From now on the server gets the connections. It listens at the first address itself. */
  give(server: Server): Promise<void>
  /** Takes no more connections. Resolves when those have ended that the server does not count as its own. */
  close(): Promise<unknown>
}

/** This machine may lack an address of `localhost`: one is enough. */
const LACKING: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/**
 * Takes the port at all addresses of `localhost`, or at the one that is given. Rejects as a server that cannot listen
 * does.
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
  // As the servers of Node.js have it for connections of their own.
  socket.allowHalfOpen = !(server instanceof TlsServer)
  server.emit('connection', socket)
}

const portOf = (door: Server): number => (door.address() as AddressInfo).port

const closed = (doors: readonly Server[]): Promise<unknown> =>
  Promise.all(doors.map((door) => new Promise((resolve) => door.close(resolve))))
