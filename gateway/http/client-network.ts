// In charge of the network that a request comes from: shares of the gateway's work are counted by it (design 7).
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetwork } from '../../policies/fetch/address.js'
import { fieldLines } from './fields.js'

const NETWORKS = new WeakMap<Socket, string>()

/**
 * An IPv4 address or an IPv6 /64; '' where the connection is gone. Of a request that a trusted proxy sends: that of the last
 * address in X-Forwarded-For that is no trusted proxy. Fields of anyone else do not count.
 */
export function networkOf(
  { socket, rawHeaders }: IncomingMessage,
  isTrustedProxy: (address: string) => boolean,
): string {
  const own = NETWORKS.get(socket) ?? clientNetwork(socket.remoteAddress ?? '') ?? ''
  NETWORKS.set(socket, own)
  if (!isTrustedProxy(socket.remoteAddress ?? '')) return own
  const addresses = fieldLines(rawHeaders, 'x-forwarded-for').flatMap((line) => line.split(','))
  for (const address of addresses.reverse().map((each) => each.trim())) {
    const network = clientNetwork(address)
    if (network === undefined) return own
    if (!isTrustedProxy(address)) return network
  }
  return own
}
