// Shares of a listener (design 7): places to wait and room for bodies, per network; slow bodies; connections.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, createServer as createTlsServer, Server as TlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { makeServerCertificate } from '../../../gateway/agents/make-certificate.js'
import { BodyBreak } from '../../../gateway/http/body.js'
import { boundConnections } from '../../../gateway/http/connections.js'
import type { Request, Response } from '../../../gateway/http/exchange.js'
import { listen, type ListenerSettings } from '../../../gateway/http/listener.js'
import { isFailure } from '../../../gateway/problem.js'
import { problemResponse, response } from '../../../gateway/request/respond.js'
import { A_MINUTE, until } from '../../support/wait.js'

const OK = response(200, [['Content-Type', 'text/plain']], Buffer.from('done'))
const [ONE, OTHER, THIRD] = ['192.0.2.1', '192.0.2.2', '192.0.2.3']

interface Opened {
  readonly port: number
  /** The number of requests whose content is being read, or has been read and awaits `release`. */
  readonly reading: () => number
  readonly release: () => void
}

/**
 * A listener behind a trusted proxy, which names the client. It reads each body, and answers after `release` was
 * called.
 */
async function opened(t: Test, settings: Partial<ListenerSettings> = {}, waits = false): Promise<Opened> {
  let reading = 0
  let release = (): void => {}
  const released = new Promise<void>((done) => (release = done))
  const answer = async (request: Request): Promise<Response> => {
    reading++
    const body = await request.readBody(1_000_000)
    if (waits && !isFailure(body)) await released
    reading--
    return isFailure(body) ? problemResponse(body, undefined) : OK
  }
  const all = {
    port: 0,
    host: '127.0.0.1',
    isTrustedProxy: () => true,
    now: () => 0,
    nextId: () => 'x',
    problemResponse,
  }
  const trusted = { isTrustedProxy: (address: string) => address.endsWith('127.0.0.1') }
  const listener = await listen({ ...all, ...trusted, ...settings }, answer)
  t.teardown(() => listener.close(0))
  return { port: listener.port, reading: () => reading, release }
}

interface Sent {
  readonly socket: Socket
  readonly text: () => string
  readonly closed: Promise<unknown>
}

const open = new Set<Socket>()
t.teardown(() => open.forEach((socket) => socket.destroy()))

