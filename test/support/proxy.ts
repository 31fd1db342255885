// A proxy between gateway and store for tests: records the requests that reach the store, and causes faults.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import httpProxy from 'http-proxy'

export interface Recorded {
  readonly method: string
  /** As sent, with the query string. */
  readonly path: string
  /** The graph named by `?graph=`, decoded. */
  readonly graph: string | undefined
  readonly fields: IncomingHttpHeaders
  readonly body: string
  /** Set when the other side closed the connection before it got its answer. */
  abandoned: boolean
}

/**
 * A fault for all requests that `only` accepts, until another fault is set. `after` counts bytes of the answer's body.
 */
export type Fault = { readonly only?: (request: Recorded) => boolean } & (
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** The request reaches the store when this is resolved. */
  | { readonly kind: 'held'; readonly until: Promise<unknown> }
  /** The request does not reach the store, and is never answered. */
  | { readonly kind: 'silence' }
  /** The connection is dropped before the request reaches the store, or after the store has handled it. */
  | { readonly kind: 'drop'; readonly when: 'before' | 'after' }
  /** After this many bytes of the answer, the connection is cut or stalls. */
  | { readonly kind: 'cut' | 'stall'; readonly after: number; readonly framing: 'chunked' | 'length' | 'close' }
  /** The request does not reach the store, and gets this answer. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly fields?: Record<string, string>
      readonly body?: string | Buffer
    }
  /** The store's answer, with these fields replacing its own. */
  | { readonly kind: 'fields'; readonly fields: Record<string, string> }
)

export interface StoreProxy {
  /** The target as seen through the proxy, without a slash at the end. */
  readonly url: string
  readonly requests: Recorded[]
  fault(next: Fault | undefined): void
  stop(): Promise<void>
}

/** Starts a proxy on the loopback interface; paths below `url` are paths below the target. */
export async function startProxy(target: string, port = 0): Promise<StoreProxy> {
  const { origin, pathname } = new URL(target)
  const proxy = httpProxy.createProxyServer({ target: origin, selfHandleResponse: true, changeOrigin: true })
  const requests: Recorded[] = []
  const faults = new WeakMap<ServerResponse, Fault | undefined>()
  let current: Fault | undefined

  const server = createServer((request, response) => {
    void (async () => {
      const recorded = await recordOf(request)
      requests.push(recorded)
      response.on('close', () => (recorded.abandoned = !response.writableFinished))
      const fault = !current?.only || current.only(recorded) ? current : undefined
      if (fault && (await faultBefore(fault, response))) return
      // The request has already been read, so http-proxy gets its body as another stream.
      const upstream = { buffer: Readable.from(recorded.body ? [recorded.body] : []) }
      faults.set(response, fault)
      proxy.web(request, response, upstream)
    })()
  })
  proxy.on('proxyReq', (upstream, _request, response) => {
    // When the client leaves, http-proxy does not close the request to the store.
    if (response.destroyed) upstream.destroy()
    else response.on('close', () => upstream.destroy())
  })
  proxy.on('proxyRes', (answer, _request, response) => passOn(answer, response, faults.get(response)))
  proxy.on('error', (_error, _request, response) => void response.destroy())

  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname === '/' ? '' : pathname}`,
    requests,
    fault: (next) => (current = next),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function recordOf(request: IncomingMessage): Promise<Recorded> {
  const path = request.url!
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return {
    method: request.method!,
    path,
    graph: new URL(path, 'http://proxy/').searchParams.get('graph') ?? undefined,
    fields: request.headers,
    body: Buffer.concat(pieces).toString(),
    abandoned: false,
  }
}

/** The part of a fault before the store. True if the request must not reach the store. */
async function faultBefore(fault: Fault, response: ServerResponse): Promise<boolean> {
  switch (fault.kind) {
    case 'delay':
      await sleep(fault.milliseconds)
      return false
    case 'held':
      await fault.until
      return false
    case 'silence':
      return true
    case 'drop':
      if (fault.when === 'before') response.destroy()
      return fault.when === 'before'
    case 'answer':
      response.writeHead(fault.status, fault.fields).end(fault.body)
      return true
    default:
      return false
  }
}

function passOn(answer: IncomingMessage, response: ServerResponse, fault: Fault | undefined): void {
  const fields = { ...answer.headers }
  if (fault?.kind === 'drop') return void answer.resume().on('end', () => response.destroy())
  if (fault?.kind === 'cut' || fault?.kind === 'stall') {
    return void passPart(answer, response, fault).catch(() => response.destroy())
  }
  if (fault?.kind === 'fields') Object.assign(fields, fault.fields)
  response.writeHead(answer.statusCode!, fields)
  answer.pipe(response)
}

async function passPart(
  answer: IncomingMessage,
  response: ServerResponse,
  { kind, after, framing }: Extract<Fault, { kind: 'cut' | 'stall' }>,
): Promise<void> {
  const fields = { ...answer.headers }
  delete fields['content-length']
  delete fields['transfer-encoding']
  if (framing === 'length') fields['content-length'] = String(after + 1)
  if (framing === 'close') {
    fields.connection = 'close'
    response.useChunkedEncodingByDefault = false
  }
  response.writeHead(answer.statusCode!, fields)
  let left = after
  for await (const piece of answer as AsyncIterable<Buffer>) {
    const part = piece.subarray(0, left)
    left -= part.length
    await new Promise<void>((written) => response.write(part, () => written()))
    if (left === 0 || response.destroyed) break
  }
  if (kind === 'stall') return
  if (framing === 'close') response.socket?.end()
  else response.destroy()
}
