// PKCS #12 files (RFC 7292): a certificate and its key under a password, for browsers and OpenSSL.
import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto'
import * as asn1 from 'asn1js'
import * as pkijs from 'pkijs'

/**
 * RFC 8018 §4.2. The integrity check is slow, because it is computed in JavaScript, so it has OpenSSL's lower count.
 */
const ENCRYPTION_ITERATIONS = 100_000
const MAC_ITERATIONS = 2048
const AES_256 = { name: 'AES-CBC', length: 256 }

const crypto = new pkijs.CryptoEngine({ crypto: webcrypto as never, name: 'node' })

/**
 * Uses AES-256 and SHA-256 throughout (RFC 9579 calls the algorithms of older files insecure).
 * @param pem certificate and PKCS #8 key (make-certificate.ts)
 * @param password ASCII only: RFC 7292 appendix B encodes it as UTF-16, RFC 8018 as UTF-8
 */
export async function pkcs12Of(pem: string, friendlyName: string, password: string): Promise<Buffer> {
  const certificate = pkijs.Certificate.fromBER(new X509Certificate(pem).raw)
  const key = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  const fingerprint = await webcrypto.subtle.digest('SHA-1', new X509Certificate(pem).raw)
  const secret = new TextEncoder().encode(password).buffer
  const bagAttributes = [
    attribute('1.2.840.113549.1.9.20', new asn1.BmpString({ value: friendlyName })),
    attribute('1.2.840.113549.1.9.21', new asn1.OctetString({ valueHex: fingerprint })),
  ]
  const shrouded = new pkijs.PKCS8ShroudedKeyBag({ parsedValue: pkijs.PrivateKeyInfo.fromBER(key) })
  const encryption = {
    password: secret,
    contentEncryptionAlgorithm: AES_256,
    hmacHashAlgorithm: 'SHA-256',
    iterationCount: ENCRYPTION_ITERATIONS,
  }
  await shrouded.makeInternalValues(encryption, crypto)
  const bag = (bagId: string, bagValue: pkijs.BagType): pkijs.SafeContents =>
    new pkijs.SafeContents({ safeBags: [new pkijs.SafeBag({ bagId, bagValue, bagAttributes })] })
  const authenticatedSafe = new pkijs.AuthenticatedSafe({
    parsedValue: {
      safeContents: [
        { privacyMode: 0, value: bag('1.2.840.113549.1.12.10.1.2', shrouded) },
        {
          privacyMode: 1,
          value: bag('1.2.840.113549.1.12.10.1.3', new pkijs.CertBag({ parsedValue: certificate })),
        },
      ],
    },
  })
  await authenticatedSafe.makeInternalValues({ safeContents: [{}, encryption] }, crypto)
  const pfx = new pkijs.PFX({ parsedValue: { integrityMode: 0, authenticatedSafe } })
  await pfx.makeInternalValues(
    {
      password: secret,
      iterations: MAC_ITERATIONS,
      pbkdf2HashAlgorithm: 'SHA-256',
      hmacHashAlgorithm: 'SHA-256',
    },
    crypto,
  )
  return Buffer.from(pfx.toSchema().toBER(false))
}

const attribute = (type: string, value: unknown): pkijs.Attribute => new pkijs.Attribute({ type, values: [value] })
