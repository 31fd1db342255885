// The client certificate of a request: from the TLS connection, or from a field set by a trusted proxy.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { parseClientCertField } from '../../policies/identity/client-certificate.js'
import type { Request } from './exchange.js'
import { problem } from '../problem.js'
import { fieldLines, type Fields } from './fields.js'

/** From TLS, whose handshake proves possession of the key; otherwise from the trusted proxy's field (RFC 9440). */
export function certificateOf(
  raw: IncomingMessage,
  fields: Fields,
  isTrustedProxy: ((address: string) => boolean) | undefined,
): Request['certificate'] {
  const { socket } = raw
  if (socket instanceof TLSSocket) return peerCertificate(socket)
  if (!fields['client-cert'] || !isTrustedProxy || !isTrusted(socket, isTrustedProxy)) return undefined
  const values = fieldLines(raw.rawHeaders, 'client-cert')
  const der = values.length === 1 ? certificateIn(socket, values[0]!) : undefined
  return der ?? problem('credential.invalid', 'The Client-Cert field is not one RFC 9440 byte sequence or escaped PEM.')
}

const LAST = new WeakMap<Socket, { readonly value: string; readonly der: Uint8Array }>()
/** A proxy's connection repeats certificates: equal texts return the same value. */
function certificateIn(socket: Socket, value: string): Uint8Array | undefined {
  const last = LAST.get(socket)
  if (last?.value === value) return last.der
  const der = parseClientCertField(value)
  if (der) LAST.set(socket, { value, der })
  return der
}

const TRUSTED = new WeakMap<Socket, boolean>()
function isTrusted(socket: Socket, isTrustedProxy: (address: string) => boolean): boolean {
  let trusted = TRUSTED.get(socket)
  if (trusted === undefined) {
    trusted = isTrustedProxy(socket.remoteAddress ?? '')
    TRUSTED.set(socket, trusted)
  }
  return trusted
}

const CERTIFICATES = new WeakMap<Socket, Uint8Array | null>()
function peerCertificate(socket: TLSSocket): Uint8Array | undefined {
  let der = CERTIFICATES.get(socket)
  if (der === undefined) {
    der = socket.getPeerX509Certificate()?.raw ?? null
    CERTIFICATES.set(socket, der)
  }
  return der ?? undefined
}