/** Sends the beginning of a request from this network. */
async function send(port: number, network: string, length: number, begun: string, more = ''): Promise<Sent> {
  const socket = connect(port, '127.0.0.1')
  open.add(socket)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${network}\r\nContent-Length: ${length}\r\n${more}\r\n${begun}`,
  )
  return { socket, text: () => text, closed }
}

const status = ({ text }: Sent): string => text().slice(9, 12)

/** Sends the whole request repeatedly until it is accepted: room becomes free only a moment after a client has left. */
async function admitted(port: number, network: string, length: number): Promise<string> {
  return until(async () => {
    const sent = await send(port, network, length, 'a'.repeat(length))
    await until(() => sent.text() !== '')
    return status(sent) !== '503' && status(sent)
  })
}

void t.test('a network that has used up its quarter of the places is answered 503; others are admitted', async (t) => {
  const { port, reading } = await opened(t, { concurrency: 8 })
  const slow = [await send(port, ONE, 10, ''), await send(port, ONE, 10, '')]
  await until(() => reading() === 2)
  const refused = await send(port, ONE, 4, 'body')
  await until(() => refused.text() !== '')
  t.equal(status(refused), '503')
  t.match(refused.text(), /^Retry-After: 1\r$/m)
  const other = await send(port, OTHER, 4, 'body')
  await until(() => other.text() !== '')
  t.equal(status(other), '200')
  for (const { socket } of slow) socket.destroy()
  await until(() => reading() === 0)
  t.equal(await admitted(port, ONE, 4), '200', 'its places are free when the clients have left')
})

void t.test('pipelined requests free their places when their connection is reset', async (t) => {
  const { port, reading, release } = await opened(t, { concurrency: 8 }, true)
  const begun = `POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${ONE}\r\nContent-Length: 0\r\n\r\n`
  const { socket } = await send(port, ONE, 0, begun.repeat(7))
  await until(() => reading() === 1)
  // The second waits for the first, in a place of its own; the other ones were refused.
  const full = await send(port, ONE, 4, 'body')
  await until(() => full.text() !== '')
  t.equal(status(full), '503')
  socket.resetAndDestroy()
  // The listener has seen the end of the connection before it answers.
  await sleep(50)
  release()
  await until(() => reading() === 0)
  await admitted(port, ONE, 4)
  // Both places are held at the same time.
  for (let i = 0; i < 2; i++) await send(port, ONE, 10, '')
  t.ok(await until(() => reading() === 2))
})

void t.test('IPv6 clients of one /64 share their places', async (t) => {
  const { port, reading } = await opened(t, { concurrency: 4 })
  await send(port, '2001:db8::1', 10, '')
  await until(() => reading() === 1)
  const near = await send(port, '2001:db8::2', 4, 'body')
  const far = await send(port, '2001:db8:0:1::1', 4, 'body')
  await until(() => near.text() !== '' && far.text() !== '')
  t.same([status(near), status(far)], ['503', '200'])
})

void t.test('a body that does not arrive in time is answered 408, and the connection is closed', async (t) => {
  const { port, reading } = await opened(t, { bodyTimeout: 100 })
  const slow = await send(port, ONE, 10, 'abc')
  await until(() => slow.text() !== '')
  t.equal(status(slow), '408')
  t.match(slow.text(), /^Connection: close\r$/m)
  t.match(slow.text(), /sc#RequestTimeout|RequestTimeout/)
  t.equal(reading(), 0)
})

void t.test('a body below the least rate is answered 408 long before the time limit', async (t) => {
  const { port } = await opened(t, { bodyTimeout: 2 * A_MINUTE })
  const slow = await send(port, ONE, 100_000, 'a')
  const drip = setInterval(() => slow.socket.write('a'), 200)
  t.teardown(() => clearInterval(drip))
  await until(() => slow.text() !== '')
  t.equal(status(slow), '408')
})

void t.test('room for bodies: a quarter for one network, and a total limit; answers free it', async (t) => {
  const { port, reading, release } = await opened(t, { bodyRoom: { each: 300, all: 500 } }, true)
  const held = [await send(port, ONE, 300, 'a'.repeat(300)), await send(port, OTHER, 150, 'a'.repeat(150))]
  await until(() => reading() === 2)
  const rows: [network: string, length: number, expected: string][] = [
    [ONE, 1, '503'],
    [THIRD, 100, '503'],
    [THIRD, 0, '200'],
  ]
  const sent: Sent[] = []
  for (const [network, length] of rows) sent.push(await send(port, network, length, 'a'.repeat(length)))
  await until(() => sent.slice(0, 2).every(({ text }) => text() !== ''))
  release()
  await until(() => [...sent, ...held].every(({ text }) => text() !== ''))
  t.same(
    sent.map(status),
    rows.map(([, , expected]) => expected),
  )
  t.same(held.map(status), ['200', '200'])
  for (const { socket } of held) socket.destroy()
  t.equal(await admitted(port, ONE, 300), '200')
})

void t.test('a body that grows beyond the room is refused while reading', async (t) => {
  const { port } = await opened(t, { bodyRoom: { each: 50, all: 200 } })
  const socket = connect(port, '127.0.0.1')
  open.add(socket)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  for (let i = 0; i < 4; i++) socket.write(`14\r\n${'a'.repeat(20)}\r\n`)
  await until(() => text !== '')
  t.match(text, /^HTTP\/1\.1 503 /)
})

void t.test('a body of many chunks is whole', async (t) => {
  const bodies: string[] = []
  const answer = async (request: Request): Promise<Response> => {
    const body = await request.readBody(1_000_000)
    bodies.push(isFailure(body) ? body.detail : body.toString())
    return OK
  }
  const listener = await listen(
    { port: 0, host: '127.0.0.1', now: () => 0, nextId: () => 'x', problemResponse },
    answer,
  )
  t.teardown(() => listener.close(0))
  const sizes = [1, 1, 2, 700, 1, 40_000, 3, 90_000]
  const body = sizes.map((size, i) => String(i).repeat(size)).join('')
  const socket = connect(listener.port, '127.0.0.1')
  open.add(socket)
  socket.on('error', () => undefined).resume()
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  for (const [i, size] of sizes.entries()) {
    socket.write(`${size.toString(16)}\r\n${String(i).repeat(size)}\r\n`)
    await sleep(2)
  }
  socket.write('0\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n')
  await until(() => bodies.length === 2)
  t.ok(bodies[0] === body)
  t.equal(bodies[1], '', 'the connection is usable')
})

void t.test(
  'a streamed body arrives in pieces, as slowly as they are consumed, within its limit and rate',
  async (t) => {
    const outcomes: string[] = []
    const answer = async (request: Request): Promise<Response> => {
      let size = 0
      try {
        for await (const piece of request.streamBody(1_000_000)) {
          size += piece.length
          if (request.requestTarget === '/slow') await sleep(20)
          if (request.requestTarget === '/stops') break
        }
        outcomes.push(`${size}`)
      } catch (error) {
        if (!(error instanceof BodyBreak)) throw error
        outcomes.push(error.problem.failure)
        return problemResponse(error.problem, undefined)
      }
      return OK
    }
    const plain = { port: 0, host: '127.0.0.1', now: () => 0, nextId: () => 'x', problemResponse }
    const listener = await listen(plain, answer)
    t.teardown(() => listener.close(0))
    const exchange = async (head: string, chunks: readonly string[], ends = true): Promise<string> => {
      const socket = connect(listener.port, '127.0.0.1')
      open.add(socket)
      let text = ''
      socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined)
      socket.write(`POST ${head}`)
      for (const chunk of chunks) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      if (!ends) return ''
      if (head.includes('chunked')) socket.write('0\r\n\r\n')
      await until(() => text !== '')
      return text.split(' ', 2)[1]!
    }
    const chunked = 'HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const piece = 'a'.repeat(100_000)
    const rows: [name: string, head: string, chunks: readonly string[], status: string, outcome: string][] = [
      ['within its limit', `/ ${chunked}`, [piece, piece, 'b'], '200', '200001'],
      ['taken slowly', `/slow ${chunked}`, [piece, piece], '200', '200000'],
      ['larger than its limit', `/ ${chunked}`, Array<string>(12).fill(piece), '413', 'content.too-large'],
      [
        'declared too large',
        '/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n',
        [],
        '413',
        'content.too-large',
      ],
      ['without a content', '/ HTTP/1.1\r\nHost: x\r\n\r\n', [], '200', '0'],
      ['left unread', `/stops ${chunked}`, [piece, piece], '200', ''],
    ]
    for (const [name, head, chunks, expected, outcome] of rows) {
      t.equal(await exchange(head, chunks), expected, name)
      if (outcome !== '') t.equal(outcomes.at(-1), outcome, name)
    }
    const before = outcomes.length
    await exchange(`/ ${chunked}`, ['x'], false)
    const socket = connect(listener.port, '127.0.0.1')
    open.add(socket)
    socket.on('error', () => undefined).resume()
    socket.write(`POST / ${chunked}`)
    const dripping = setInterval(() => socket.write('1\r\nx\r\n'), 300)
    t.teardown(() => clearInterval(dripping))
    await until(() => outcomes.length > before + 1)
    t.same(outcomes.slice(before), ['content.time', 'content.time'], 'one that stops, one that sends octets singly')
  },
)

void t.test('a body that is declared too large, or finds no room, does not get 100 (Continue)', async (t) => {
  const { port } = await opened(t, { bodyRoom: { each: 50, all: 200 } })
  for (const [length, expected] of [
    [2_000_000, '413'],
    [100, '503'],
  ] as const) {
    const sent = await send(port, ONE, length, '', 'Expect: 100-continue\r\n')
    await sent.closed
    t.equal(status(sent), expected)
  }
  const sent = await send(port, ONE, 4, '', 'Expect: 100-continue\r\n')
  await until(() => sent.text() !== '')
  t.equal(status(sent), '100')
})

void t.test('the connections of a network are limited, also over TLS; closing one makes room', async (t) => {
  const pem = await makeServerCertificate(['localhost'], Date.now())
  for (const server of [createServer(), createTlsServer({ cert: pem, key: pem })]) await connectionRows(t, server)
})

const connections = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))

async function connectionRows(t: Test, server: Server): Promise<void> {
  boundConnections(server, 2, () => false)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const isTls = server instanceof TlsServer
  const connected = async (): Promise<Sent> => {
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1')
    open.add(socket)
    const closed = new Promise((done) => socket.once('close', done))
    socket.on('error', () => undefined).resume()
    await Promise.race([closed, once(socket, isTls ? 'secureConnect' : 'connect').catch(() => undefined)])
    return { socket, closed, text: () => '' }
  }
  const [first] = [await connected(), await connected()]
  await (
    await connected()
  ).closed
  first!.socket.destroy()
  await until(() => connections(server).then((count) => count === 1))
  const last = await connected()
  // The connection stays open.
  t.equal(await Promise.race([last.closed.then(() => 'closed'), sleep(100).then(() => 'open')]), 'open')
  for (const socket of open) socket.destroy()
}
