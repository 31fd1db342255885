// Creating keys and self-signed certificates (RFC 5280), for clients with a WebID and for the server, as PEM in
// memory.
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import * as asn1 from 'asn1js'
import ipaddr from 'ipaddr.js'
import * as pkijs from 'pkijs'

const DAY = 24 * 60 * 60 * 1000

/** Other clocks may be behind: a new certificate is valid from an hour ago. */
const LEEWAY = 60 * 60 * 1000

/** Long, since the agent's profile decides whether a key is valid: it can be removed there at any time. */
export const CLIENT_VALIDITY_DAYS = 3650
/** The longest validity that Apple's systems accept for a server certificate trusted by hand. */
export const SERVER_VALIDITY_DAYS = 825

/** WebID-TLS §2.1.1: the WebID is a URI in the subject alternative name; here the only name. */
export const makeClientCertificate = async (
  webId: string,
  commonName: string,
  now: number,
  keys?: webcrypto.CryptoKeyPair,
): Promise<string> =>
  selfSigned({
    commonName,
    now,
    days: CLIENT_VALIDITY_DAYS,
    keys: keys ?? (await makeClientKeys()),
    purpose: '1.3.6.1.5.5.7.3.2',
    names: [new pkijs.GeneralName({ type: URI, value: webId })],
  })

export const makeClientKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  )

/** @param hosts names and addresses; the first becomes the common name */
export const makeServerCertificate = async (hosts: readonly string[], now: number): Promise<string> =>
  selfSigned({
    commonName: hosts[0]!,
    now,
    days: SERVER_VALIDITY_DAYS,
    keys: await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']),
    purpose: '1.3.6.1.5.5.7.3.1',
    names: hosts.map((host) =>
      isIP(host)
        ? new pkijs.GeneralName({ type: IP_ADDRESS, value: octets(ipaddr.parse(host).toByteArray()) })
        : new pkijs.GeneralName({ type: DNS_NAME, value: host }),
    ),
  })

interface Wanted {
  readonly commonName: string
  readonly now: number
  readonly days: number
  readonly keys: webcrypto.CryptoKeyPair
  /** The object identifier of the extended key usage. */
  readonly purpose: string
  readonly names: pkijs.GeneralName[]
}

// RFC 5280 §4.2.1.6: the tags of names.
const [DNS_NAME, URI, IP_ADDRESS] = [2, 6, 7] as const

const engine = new pkijs.CryptoEngine({ crypto: webcrypto as never, name: 'node' })
const octets = (bytes: Iterable<number>): asn1.OctetString =>
  new asn1.OctetString({ valueHex: Uint8Array.from(bytes).buffer })

/** The certificate, followed by its unencrypted PKCS #8 key. */
async function selfSigned({ commonName, now, days, keys, purpose, names }: Wanted): Promise<string> {
  const certificate = new pkijs.Certificate({
    version: 2,
    serialNumber: new asn1.Integer({ valueHex: serialNumber() }),
    notBefore: timeOf(now - LEEWAY),
    notAfter: timeOf(now + days * DAY),
  })
  // RFC 5280 appendix A.1: ub-common-name.
  const value = new asn1.Utf8String({ value: commonName.slice(0, 64) })
  for (const name of [certificate.subject, certificate.issuer])
    name.typesAndValues.push(new pkijs.AttributeTypeAndValue({ type: '2.5.4.3', value }))
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey, engine)
  // RFC 5280 §4.2.1.2, method 1.
  const keyId = await webcrypto.subtle.digest('SHA-1', certificate.subjectPublicKeyInfo.subjectPublicKey.valueBlock.valueHexView) // prettier-ignore
  const digitalSignature = new asn1.BitString({ valueHex: Uint8Array.of(0x80).buffer, unusedBits: 7 })
  certificate.extensions = [
    extension('2.5.29.19', new pkijs.BasicConstraints({ cA: false }).toSchema(), true),
    extension('2.5.29.15', digitalSignature, true),
    extension('2.5.29.37', new pkijs.ExtKeyUsage({ keyPurposes: [purpose] }).toSchema()),
    extension('2.5.29.17', new pkijs.AltName({ altNames: names }).toSchema()),
    extension('2.5.29.14', new asn1.OctetString({ valueHex: keyId })),
  ]
  await certificate.sign(keys.privateKey, 'SHA-256', engine)
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return pem('CERTIFICATE', certificate.toSchema(true).toBER()) + pem('PRIVATE KEY', key)
}

const extension = (extnID: string, value: asn1.BaseBlock, critical = false): pkijs.Extension =>
  new pkijs.Extension({ extnID, critical, extnValue: value.toBER() })

/** RFC 5280 §4.1.2.2: positive, at most 20 octets. */
function serialNumber(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(16))
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes.buffer
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, to the second. */
function timeOf(ms: number): pkijs.Time {
  const value = new Date(Math.floor(ms / 1000) * 1000)
  return new pkijs.Time({ type: value.getUTCFullYear() < 2050 ? 0 : 1, value })
}

/** RFC 7468. */
const pem = (label: string, der: ArrayBuffer): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`
