// Speaking HTTP to a gateway in tests: real sockets, exact request-targets, client certificates.
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

export interface Answer {
  readonly status: number
  readonly fields: IncomingHttpHeaders
  /** Alternating names and values, as received. */
  readonly rawFields: readonly string[]
  readonly text: string
  /** The content as received. */
  readonly body: Buffer
  readonly trailers: NodeJS.Dict<string>
}

export interface Send {
  readonly fields?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Uint8Array
  /** Sends the body in chunks, without Content-Length. */
  readonly chunked?: boolean
  /** Waits with the body until the gateway asks for it (RFC 9110 §10.1.1), and for this. */
  readonly meanwhile?: () => Promise<unknown>
}

export interface Client {
  (method: string, target: string, send?: Send): Promise<Answer>
  close(): void
}

export interface Origin {
  readonly port: number
  /** The value of the Host field; `localhost:<port>` by default. */
  readonly host?: string
  /** PEM of the certificate to trust; undefined for plain HTTP. */
  readonly ca?: string
  /** PEM with certificate and key of the client. */
  readonly pem?: string
  /** A loopback address to connect from, such as 127.0.0.2. */
  readonly from?: string
}

/** Long before the gateway closes idle connections, so that no request is sent on one that it is closing. */
const IDLE_MS = 20_000

export function makeClient({ port, host = `localhost:${port}`, ca, pem, from }: Origin): Client {
  const tls = ca !== undefined && { ca, servername: 'localhost', ...(pem && { cert: pem, key: pem }) }
  const kept = { keepAlive: true, timeout: IDLE_MS }
  const agent = tls ? new HttpsAgent({ ...kept, ...tls }) : new HttpAgent(kept)
  const client = (
    method: string,
    target: string,
    { fields = {}, body, chunked, meanwhile }: Send = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { Host: host, ...fields }
      if (body !== undefined && !chunked) Object.assign(headers, { 'Content-Length': Buffer.byteLength(body) })
      if (meanwhile) Object.assign(headers, { Expect: '100-continue' })
      const place = from === undefined ? { hostname: 'localhost' } : { hostname: '127.0.0.1', localAddress: from }
      const options = { agent, ...place, port, method, path: target, headers }
      const sent = tls ? httpsRequest(options) : httpRequest(options)
      sent.on('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const body = Buffer.concat(chunks)
          resolve({
            status: answer.statusCode!,
            fields: answer.headers,
            rawFields: answer.rawHeaders,
            text: body.toString('utf8'),
            body,
            trailers: answer.trailers,
          })
        })
      })
      sent.on('error', reject)
      const finish = (): void => void sent.end(body)
      if (meanwhile) sent.on('continue', () => void meanwhile().then(finish, reject))
      else finish()
    })
  return Object.assign(client, { close: () => agent.destroy() })
}
