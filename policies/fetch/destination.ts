// Decides where an outbound request may go, by its URL and by the addresses of its host.
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { canonicalAddress, isLoopback, isPublicAddress, NO_ADDRESS, type AddressMatcher } from './address.js'
import { fetchFailure, type FetchFailure } from './fetch-failure.js'
import { makeNameLookup, type Lookup } from './name-lookup.js'

export interface DestinationRules {
  /** Non-public addresses that may be reached, on any port. Default: none. */
  readonly allow?: AddressMatcher
  /** `host:port` of the backends: never reached under any name or address, even if `allow` includes it. */
  readonly never: readonly string[]
  /** URLs of this server: never fetched, whatever the address of their host. Default: none. */
  readonly isOwn?: (url: URL) => boolean
  /** URLs from the configuration: allowed at any address except those of `never`, on any port. Default: none. */
  readonly isTrusted?: (url: URL) => boolean
  /** Default: 80 and 443. */
  readonly ports?: readonly number[]
  /** Default: name-lookup.ts; for backends the system's resolver, which their own connections use too. */
  readonly lookup?: Lookup
}

/** The checked addresses to connect to. Never rejects. */
export type CheckDestination = (url: URL) => Promise<readonly [string, ...string[]] | FetchFailure>

// RFC 3986 §2: characters that no URL contains. Node.js would read a backslash as a slash, and drop tabs and line ends.
const NOT_IN_URLS = /[\u0000-\u0020\u007f\\]/

/** An absolute http or https URL without user information, its fragment dropped. `base` is for relative references. */
export function parseHttpUrl(text: string, base?: URL): URL | FetchFailure {
  if (text.length > 8192 || NOT_IN_URLS.test(text) || !URL.canParse(text, base?.href)) return fetchFailure('malformed')
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fetchFailure('refused-scheme')
  // RFC 9110 §4.2.4: user information is deprecated; it misleads people, and it is a credential.
  if (url.username || url.password) return fetchFailure('malformed')
  url.hash = ''
  return url
}

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** The host without the brackets of an IPv6 address and the dot of the DNS root. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

function parseHostPort(entry: string): URL {
  if (!/^[^/?#@\\\s]+:\d+$/.test(entry)) throw new TypeError(`Not a host and port: ${entry}`)
  return new URL(`http://${entry}`)
}

/** Throws if an entry of `never` is not `host:port`. */
export function makeDestinationCheck(rules: DestinationRules): CheckDestination {
  const { allow = NO_ADDRESS, ports = [80, 443], isOwn = () => false, isTrusted = () => false } = rules
  const lookup = rules.lookup ?? makeNameLookup()
  const lookupBackend = rules.lookup ?? ((host: string) => systemLookup(host, { all: true }))
  const backends = rules.never.map(parseHostPort)

  return async (url) => {
    if (isOwn(url)) return fetchFailure('refused-address')
    const [first, ...others] = await addressesOf(url, lookup)
    if (first === undefined) return fetchFailure('unresolvable')
    const addresses = [first, ...others] as const
    const allowed = isTrusted(url) || addresses.every((address) => allow.matches(address))
    const reachable = allowed || addresses.every((address) => allow.matches(address) || isPublicAddress(address))
    if (!reachable) return fetchFailure('refused-address')
    if (!allowed && !ports.includes(portOf(url))) return fetchFailure('refused-port')
    if (await isBackend(url, addresses, backends, lookupBackend)) return fetchFailure('refused-address')
    return addresses
  }
}

async function addressesOf(url: URL, lookup: Lookup): Promise<string[]> {
  const host = hostOf(url)
  if (isIP(host)) return [host]
  return (await lookup(host).catch(() => [])).map(({ address }) => address)
}

async function isBackend(
  url: URL,
  addresses: readonly string[],
  backends: readonly URL[],
  lookup: Lookup,
): Promise<boolean> {
  for (const backend of backends.filter((one) => portOf(one) === portOf(url))) {
    if (hostOf(backend) === hostOf(url)) return true
    const theirs = (await addressesOf(backend, lookup)).map(machineOf)
    // A backend whose addresses are unknown could be at any address.
    if (theirs.length === 0 || addresses.some((address) => theirs.includes(machineOf(address)))) return true
  }
  return false
}

/** One name for all addresses of this machine: a server may listen on all of them. */
function machineOf(address: string): string {
  const canonical = canonicalAddress(address) ?? address
  const own = Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === canonical))
  return own || isLoopback(address) ? 'this machine' : canonical
}
