// Parses client certificates, from TLS or a proxy's Client-Cert field, into plain values. Pure.
import { X509Certificate } from 'node:crypto'

export interface ClientCertificate {
  /** The first http or https URI in the subject alternative name; absent if there is none. */
  readonly webId?: string
  /** The RSA public key: modulus as lower-case hex without leading zeros, exponent as a number. */
  readonly key?: { readonly modulus: string; readonly exponent: bigint }
  /** Milliseconds since the epoch. */
  readonly validFrom: number
  readonly validTo: number
}

/** Parses a certificate in DER; undefined if the bytes are not one. */
export function readClientCertificate(der: Uint8Array): ClientCertificate | undefined {
  try {
    const certificate = new X509Certificate(der)
    const validFrom = Date.parse(certificate.validFrom)
    const validTo = Date.parse(certificate.validTo)
    const webId = firstWebUri(certificate.subjectAltName)
    // It is for another purpose, so its key may be of any kind.
    if (webId === undefined) return { validFrom, validTo }
    if (Number.isNaN(validFrom) || Number.isNaN(validTo)) return undefined
    const key = rsaKey(certificate)
    return { validFrom, validTo, webId, ...(key && { key }) }
  } catch {
    return undefined
  }
}

function rsaKey(certificate: X509Certificate): ClientCertificate['key'] {
  const { publicKey } = certificate
  if (publicKey.asymmetricKeyType !== 'rsa') return undefined
  const { n, e } = publicKey.export({ format: 'jwk' })
  const hex = (part: string): string => Buffer.from(part, 'base64url').toString('hex')
  return { modulus: hex(n!).replace(/^0+/, ''), exponent: BigInt(`0x${hex(e!)}`) }
}

// Node.js writes the names as `TYPE:value, TYPE:value` and quotes, as JSON, any value that could be misread.
const NAME = /(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,]*)/y

/** Certificates for other purposes have URIs of other schemes, such as the identifier that Windows requires. */
function firstWebUri(subjectAltName: string | undefined): string | undefined {
  NAME.lastIndex = 0
  for (let match; subjectAltName && (match = NAME.exec(subjectAltName));) {
    if (match[1] !== 'URI') continue
    const uri = match[2]!.startsWith('"') ? (JSON.parse(match[2]!) as string) : match[2]!
    if (/^https?:/i.test(uri)) return uri
  }
  return undefined
}

/**
 * The DER bytes in a Client-Cert field: an RFC 9440 byte sequence (`:base64:`), or URL-escaped PEM as written by nginx
 * for `$ssl_client_escaped_cert`. Undefined if it is neither.
 */
export function parseClientCertField(value: string): Buffer | undefined {
  const sequence = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(value)
  if (sequence) return Buffer.from(sequence[1]!, 'base64')
  try {
    const pem = /^-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/.exec(
      decodeURIComponent(value),
    )
    return pem ? Buffer.from(pem[1]!.replace(/\s/g, ''), 'base64') : undefined
  } catch {
    return undefined
  }
}
