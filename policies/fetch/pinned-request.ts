// One HTTP request over its own connection to checked addresses, with a bounded answer.
import { isIP, type LookupFunction } from 'node:net'
import type { SecureContext } from 'node:tls'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { buildConnector, Client, errors } from 'undici'
import { fetchFailure, type FetchFailure } from './fetch-failure.js'

export interface PinnedRequest {
  readonly url: URL
  readonly addresses: readonly [string, ...string[]]
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly secureContext?: SecureContext | undefined
  /** The most octets in the body, as sent and as decoded. */
  readonly maxBytes: number
  /** Milliseconds. */
  readonly connectTimeout: number
  readonly signal: AbortSignal
  /** Called when the header section of the response has arrived. */
  readonly onFields: () => void
  readonly take?: TakePiece | undefined
}

/** Receives the body of a successful answer in pieces, as sent. The next piece waits for the promise. */
export type TakePiece = (piece: Buffer) => Promise<unknown>

/** The body is decoded. For a redirect, `location` is set and the body is not read. */
export interface PinnedAnswer {
  readonly status: number
  /** Lower-case names; lines of the same name are joined by commas (RFC 9110 §5.2). Never `set-cookie`. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly location?: string
}

const NO_BODY = Buffer.alloc(0)
const REDIRECTS = [301, 302, 303, 307, 308]

/** One exchange. The connection is closed afterwards, so that no other request uses it. Rejects if aborted. */
export async function requestPinned(request: PinnedRequest): Promise<PinnedAnswer | FetchFailure> {
  const { url, method, signal } = request
  const client = new Client(url.origin, {
    connect: connectTo(request),
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  try {
    const response = await client.request({
      path: url.pathname + url.search,
      method,
      headers: request.fields,
      body: request.body ?? null,
      signal,
    })
    response.body.on('error', () => {})
    request.onFields()
    const fields = fieldsOf(response.headers)
    const { statusCode: status } = response
    // RFC 9110 §15.4
    if (REDIRECTS.includes(status) && fields.location !== undefined) {
      return { status, fields, body: NO_BODY, location: fields.location }
    }
    // RFC 9110 §6.4.1: these answers have no content, whatever their fields say.
    if (method === 'HEAD' || status === 204 || status === 304) return { status, fields, body: NO_BODY }
    if (Number(fields['content-length']) > request.maxBytes) return fetchFailure('too-large')
    if (request.take) {
      if (!PACKED_ALIKE.includes((fields['content-encoding'] ?? '').trim().toLowerCase()))
        return fetchFailure('encoding')
      const isWhole = status > 299 || (await passAtMost(response.body, request.maxBytes, request.take))
      return isWhole ? { status, fields, body: NO_BODY } : fetchFailure('too-large')
    }
    const sent = await readAtMost(response.body, request.maxBytes)
    if (!sent) return fetchFailure('too-large')
    return await decode({ status, fields, body: sent }, request.maxBytes)
  } catch (error) {
    signal.throwIfAborted()
    return brokenBy(error)
  } finally {
    client.destroy().catch(() => {})
  }
}

/** TLS (SNI and certificate) and the Host field use the name; the socket uses only the checked addresses. */
function connectTo({ addresses, secureContext, connectTimeout, signal }: PinnedRequest): buildConnector.connector {
  const [first] = addresses
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_host, options, answer) => {
    queueMicrotask(() => (options.all ? answer(null, all) : answer(null, first, isIP(first))))
  }
  return buildConnector({
    lookup,
    signal,
    autoSelectFamily: true,
    // RFC 8305 §5: the time for one address before the next is tried. Node.js gives more time only to the last address.
    autoSelectFamilyAttemptTimeout: 1_000,
    timeout: connectTimeout,
    maxCachedSessions: 0,
    rejectUnauthorized: true,
    ...(secureContext && { secureContext }),
  })
}

function fieldsOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name === 'set-cookie' ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return Object.fromEntries(entries)
}

/** The octets of the stream; undefined if there are more than `maxBytes`. Then the stream is destroyed. */
async function readAtMost(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | undefined> {
  // One buffer for all chunks: for a sender of single octets, a list of chunks would be many times as large.
  const room = Buffer.allocUnsafe(maxBytes)
  let size = 0
  for await (const chunk of stream) {
    if (size + chunk.length > maxBytes) return undefined
    chunk.copy(room, size)
    size += chunk.length
  }
  return Buffer.from(room.subarray(0, size))
}

async function passAtMost(stream: AsyncIterable<Buffer>, maxBytes: number, take: TakePiece): Promise<boolean> {
  let size = 0
  for await (const chunk of stream) {
    if ((size += chunk.length) > maxBytes) return false
    await take(chunk)
  }
  return true
}

// RFC 9110 §8.4.1
const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** Consumers of pieces recognise gzip by its first bytes, and no other coding. */
const PACKED_ALIKE = ['', 'identity', 'gzip', 'x-gzip']

// These fields describe the body as sent.
const OF_THE_CODING = ['content-encoding', 'content-length']

/** Decodes one content coding, up to `maxBytes`. Several or unknown codings are a failure. */
async function decode(answer: PinnedAnswer, maxBytes: number): Promise<PinnedAnswer | FetchFailure> {
  const codings = (answer.fields['content-encoding'] ?? '').toLowerCase().split(',')
  const [coding, ...others] = codings.map((one) => one.trim()).filter((one) => one !== '' && one !== 'identity')
  if (coding === undefined || answer.body.length === 0) return answer
  const decoder = DECODERS.get(coding)
  if (!decoder || others.length > 0) return fetchFailure('encoding')
  const fields = Object.fromEntries(Object.entries(answer.fields).filter(([name]) => !OF_THE_CODING.includes(name)))
  try {
    return { ...answer, fields, body: await decoder(answer.body, { maxOutputLength: maxBytes }) }
  } catch (error) {
    return fetchFailure(codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'encoding')
  }
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^\w+$/.test(code) ? code : undefined
}

function brokenBy(error: unknown): FetchFailure {
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
    return fetchFailure('malformed')
  }
  if (error instanceof errors.ConnectTimeoutError || codeOf(error) === 'ETIMEDOUT') return fetchFailure('time')
  if (error instanceof errors.HeadersOverflowError) return fetchFailure('too-large')
  return fetchFailure('unreachable', codeOf(error))
}
