// Classifies IP addresses: those that may be fetched from, those listed by a configuration, and this machine's own.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Failure } from '../failure.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [address: Address, prefix: number]

export interface AddressMatcher {
  /** False for anything that is not an IP address. An IPv4-mapped IPv6 address counts as its IPv4 address. */
  matches(ip: string): boolean
}

/** Matches no address. */
export const NO_ADDRESS: AddressMatcher = { matches: () => false }

// RFC 4291 §2.4: the addresses assigned as global unicast. All others are refused. These include NAT64 (RFC 6052,
// RFC 8215), IPv4-mapped, IPv4-compatible and IPv4-translated addresses, whatever IPv4 address they contain.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
// Cloud metadata and host agents at a formally public address (Azure). Those of other clouds are not public.
const METADATA = ['168.63.129.16']

/**
 * True for an address that may be fetched from: global unicast only, without loopback, unspecified, private,
 * link-local, carrier-grade, multicast, reserved, documentation and benchmark ranges (RFC 6890 and the registries after
 * it), and without IPv6 addresses that contain an IPv4 address (6to4, Teredo, ISATAP, mapped, translated). False for
 * anything that is not one address in the notation of the operating system's resolver.
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0) return false
  const address = ipaddr.parse(ip)
  if (address.range() !== 'unicast' || METADATA.includes(address.toString())) return false
  return isIPv4(address) || (address.match(GLOBAL_UNICAST) && !isIsatap(address))
}

const isIPv4 = (address: Address): address is ipaddr.IPv4 => address.kind() === 'ipv4'

// RFC 5214 §6.1: the interface identifier is [02]00:5EFE, then the IPv4 address.
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => (parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe

/** A unique spelling of each address: IPv4 for IPv4-mapped ones, no zone. Undefined if it is not an address. */
export const canonicalAddress = (ip: string): string | undefined => parseAddress(ip)?.toString()

/**
 * The network that a client's shares are counted by: an IPv4 address, or the /64 of an IPv6 address (RFC 4291 §2.5.4).
 */
export function clientNetwork(ip: string): string | undefined {
  const address = parseAddress(ip)
  if (!address || isIPv4(address)) return address?.toString()
  const network = address.parts.map((part, i) => (i < 4 ? part : 0))
  return `${new ipaddr.IPv6(network).toString()}/64`
}

/** True for addresses that always mean the local machine: loopback or unspecified. */
export const isLoopback = (ip: string): boolean => ['loopback', 'unspecified'].includes(parseAddress(ip)?.range() ?? '')

function parseAddress(ip: string): Address | undefined {
  // ipaddr.js would read an IPv4-compatible address (RFC 4291 §2.5.5.1) as an IPv4-mapped one.
  if (isIP(ip) === 0 || /^::\d+\./.test(ip)) return undefined
  return ipaddr.process(ip.split('%', 1)[0]!)
}

/** `entries`: the texts that are neither a range nor an address. */
export interface MalformedRanges extends Failure<'malformed'> {
  readonly entries: readonly string[]
}

/**
 * A matcher for ranges in CIDR notation (RFC 4632, RFC 4291 §2.3) and single addresses; bits after the prefix are
 * ignored.
 */
export function makeAddressMatcher(cidrs: readonly string[]): AddressMatcher | MalformedRanges {
  const ranges: Range[] = []
  const entries: string[] = []
  for (const cidr of cidrs) {
    const range = parseRange(cidr)
    if (range) ranges.push(range)
    else entries.push(cidr)
  }
  if (entries.length > 0) {
    return { failure: 'malformed', detail: `Neither addresses nor ranges: ${entries.join(', ')}.`, entries }
  }
  return {
    matches(ip) {
      const address = parseAddress(ip)
      if (!address) return false
      return ranges.some(([range, prefix]) => range.kind() === address.kind() && address.match(range, prefix))
    },
  }
}

function parseRange(cidr: string): Range | undefined {
  const [, ip, digits] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(cidr) ?? []
  if (ip === undefined) return undefined
  const address = parseAddress(ip)
  if (!address) return undefined
  const bits = isIPv4(address) ? 32 : 128
  // The prefix of an IPv4-mapped range includes the 96 bits before the IPv4 address.
  const mappedBits = isIP(ip) === 6 && isIPv4(address) ? 96 : 0
  const prefix = digits === undefined ? bits : Number(digits) - mappedBits
  return prefix >= 0 && prefix <= bits ? [address, prefix] : undefined
}
