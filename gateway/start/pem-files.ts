// Reads certificates and their keys from PEM files, and checks whether they are valid now and belong together.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Faulty } from '../configuration/faults.js'

/** A leaf certificate, its chain, and its private key. */
export interface Pem {
  /** The file of the certificate. */
  readonly file: string
  readonly cert: string
  readonly key: string
  readonly leaf: X509Certificate
  /** Warnings for the operator. */
  readonly notices: readonly string[]
  /** The advice if the certificate cannot be used. */
  readonly fix: string
}

/** The texts of two files, which may be the same. */
export interface PemText {
  readonly file: string
  readonly text: string
  readonly keyFile: string
  readonly keyText: string
  readonly fix: string
}

/** `faults` has a line for each fault, with its file and the fix. */
export type UnusableCertificates = Faulty<'certificates.unusable', string>

export const unusablePem = (...faults: readonly string[]): UnusableCertificates => ({
  failure: 'certificates.unusable',
  detail: faults.join('\n'),
  faults,
})

export const MOVE_AWAY = 'Move the file away: the next start creates another.'

const RENEWAL_MS = 30 * 24 * 60 * 60 * 1000
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\s*/g
const PRIVATE_KEY = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[^-]+-----END \1-----\s*/

/** The certificate and the key in these files. */
export async function readPemFiles(
  { cert, key }: { readonly cert: string; readonly key: string },
  now: number,
): Promise<Pem | UnusableCertificates> {
  let file = cert
  try {
    const text = await readFile(cert, 'utf8')
    file = key
    const keyText = await readFile(key, 'utf8')
    return await pemOf({ file: cert, text, keyFile: key, keyText, fix: 'Give another certificate.' }, now)
  } catch (error) {
    return unusablePem(`${file}: cannot be read (${codeOf(error)}). Check its path and its permissions.`)
  }
}

export async function pemOf(
  { file, text, keyFile, keyText, fix }: PemText,
  now: number,
): Promise<Pem | UnusableCertificates> {
  const certs = text.match(CERTIFICATE)
  const key = PRIVATE_KEY.exec(keyText)?.[0]
  if (!certs) return unusablePem(`${file}: holds no certificate in PEM. ${fix}`)
  if (key === undefined) {
    return unusablePem(`${keyFile}: holds no private key in PEM without a password. Add the key to the file.`)
  }
  const cert = certs.join('')
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(certs[0])
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      return unusablePem(`${keyFile}: its key does not belong to its certificate. ${fix}`)
    createSecureContext({ cert, key })
  } catch {
    return unusablePem(`${file}: holds a certificate or key that cannot be read. ${fix}`)
  }
  if (now < Date.parse(leaf.validFrom)) {
    return unusablePem(`${file}: is not valid before ${leaf.validFrom}. Check the clock.`)
  }
  if (now > Date.parse(leaf.validTo)) return unusablePem(`${file}: expired on ${leaf.validTo}. ${fix}`)
  const notices: string[] = []
  if (now > Date.parse(leaf.validTo) - RENEWAL_MS) notices.push(`${file}: expires on ${leaf.validTo}.`)
  if (process.platform !== 'win32' && isOpenToOthers(await stat(keyFile))) {
    notices.push(`${keyFile}: other accounts may read or write the private key. Run chmod 600.`)
  }
  return { file, cert, key, leaf, notices, fix }
}

/** A group may read the key of another account: so Kubernetes gives secrets to a pod (fsGroup). */
const isOpenToOthers = ({ mode, uid }: Stats): boolean => (mode & (uid === process.getuid!() ? 0o077 : 0o037)) !== 0

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
