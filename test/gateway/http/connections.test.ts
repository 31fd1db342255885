// Clients that do not take their answers (design 7).
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { makeServerCertificate } from '../../../gateway/agents/make-certificate.js'
import { connectionsOf, makeSweep, sendingOn } from '../../../gateway/http/connections.js'
import { listen } from '../../../gateway/http/listener.js'
import { problemResponse } from '../../../gateway/request/respond.js'
import { until } from '../../support/wait.js'

/** More than the system holds for a connection. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'a')
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

async function opened(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => (server.closeAllConnections(), server.close()))
  return (server.address() as AddressInfo).port
}

/** A client that sends a request and reads nothing until it is resumed. */
function asking(t: Test, port: number, isTls: boolean): Socket {
  const at = { port, host: '127.0.0.1' }
  const socket = isTls ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at)
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined).write(GET)
  return socket.pause()
}

for (const kind of ['http', 'https'] as const)
  void t.test(`${kind}: a sweep ends a connection only if its client takes no more of its answer`, async (t) => {
    const pem = kind === 'https' ? await makeServerCertificate(['localhost'], Date.now()) : ''
    const answer: RequestListener = (_, made) => made.end(LARGE)
    const server = kind === 'https' ? createTlsServer({ cert: pem, key: pem }, answer) : createServer(answer)
    const connections = connectionsOf(server)
    const sweep = makeSweep(connections)
    const port = await opened(t, server)
    const idle = connect(port, '127.0.0.1')
    t.teardown(() => idle.destroy())
    await until(() => connections.size === 1)
    const reader = asking(t, port, kind === 'https')
    const [, served] = await until(() => connections.size === 2 && ([...connections] as [Socket, Socket]))
    const waiting = (): number => sendingOn(served)?.writeQueueSize ?? 0
    await until(() => waiting() > 0)
    for (let i = 0; i < 3; i++) {
      sweep()
      const before = waiting()
      reader.on('data', () => undefined).resume()
      await until(() => waiting() < before - 64 * 1024)
      reader.pause()
    }
    sweep()
    t.equal(served.destroyed, false, 'a slow client is served')
    // What the system holds for the client may still grow for a moment.
    await until(() => (sweep(), served.destroyed))
    await until(() => connections.size === 1)
    t.equal([...connections][0]?.destroyed, false, 'an idle connection stays')
  })

void t.test('the listener gives up a client that does not read its answer', async (t) => {
  let isOver = false
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for (;;) yield LARGE
    } finally {
      isOver = true
    }
  }
  const opened = await listen(
    { port: 0, host: '127.0.0.1', sweepEvery: 20, now: () => 0, nextId: () => 'x', problemResponse },
    () => ({ status: 200, fields: [], body: pieces() }),
  )
  t.teardown(() => opened.close(0))
  asking(t, opened.port, false)
  await until(() => isOver)
})
