// The connections to other servers: from which servers the gateway may fetch, and how much.
import { makeAddressMatcher, type AddressMatcher } from '../../policies/fetch/address.js'
import { makeGuardedFetch, type GuardedFetch, type GuardedFetchSettings } from '../../policies/fetch/guarded-fetch.js'
import type { DescribedDataspace } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import type { Closer } from '../feature.js'
import { isFailure } from '../problem.js'
import { backendsOf } from './open-stores.js'

export interface Fetchers {
  readonly destinations: GuardedFetchSettings & { readonly isOwn: (url: URL) => boolean }
  /** For the gateway's own requests to other servers. */
  readonly own: GuardedFetch
  /** For URLs that agents name. */
  readonly fetcher: GuardedFetch
  /** For LOAD, of URLs that the operator allows. */
  readonly loads: GuardedFetch
}

export function openFetchers(
  settings: Settings,
  described: readonly DescribedDataspace[],
  ports: readonly number[],
  closers: Closer[],
): Fetchers {
  const destinations = {
    allow: matcherOf(settings.allowFetch),
    never: [...backendsOf(described), ...ports.map(ownPort)],
    isOwn: ownUrls(basesOf(described)),
  }
  const own = makeGuardedFetch(destinations)
  const fetcher = makeGuardedFetch({ ...destinations, ...LIMITS_FOR_AGENTS })
  const allowed = new Set(settings.allowService.map((url) => new URL(url).href))
  const isTrusted = (url: URL): boolean => allowed.has(url.href)
  const loads = makeGuardedFetch({ ...destinations, ...LIMITS_FOR_AGENTS, isTrusted })
  closers.push(own.close, fetcher.close, loads.close)
  return { destinations, own, fetcher, loads }
}

export const basesOf = (described: readonly DescribedDataspace[]): string[] =>
  described.flatMap(({ endUser, admin }) => [endUser.base, admin.base])

/** URLs of vocabularies often redirect several times. */
export const FETCH_LIMITS = { maxBytes: 8 * 1024 * 1024, maxRedirects: 5 } as const

/** Limits for requests that the gateway sends on behalf of agents. */
export const LIMITS_FOR_AGENTS = { ...FETCH_LIMITS, headersTimeout: 15_000, totalTimeout: 15_000 } as const

// The gateway's own listeners trust clients on loopback more than others.
const ownPort = (port: number): string => `localhost:${port}`

export function matcherOf(cidrs: readonly string[]): AddressMatcher {
  const matcher = makeAddressMatcher(cidrs)
  if (isFailure(matcher)) throw new TypeError('settings let a malformed address through')
  return matcher
}

/**
 * Tells whether a URL is at the host and port of one of these bases, however it is spelled. The scheme does not count:
 * http redirects to https.
 */
export function ownUrls(bases: readonly string[]): (url: URL) => boolean {
  const authorityOf = ({ hostname, port }: URL): string => `${hostname.replace(/\.$/, '')}:${port}`
  const own = new Set(bases.map((base) => authorityOf(new URL(base))))
  return (url) => own.has(authorityOf(url))
}
