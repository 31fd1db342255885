// In charge of deciding where an outbound request may go: the URL as given, and the addresses that its host stands for.
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { canonicalAddress, isLoopback, isPublicAddress, NO_ADDRESS, type AddressMatcher } from './address.js'

/** All addresses of a host name; rejects when it has none. */
export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>

export interface DestinationRules {
  /** Addresses that may be reached although they are not public, on any port. Default: none. */
  readonly allow?: AddressMatcher
  /** `host:port` of the backends: never reached, under any of their names and addresses, allowed or not. */
  readonly never: readonly string[]
  /** URLs of this server itself: never fetched, wherever their host leads. Default: none. */
  readonly isOwn?: (url: URL) => boolean
  /** Default: 80 and 443. */
  readonly ports?: readonly number[]
  /** Default: the operating system's resolver. */
  readonly lookup?: Lookup
}

export type Refusal = 'refused-address' | 'refused-scheme' | 'refused-port' | 'malformed' | 'unresolvable'

/** The addresses to connect to, every one of them checked, or why there is no going there. Never rejects. */
export type CheckDestination = (url: URL) => Promise<readonly [string, ...string[]] | Refusal>

// RFC 3986 §2: what no URL holds. Node.js would take a backslash for a slash, and drop tabs and line ends.
const NOT_IN_URLS = /[\u0000-\u0020\u007f\\]/

/** An absolute http or https URL without user information, its fragment dropped. `base` is for relative references. */
export function parseHttpUrl(text: string, base?: URL): URL | 'malformed' | 'refused-scheme' {
  if (text.length > 8192 || NOT_IN_URLS.test(text) || !URL.canParse(text, base?.href)) return 'malformed'
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'refused-scheme'
  // RFC 9110 §4.2.4: user information is deprecated; it misleads people, and is a credential.
  if (url.username || url.password) return 'malformed'
  url.hash = ''
  return url
}

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

// Without the brackets of an IPv6 address and the dot of the DNS root.
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

function parseHostPort(entry: string): URL {
  if (!/^[^/?#@\\\s]+:\d+$/.test(entry)) throw new TypeError(`Not a host and port: ${entry}`)
  return new URL(`http://${entry}`)
}

/** Throws when an entry of `never` is no `host:port`. */
export function makeDestinationCheck(rules: DestinationRules): CheckDestination {
  const { allow = NO_ADDRESS, ports = [80, 443], isOwn = () => false } = rules
  const lookup = rules.lookup ?? ((host: string) => systemLookup(host, { all: true }))
  const backends = rules.never.map(parseHostPort)

  const addressesOf = async (url: URL): Promise<string[]> => {
    const host = hostOf(url)
    if (isIP(host)) return [host]
    return (await lookup(host).catch(() => [])).map(({ address }) => address)
  }

  const isBackend = async (url: URL, addresses: readonly string[]): Promise<boolean> => {
    for (const backend of backends.filter((one) => portOf(one) === portOf(url))) {
      if (hostOf(backend) === hostOf(url)) return true
      const theirs = (await addressesOf(backend)).map(machineOf)
      // A backend whose addresses cannot be had could be any.
      if (theirs.length === 0 || addresses.some((address) => theirs.includes(machineOf(address)))) return true
    }
    return false
  }

  return async (url) => {
    if (isOwn(url)) return 'refused-address'
    const [first, ...others] = await addressesOf(url)
    if (first === undefined) return 'unresolvable'
    const addresses = [first, ...others] as const
    const allowed = addresses.every((address) => allow.matches(address))
    if (!addresses.every((address) => allow.matches(address) || isPublicAddress(address))) return 'refused-address'
    if (!allowed && !ports.includes(portOf(url))) return 'refused-port'
    if (await isBackend(url, addresses)) return 'refused-address'
    return addresses
  }
}

/** One name for all the addresses of this machine: a server that listens on all is reached by each of them. */
function machineOf(address: string): string {
  const canonical = canonicalAddress(address) ?? address
  const own = Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === canonical))
  return own || isLoopback(address) ? 'this machine' : canonical
}
