// A bare Fastify route for comparison, as a process: it sends the same bytes and fields for every request. It reads
// them as JSON from standard input, and writes its port to standard output.
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'

export interface BareRoute {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  /** Base64. */
  readonly body: string
  /** PEM of certificate and key, to use TLS. */
  readonly tls?: string
}

const { path, fields, body, tls } = JSON.parse(await text(process.stdin)) as BareRoute
const content = Buffer.from(body, 'base64')
const https = tls === undefined ? {} : { https: { cert: tls, key: tls, requestCert: true, rejectUnauthorized: false } }
const app = fastify({ ...https, logger: false, keepAliveTimeout: 65_000 })
app.get(path, (_request, reply) => reply.headers(fields).send(content))
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`)
process.once('SIGTERM', () => process.exit(0))
