// In charge of the HTTP requests of the commands about documents: with the client certificate of whoever runs them, and with
// the gateway's own certificate trusted where that is self-signed.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import type { HistoryArguments } from './history-arguments.js'

export interface Answer {
  readonly status: number
  readonly fields: IncomingHttpHeaders
  readonly body: Buffer
}

/** Why there is no answer, and the mend. */
export interface Failure {
  readonly failure: string
}

export interface GatewayClient {
  /** Whether the requests carry a certificate. */
  readonly identified: boolean
  /** @param query after the document's URL, such as `?timemap`, or nothing */
  send(
    method: string,
    query: string,
    fields: Readonly<Record<string, string>>,
    body?: Buffer,
  ): Promise<Answer | Failure>
  close(): void
}

export const isFailure = (value: object): value is Failure => 'failure' in value

/** The URL that requests go to, and whom they come from. */
export type Connection = Pick<HistoryArguments, 'url' | 'cert' | 'cacert' | 'data'>

const TIME_LIMIT_MS = 60_000
/** More than the largest document in its longest form. */
const MAX_ANSWER = 256 * 1024 * 1024

export function makeGatewayClient({ url, cert, cacert, data }: Connection): GatewayClient | Failure {
  let pem: string | undefined
  let ca: string | undefined
  try {
    pem = cert === undefined ? readIfThere(join(data, 'certs/owner.pem')) : readFileSync(cert, 'utf8')
    ca = cacert === undefined ? ownServer(join(data, 'certs/server.pem'), url) : readFileSync(cacert, 'utf8')
  } catch (error) {
    const { path, code } = error as NodeJS.ErrnoException
    return { failure: `${path ?? data}: cannot be read (${code ?? String(error)}). Give another file.` }
  }
  const secure = url.protocol === 'https:'
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, ...(pem && { cert: pem, key: pem }), ...(ca && { ca }) })
    : new HttpAgent({ keepAlive: true })
  const request = secure ? httpsRequest : httpRequest
  return {
    identified: secure && pem !== undefined,
    close: () => agent.destroy(),
    send: (method, query, fields, body) =>
      new Promise((resolve) => {
        const fail = (error: unknown): void => resolve({ failure: reasonOf(error, url) })
        const headers = { ...fields, ...(body && { 'Content-Length': body.length }) }
        const signal = AbortSignal.timeout(TIME_LIMIT_MS)
        try {
          const sent = request(url.href + query, { agent, method, headers, signal }, (answer) => {
            const chunks: Buffer[] = []
            let length = 0
            answer.on('data', (chunk: Buffer) => {
              length += chunk.length
              if (length > MAX_ANSWER) sent.destroy(new Error('the answer is too long'))
              else chunks.push(chunk)
            })
            answer.on('error', fail)
            answer.on('end', () =>
              resolve({ status: answer.statusCode!, fields: answer.headers, body: Buffer.concat(chunks) }),
            )
          })
          sent.on('error', fail)
          sent.end(body)
        } catch (error) {
          fail(error)
        }
      }),
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The gateway's certificate, where it is its own issuer and names this host; else the usual authorities are trusted. */
function ownServer(file: string, { hostname }: URL): string | undefined {
  const pem = readIfThere(file)
  if (pem === undefined) return undefined
  try {
    const certificate = new X509Certificate(pem)
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const isNamed = certificate.checkHost(host) ?? certificate.checkIP(host)
    return isNamed && certificate.verify(certificate.publicKey) ? certificate.toString() : undefined
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown, { host }: URL): string {
  const { code = '', name, message } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError') return `${host}: no answer in ${TIME_LIMIT_MS / 1000} s.`
  if (code === 'ECONNREFUSED') return `${host}: nobody listens there. Start the gateway, or check the URL.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `${host}: no such host. Check the URL.`
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) {
    return `${host}: its certificate is not trusted (${code}). Give --cacert FILE, or --data FOLDER of the gateway.`
  }
  if (code.startsWith('ERR_OSSL') || /PEM|key values mismatch/i.test(message)) {
    return `the client certificate or its key cannot be used (${message}). Give --cert FILE with both in PEM.`
  }
  return `${host}: ${message}.`
}
