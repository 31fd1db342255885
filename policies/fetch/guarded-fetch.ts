// Every outbound fetch of a URL from a client or document: connects only to checked addresses, checks each redirect
// again, sends only what the caller gave, and limits size, time and redirects.
import { isFailure } from '../failure.js'
import { type CheckDestination, type DestinationRules, makeDestinationCheck, parseHttpUrl } from './destination.js'
import { type FetchFailure, fetchFailure } from './fetch-failure.js'
import { type PinnedAnswer, type TakePiece, requestPinned } from './pinned-request.js'
import { type SecureContext, createSecureContext, rootCertificates } from 'node:tls'

/** The request of one hop, with field names in lower case. */
interface Hop {
  readonly url: URL
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

// Fields that do not identify the agent: what it has cached, what it wants, and the proxies on the way.
const FOR_ANY_ORIGIN = new Set(['accept-language', 'if-modified-since', 'if-none-match', 'via'])

/** The request that a redirect asks for. */
function redirect({ url, method, fields, body }: Hop, status: number, location: string): Hop | FetchFailure {
  const target = parseHttpUrl(location, url)
  if (isFailure(target)) return target
  if (url.protocol === 'https:' && target.protocol === 'http:') return fetchFailure('redirects')
  // RFC 9110 §15.4: fields such as Authorization are meant for one origin.
  const kept = target.origin === url.origin ? fields : only(fields, (name) => FOR_ANY_ORIGIN.has(name))
  // RFC 9110 §15.4.2 to §15.4.4
  if (status === 303 ? method !== 'HEAD' : method === 'POST' && status < 303) {
    return { url: target, method: 'GET', fields: only(kept, (name) => !name.startsWith('content-')) }
  }
  // The body may be a credential too.
  if (body !== undefined && target.origin !== url.origin) return fetchFailure('redirects')
  return { url: target, method, fields: kept, body }
}

const only = (fields: Hop['fields'], isKept: (name: string) => boolean): Hop['fields'] =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)))

export interface GuardedFetchSettings extends DestinationRules {
  /** The most octets in a body, both as sent and decoded. Default: 1 MiB. */
  readonly maxBytes?: number
  /** Milliseconds until the header section of each answer, including the name look-up. Default: 5 000. */
  readonly headersTimeout?: number
  /** Milliseconds for the whole fetch, including redirects and body. Default: 10 000. */
  readonly totalTimeout?: number
  /** Default: 3. */
  readonly maxRedirects?: number
  /** Trust anchors in PEM, in addition to those of Node.js. */
  readonly ca?: string
}

export interface FetchRequest {
  readonly accept: string
  /** Default: GET. */
  readonly method?: string
  /**
   * More fields. Cookies and the connection's fields are dropped; `FOR_ANY_ORIGIN` lists those sent to other origins.
   */
  readonly fields?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Whether redirects are followed or returned as the answer. Default: follow. */
  readonly redirects?: 'follow' | 'return'
  readonly signal?: AbortSignal
  /** Receives the body in pieces, instead of the answer. Content codings are not decoded. */
  readonly take?: TakePiece
}

export interface FetchAnswer {
  /** The URL that answered after redirects, without a fragment. */
  readonly url: string
  readonly status: number
  /** Lower-case names. Fields of a content coding that has been decoded are removed. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface GuardedFetch {
  /** Any status counts as an answer. Never rejects. */
  fetch(url: string, request: FetchRequest): Promise<FetchAnswer | FetchFailure>
  /** Aborts all running fetches and refuses new ones. */
  close(): Promise<void>
}

// Fields of the connection, which the client sets itself, and fields that could carry credentials unnoticed.
const LEFT_OUT = new Set(
  (
    'accept accept-encoding connection content-length cookie expect host keep-alive proxy-authorization ' +
    'proxy-connection te trailer transfer-encoding upgrade'
  ).split(' '),
)

/** The settings of a fetcher, and values derived from them once. */
interface Means {
  readonly check: CheckDestination
  readonly secureContext: SecureContext | undefined
  readonly maxBytes: number
  readonly headersTimeout: number
  readonly totalTimeout: number
  readonly maxRedirects: number
}

