// The address and network of a client. Shares of the gateway's work are counted per network (design 7).
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { canonicalAddress, clientNetwork } from '../../policies/fetch/address.js'
import { fieldLines } from './fields.js'

interface Client {
  readonly address: string
  /** An IPv4 address or an IPv6 /64. */
  readonly network: string
}

/** `isProxy` is the same for all requests of a connection. */
const CLIENTS = new WeakMap<Socket, Client & { readonly isProxy: boolean }>()
const GONE: Client = { address: '', network: '' }

/**
 * Empty strings if the connection is gone. For a request from a trusted proxy: the last address in X-Forwarded-For that
 * is not a trusted proxy. The field is ignored in requests from anyone else.
 */
export function clientOf(
  { socket, rawHeaders }: IncomingMessage,
  isTrustedProxy: (address: string) => boolean,
): Client {
  let own = CLIENTS.get(socket)
  if (!own) {
    const peer = clientAt(socket.remoteAddress ?? '') ?? GONE
    CLIENTS.set(socket, (own = { ...peer, isProxy: isTrustedProxy(peer.address) }))
  }
  if (!own.isProxy) return own
  const addresses = fieldLines(rawHeaders, 'x-forwarded-for').flatMap((line) => line.split(','))
  for (const address of addresses.reverse().map((each) => each.trim())) {
    const client = clientAt(address)
    if (client === undefined) return own
    if (!isTrustedProxy(address)) return client
  }
  return own
}

function clientAt(address: string): Client | undefined {
  const network = clientNetwork(address)
  return network === undefined ? undefined : { address: canonicalAddress(address)!, network }
}
