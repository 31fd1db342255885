// The HTTP requests that commands send to a gateway: with the operator's client certificate, and trusting the
// gateway's own certificate if it is self-signed.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { argumentText, type Option } from './arguments.js'
import type { CommandFailure } from './exit-codes.js'
import type { Arguments } from '../configuration/flags.js'
import type { Environment } from '../configuration/settings.js'

export interface GatewayAnswer {
  readonly status: number
  readonly fields: IncomingHttpHeaders
  readonly body: Buffer
}

/** The URL that requests go to, and the certificates. */
export interface Connection {
  /** The document's URL, with its slash. */
  readonly url: URL
  /** PEM files; undefined: those in the data folder. */
  readonly cert: string | undefined
  readonly cacert: string | undefined
  readonly data: string
}

export interface GatewayClient {
  readonly connection: Connection
  /** True if the requests carry a certificate. */
  readonly identified: boolean
  /** @param query after the document's URL, such as `?timemap`, or nothing */
  send(
    method: string,
    query: string,
    fields: Readonly<Record<string, string>>,
    body?: Buffer,
  ): Promise<GatewayAnswer | CommandFailure>
  close(): void
}

export const CONNECTION_OPTIONS: readonly Option[] = [
  { name: 'cert', value: 'FILE', help: 'PEM with a client certificate and its key (default: {data}/certs/owner.pem)' },
  {
    name: 'cacert',
    value: 'FILE',
    help: "PEM of the server to trust (default: {data}/certs/server.pem, if it is this host's)",
  },
  { name: 'data', value: 'FOLDER', help: 'data folder of the gateway (default: TRIPLEGATE_DATA, else ./data)' },
]

export const connectionOf = (given: Arguments, url: URL, env: Environment): Connection => ({
  url,
  cert: argumentText(given, 'cert'),
  cacert: argumentText(given, 'cacert'),
  data: dataOf(given, env),
})

export const dataOf = (given: Arguments, env: Environment): string =>
  argumentText(given, 'data') ?? (env.TRIPLEGATE_DATA || './data')

const TIME_LIMIT_MS = 60_000
/** More than the largest document in its longest form. */
const MAX_ANSWER = 256 * 1024 * 1024

/** @param timeLimit of each answer, in ms */
export function makeGatewayClient(connection: Connection, timeLimit = TIME_LIMIT_MS): GatewayClient | CommandFailure {
  const { url, cert, cacert, data } = connection
  let pem: string | undefined
  let ca: readonly string[] | undefined
  try {
    pem = cert === undefined ? readIfThere(join(data, 'certs/owner.pem')) : readFileSync(cert, 'utf8')
    ca = cacert === undefined ? authorities(join(data, 'certs/server.pem'), url) : [readFileSync(cacert, 'utf8')]
  } catch (error) {
    const { path, code } = error as NodeJS.ErrnoException
    const detail = `${path ?? data}: cannot be read (${code ?? String(error)}). Give another file.`
    return { failure: 'gateway.unreachable', detail }
  }
  const secure = url.protocol === 'https:'
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, ...(pem && { cert: pem, key: pem }), ...(ca && { ca: [...ca] }) })
    : new HttpAgent({ keepAlive: true })
  const request = secure ? httpsRequest : httpRequest
  return {
    connection,
    identified: secure && pem !== undefined,
    close: () => agent.destroy(),
    send: (method, query, fields, body) =>
      new Promise((resolve) => {
        const fail = (error: unknown): void =>
          resolve({ failure: 'gateway.unreachable', detail: reasonOf(error, url, timeLimit) })
        const headers = { ...fields, ...(body && { 'Content-Length': body.length }) }
        const signal = AbortSignal.timeout(timeLimit)
        try {
          const sent = request(url.href + query, { agent, method, headers, signal }, (answer) => {
            const tooLong = (): void => void sent.destroy(new Error('the answer is too long'))
            answer.on('error', fail)
            readBody(answer, tooLong, (body) => resolve({ status: answer.statusCode!, fields: answer.headers, body }))
          })
          sent.on('error', fail)
          sent.end(body)
        } catch (error) {
          fail(error)
        }
      }),
  }
}

function readBody(answer: IncomingMessage, tooLong: () => void, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MAX_ANSWER) tooLong()
    else chunks.push(chunk)
  })
  answer.on('end', () => done(Buffer.concat(chunks)))
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The usual authorities, and the gateway's own certificate if it is self-signed and names this host. */
function authorities(file: string, { hostname }: URL): readonly string[] | undefined {
  const pem = readIfThere(file)
  if (pem === undefined) return undefined
  try {
    const certificate = new X509Certificate(pem)
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const isNamed = certificate.checkHost(host) ?? certificate.checkIP(host)
    return isNamed && certificate.verify(certificate.publicKey) ? [...rootCertificates, pem] : undefined
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown, { host }: URL, timeLimit: number): string {
  const { code = '', name, message } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError') return `${host}: no answer in ${timeLimit / 1000} s.`
  if (code === 'ECONNREFUSED') return `${host}: no server listens there. Start the gateway, or check the URL.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `${host}: no such host. Check the URL.`
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) {
    return `${host}: its certificate is not trusted (${code}). Give --cacert FILE, or --data FOLDER of the gateway.`
  }
  if (code.startsWith('ERR_OSSL') || /PEM|key values mismatch/i.test(message)) {
    return `the client certificate or its key cannot be used (${message}). Give --cert FILE with both in PEM.`
  }
  return `${host}: ${message}.`
}