/** Throws if `never` contains something that is not `host:port`, or `ca` is not a certificate. */
export function makeGuardedFetch(settings: GuardedFetchSettings): GuardedFetch {
  const { maxBytes = 1_048_576, headersTimeout = 5_000, totalTimeout = 10_000, maxRedirects = 3, ca } = settings
  const check = makeDestinationCheck(settings)
  const secureContext = ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ca] })
  const means = { check, secureContext, maxBytes, headersTimeout, totalTimeout, maxRedirects }
  const underWay = new Map<Ending, Promise<unknown>>()
  let closed = false
  return {
    async fetch(text, request) {
      const url = parseHttpUrl(text)
      if (isFailure(url)) return url
      if (closed || request.signal?.aborted) return fetchFailure('aborted')
      const ending = makeEnding()
      const running = run(means, url, request, ending).finally(() => underWay.delete(ending))
      underWay.set(ending, running)
      return running
    },
    async close() {
      closed = true
      for (const ending of underWay.keys()) ending.end('aborted')
      await Promise.allSettled(underWay.values())
    },
  }
}

async function run(means: Means, url: URL, request: FetchRequest, ending: Ending): Promise<FetchAnswer | FetchFailure> {
  const { method = 'GET', body } = request
  const timer = setTimeout(ending.end, means.totalTimeout, 'time')
  const abort = (): void => ending.end('aborted')
  request.signal?.addEventListener('abort', abort)
  const start = { url, method, fields: sendable(request.fields), body }
  try {
    // A name look-up cannot be aborted, but nothing waits for it any longer.
    return await Promise.race([ending.ended, follow(means, start, request, ending)])
  } finally {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', abort)
  }
}

async function follow(
  means: Means,
  start: Hop,
  { accept, redirects: asked, take }: FetchRequest,
  ending: Ending,
): Promise<FetchAnswer | FetchFailure> {
  let hop = start
  for (let redirects = 0; ; redirects++) {
    const answer = await exchange(means, hop, { accept, take }, ending)
    if (isFailure(answer)) return answer
    const { status, fields, body, location } = answer
    if (location === undefined || asked === 'return') return { url: hop.url.href, status, fields, body }
    if (redirects >= means.maxRedirects) return fetchFailure('redirects')
    const next = redirect(hop, status, location)
    if (isFailure(next)) return next
    hop = next
  }
}

async function exchange(
  { check, secureContext, maxBytes, headersTimeout }: Means,
  hop: Hop,
  { accept, take }: Pick<FetchRequest, 'accept' | 'take'>,
  ending: Ending,
): Promise<PinnedAnswer | FetchFailure> {
  const timer = setTimeout(ending.end, headersTimeout, 'time')
  // Each hop has its own signal, since connections keep their listeners on it until they close.
  const own = new AbortController()
  const abort = (): void => own.abort()
  ending.signal.addEventListener('abort', abort)
  try {
    const addresses = await check(hop.url)
    ending.signal.throwIfAborted()
    if (isFailure(addresses)) return addresses
    return await requestPinned({
      ...hop,
      addresses,
      fields: { 'user-agent': 'Triplegate', ...hop.fields, accept, 'accept-encoding': 'identity' },
      secureContext,
      maxBytes,
      connectTimeout: headersTimeout,
      signal: own.signal,
      onFields: () => clearTimeout(timer),
      take,
    })
  } finally {
    clearTimeout(timer)
    ending.signal.removeEventListener('abort', abort)
  }
}

/** An end of the fetch before its answer. The first reason counts. */
interface Ending {
  readonly signal: AbortSignal
  readonly ended: Promise<FetchFailure>
  end(reason: 'time' | 'aborted'): void
}

function makeEnding(): Ending {
  const controller = new AbortController()
  let end: Ending['end'] = () => {}
  const ended = new Promise<FetchFailure>((resolve) => {
    end = (reason) => {
      resolve(fetchFailure(reason))
      controller.abort()
    }
  })
  return { signal: controller.signal, ended, end }
}

function sendable(fields: Readonly<Record<string, string>> = {}): Record<string, string> {
  const lowerCased = Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(lowerCased.filter(([name]) => !LEFT_OUT.has(name)))
}
