// In charge of every outbound fetch of a URL that somebody else chose: no address that was not checked is connected to,
// each redirect is checked again, nothing is sent but what the caller gave, and size, time and redirects are limited.
import { createSecureContext, rootCertificates } from 'node:tls'
import { makeDestinationCheck, parseHttpUrl, type DestinationRules, type Refusal } from './destination.js'
import { requestPinned, type PinnedAnswer, type TransferFailure } from './pinned-request.js'
import { redirect, type Hop } from './redirect.js'

export interface GuardedFetchSettings extends DestinationRules {
  /** Octets of a body, both as sent and as decoded. Default: 1 MiB. */
  readonly maxBytes?: number
  /** Milliseconds to the header section of each answer, its name look-up included. Default: 5 000. */
  readonly headersTimeout?: number
  /** Milliseconds for the whole, redirects and body included. Default: 10 000. */
  readonly totalTimeout?: number
  /** Default: 3. */
  readonly maxRedirects?: number
  /** Trust anchors in PEM, beside those that Node.js comes with. */
  readonly ca?: string
}

export interface FetchRequest {
  readonly accept: string
  /** Default: GET. */
  readonly method?: string
  /** Further fields. Those of the connection and cookies are left out; to another origin go no others than redirect.ts has. */
  readonly fields?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Whether a redirect is followed, or is the answer. Default: follow. */
  readonly redirects?: 'follow' | 'return'
  readonly signal?: AbortSignal
}

export interface FetchAnswer {
  readonly kind: 'answer'
  /** Where the answer came from, after redirects; without fragment. */
  readonly url: string
  readonly status: number
  /** Lower-cased names. Says nothing of a content coding, which has been undone. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface FetchFailure {
  readonly kind: 'fetch-failure'
  /** `aborted`: by the caller's signal, or by `close`. */
  readonly reason: Refusal | TransferFailure | 'redirects' | 'aborted'
  /** A sentence for people. It names no host or address. */
  readonly detail: string
}

export interface GuardedFetch {
  /** Any status is an answer; what kept one from coming is a failure. Never rejects. */
  fetch(url: string, request: FetchRequest): Promise<FetchAnswer | FetchFailure>
  /** Ends what is under way and refuses what comes. */
  close(): Promise<void>
}

export const isFetchFailure = (value: FetchAnswer | FetchFailure): value is FetchFailure =>
  value.kind === 'fetch-failure'

const DETAIL: Record<FetchFailure['reason'], string> = {
  'refused-address': 'The URL leads to an address that may not be fetched from.',
  'refused-scheme': 'Only http and https URLs are fetched.',
  'refused-port': 'The URL leads to a port that may not be fetched from.',
  malformed: 'The URL, or a field of the request, is malformed.',
  unresolvable: 'The host of the URL has no address.',
  unreachable: 'The connection failed, or broke off.',
  time: 'The answer took too long.',
  'too-large': 'The answer is too large.',
  redirects: 'The URL is redirected too often, or in a way that is not followed.',
  encoding: 'The content coding of the answer is not one that is accepted, or is broken.',
  aborted: 'The fetch was ended.',
}

const failure = (reason: FetchFailure['reason'], code?: string): FetchFailure => ({
  kind: 'fetch-failure',
  reason,
  detail: code ? `${DETAIL[reason]} (${code})` : DETAIL[reason],
})

// Those of the connection, which are the client's own affair, and those that would carry somebody's credentials unseen.
const LEFT_OUT = new Set(
  (
    'accept accept-encoding connection content-length cookie expect host keep-alive proxy-authorization ' +
    'proxy-connection te trailer transfer-encoding upgrade'
  ).split(' '),
)

/** Throws when `never` holds something that is no `host:port`, or `ca` no certificate. */
export function makeGuardedFetch(settings: GuardedFetchSettings): GuardedFetch {
  const { maxBytes = 1_048_576, headersTimeout = 5_000, totalTimeout = 10_000, maxRedirects = 3, ca } = settings
  const check = makeDestinationCheck(settings)
  const secureContext = ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ca] })
  const underWay = new Map<Ending, Promise<unknown>>()
  let closed = false

  async function exchange(hop: Hop, accept: string, ending: Ending): Promise<PinnedAnswer | FetchFailure> {
    const timer = setTimeout(ending.end, headersTimeout, 'time')
    try {
      const addresses = await check(hop.url)
      ending.signal.throwIfAborted()
      if (typeof addresses === 'string') return failure(addresses)
      const answer = await requestPinned({
        ...hop,
        addresses,
        fields: { 'user-agent': 'Triplegate', ...hop.fields, accept, 'accept-encoding': 'identity' },
        secureContext,
        maxBytes,
        connectTimeout: headersTimeout,
        signal: ending.signal,
        onFields: () => clearTimeout(timer),
      })
      return 'broken' in answer ? failure(answer.broken, answer.code) : answer
    } finally {
      clearTimeout(timer)
    }
  }

  async function follow(
    start: Hop,
    { accept, redirects: asked }: FetchRequest,
    ending: Ending,
  ): Promise<FetchAnswer | FetchFailure> {
    let hop = start
    for (let redirects = 0; ; redirects++) {
      const answer = await exchange(hop, accept, ending)
      if ('kind' in answer) return answer
      const { status, fields, body, location } = answer
      if (location === undefined || asked === 'return') {
        return { kind: 'answer', url: hop.url.href, status, fields, body }
      }
      if (redirects >= maxRedirects) return failure('redirects')
      const next = redirect(hop, status, location)
      if (typeof next === 'string') return failure(next)
      hop = next
    }
  }

  async function run(text: string, request: FetchRequest, ending: Ending): Promise<FetchAnswer | FetchFailure> {
    const url = parseHttpUrl(text)
    if (typeof url === 'string') return failure(url)
    if (closed || request.signal?.aborted) return failure('aborted')
    const { method = 'GET', body } = request
    const timer = setTimeout(ending.end, totalTimeout, 'time')
    const abort = (): void => ending.end('aborted')
    request.signal?.addEventListener('abort', abort)
    const start = { url, method, fields: sendable(request.fields), body }
    try {
      // A name look-up cannot be ended: it is left behind.
      return await Promise.race([ending.ended, follow(start, request, ending)])
    } finally {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', abort)
    }
  }

  return {
    async fetch(url, request) {
      const ending = makeEnding()
      const running = run(url, request, ending).finally(() => underWay.delete(ending))
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

/** The end of a fetch before its answer: the first reason given stands. */
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
      resolve(failure(reason))
      controller.abort()
    }
  })
  return { signal: controller.signal, ended, end }
}

function sendable(fields: Readonly<Record<string, string>> = {}): Record<string, string> {
  const lowerCased = Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(lowerCased.filter(([name]) => !LEFT_OUT.has(name)))
}
