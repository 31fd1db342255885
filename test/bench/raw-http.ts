// A client of HTTP/1.1 that does as little work as possible: one request at a time over one connection.
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'

export interface Peer {
  readonly port: number
  /** The PEM of a client's certificate and key, to use TLS. */
  readonly pem?: string
}

export interface Answer {
  readonly status: number
  /** Status line and fields, as received. */
  readonly head: string
  readonly body: Buffer
}

export interface Connection {
  /** Sends one request and returns its whole answer. Throws if the connection breaks. */
  exchange(request: string | Buffer): Promise<Answer>
  close(): void
}

/** The bytes of a request; its content is framed by Content-Length. */
export function requestBytes(
  method: string,
  target: string,
  fields: Readonly<Record<string, string>>,
  body?: string,
): Buffer {
  const framing = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ ...fields, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

export async function openConnection({ port, pem }: Peer): Promise<Connection> {
  const host = '127.0.0.1'
  const socket: Socket =
    pem === undefined
      ? connect({ port, host, noDelay: true })
      : connectTls({ port, host, servername: 'localhost', cert: pem, key: pem, rejectUnauthorized: false })
  await once(socket, pem === undefined ? 'connect' : 'secureConnect')
  let received: Buffer = Buffer.alloc(0)
  let waiting: { resolve(answer: Answer): void; reject(reason: Error): void } | undefined
  const fail = (reason: Error) => {
    waiting?.reject(reason)
    waiting = undefined
    socket.destroy()
  }
  socket.on('data', (piece: Buffer) => {
    received = received.length === 0 ? piece : Buffer.concat([received, piece])
    const answer = wholeAnswer(received)
    if (!answer) return
    received = Buffer.alloc(0)
    const { resolve } = waiting!
    waiting = undefined
    resolve(answer)
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  return {
    exchange: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        if (socket.destroyed) fail(new Error('the connection is closed'))
        else socket.write(request)
      }),
    close: () => void socket.destroy(),
  }
}

/** The answer, once it is complete (RFC 9112 §6.3). */
function wholeAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const content = bytes.subarray(end + 4)
  if (status === 204 || status === 304) return { status, head, body: content }
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length !== undefined) {
    return content.length < Number(length) ? undefined : { status, head, body: content.subarray(0, Number(length)) }
  }
  const body = chunked(content)
  return body && { status, head, body }
}

/** The content of a chunked body, once its last chunk has arrived (RFC 9112 §7.1). */
function chunked(bytes: Buffer): Buffer | undefined {
  if (!bytes.subarray(-5).equals(LAST_CHUNK)) return undefined
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = parseInt(bytes.toString('latin1', at, line), 16)
    if (size === 0) return Buffer.concat(chunks)
    at = line + 2 + size + 2
    if (at > bytes.length) return undefined
    chunks.push(bytes.subarray(line + 2, at - 2))
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')
