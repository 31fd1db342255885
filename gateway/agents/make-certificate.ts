// In charge of creating keys and self-signed certificates (RFC 5280), for clients with a WebID and for the server, as PEM in
// memory. @peculiar/x509 needs the metadata functions of Reflect.
import 'reflect-metadata'
import type { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import * as x509 from '@peculiar/x509'

const DAY = 24 * 60 * 60 * 1000

/** Other clocks may be behind: a new certificate is valid from an hour ago. */
const LEEWAY = 60 * 60 * 1000

/** A key identifies the agent as long as its profile lists it; nothing else depends on the date. */
export const CLIENT_VALIDITY_DAYS = 3650
/** The longest validity that Apple's systems accept for a server certificate trusted by hand. */
export const SERVER_VALIDITY_DAYS = 825

/** WebID-TLS §2.1.1: the WebID is a URI in the subject alternative name; here the only name. */
export const makeClientCertificate = (webId: string, commonName: string, now: number): Promise<string> =>
  selfSigned({
    commonName,
    now,
    days: CLIENT_VALIDITY_DAYS,
    algorithm: {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: Uint8Array.of(1, 0, 1),
      hash: 'SHA-256',
    },
    usage: x509.KeyUsageFlags.digitalSignature,
    purpose: x509.ExtendedKeyUsage.clientAuth,
    names: [{ type: 'url', value: webId }],
  })

/** @param hosts names and addresses; the first becomes the common name */
export const makeServerCertificate = (hosts: readonly string[], now: number): Promise<string> =>
  selfSigned({
    commonName: hosts[0]!,
    now,
    days: SERVER_VALIDITY_DAYS,
    algorithm: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
    usage: x509.KeyUsageFlags.digitalSignature,
    purpose: x509.ExtendedKeyUsage.serverAuth,
    names: hosts.map((host) => ({ type: isIP(host) ? 'ip' : 'dns', value: host })),
  })

interface Wanted {
  readonly commonName: string
  readonly now: number
  readonly days: number
  readonly algorithm: (webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams) & { readonly hash: string }
  readonly usage: x509.KeyUsageFlags
  readonly purpose: x509.ExtendedKeyUsage
  readonly names: x509.JsonGeneralNames
}

/** The certificate, followed by its unencrypted PKCS #8 key. */
async function selfSigned(wanted: Wanted): Promise<string> {
  const { algorithm, now } = wanted
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      // RFC 5280 appendix A.1: ub-common-name.
      // An object, because in plain text `#` would begin DER in hexadecimal.
      name: new x509.Name([{ CN: [{ utf8String: wanted.commonName.slice(0, 64) }] }]),
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(now - LEEWAY),
      notAfter: new Date(now + wanted.days * DAY),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(wanted.usage, true),
        new x509.ExtendedKeyUsageExtension([wanted.purpose]),
        new x509.SubjectAlternativeNameExtension([...wanted.names]),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
      ],
    },
    crypto,
  )
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return `${certificate.toString('pem')}\n${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`
}
