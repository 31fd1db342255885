// In charge of the certificates of attackers: many WebIDs with one key, since a key costs more than the attack.
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

const ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
}

/** PEM with certificate and key for each of the WebIDs. */
export async function certificatesFor(webIds: readonly string[]): Promise<string[]> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  return Promise.all(
    webIds.map(async (webId) => {
      const names = new x509.SubjectAlternativeNameExtension([{ type: 'url', value: webId }])
      const times = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) }
      const wanted = { name: 'CN=attacker', keys, signingAlgorithm: ALGORITHM, ...times, extensions: [names] }
      const certificate = await x509.X509CertificateGenerator.createSelfSigned(wanted, crypto)
      return `${certificate.toString('pem')}\n${key}\n`
    }),
  )
}
