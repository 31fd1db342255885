// In charge of the certificates in the data folder, of server, owner and secretary: creates missing ones, never overwrites
// a file, and reads them.
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Faulty } from '../configuration/faults.js'
import { isFailure } from '../problem.js'
import { readClientCertificate } from '../../policies/identity/client-certificate.js'

/** An agent with a certificate: the WebID in it, and its RSA key as WebID profiles write it (W3C cert ontology). */
export interface ClientIdentity {
  readonly webId: string
  /** Lower-case hex without leading zeros. */
  readonly modulus: string
  readonly exponent: number
  /** PEM. */
  readonly cert: string
  readonly key: string
  readonly file: string
}

export interface Certificates {
  /** The folder of the files. */
  readonly folder: string
  readonly server: { readonly cert: string; readonly key: string }
  /** An owner with a WebID of their own has no certificate here. */
  readonly owner: ClientIdentity | { readonly webId: string }
  readonly secretary: ClientIdentity
  /** Warnings for the operator that do not stop the start. */
  readonly notices: readonly string[]
}

export interface CertificatesWanted {
  /** The data folder: the files go to `certs/` in it. */
  readonly folder: string
  /** Host names and addresses of the bases (`[::1]` or `::1`); localhost is added. */
  readonly hostNames: readonly string[]
  /** The WebIDs of new certificates: existing ones have theirs. */
  readonly ownerWebId: string
  readonly secretaryWebId: string
  /** The WebID of an owner with a certificate of their own: none is made or read. */
  readonly externalOwner?: string
  readonly now: () => number
}

/** A file with the leaf certificate, its chain, and its private key. */
interface Pem {
  readonly file: string
  readonly cert: string
  readonly key: string
  readonly leaf: X509Certificate
  readonly notices: readonly string[]
}

/** `faults` has a line for each fault, with its file and the fix. */
export type UnusableCertificates = Faulty<'certificates.unusable', string>

const unusable = (...faults: readonly string[]): UnusableCertificates => ({
  failure: 'certificates.unusable',
  detail: faults.join('\n'),
  faults,
})

const RENEWAL_MS = 30 * 24 * 60 * 60 * 1000
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1']

/**
 * The certificates of this installation. Any number of processes may do this at once: all get the same files.
 * A failure lists every fault at once, each with the file and the fix.
 */
export async function ensureCertificates(wanted: CertificatesWanted): Promise<Certificates | UnusableCertificates> {
  const { externalOwner } = wanted
  const folder = join(wanted.folder, 'certs')
  const now = wanted.now()
  const hosts = wanted.hostNames.map((host) => host.replace(/^\[(.*)\]$/, '$1'))
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    return unusable(`${folder}: cannot be made (${codeOf(error)}). Give another folder with --data.`)
  }
  // Loaded only if a certificate is missing: that is, at the first start.
  const clientPem = (name: string, webId: string): Promise<Pem | UnusableCertificates> =>
    ensure(join(folder, `${name}.pem`), now, async () =>
      (await import('../agents/make-certificate.js')).makeClientCertificate(webId, `Triplegate ${name}`, now),
    )
  const [server, owner, secretary] = await Promise.all([
    ensure(join(folder, 'server.pem'), now, async () =>
      (await import('../agents/make-certificate.js')).makeServerCertificate(
        [...new Set([...hosts, ...LOCAL_HOSTS])],
        now,
      ),
    ),
    externalOwner === undefined ? clientPem('owner', wanted.ownerWebId).then(identityOf) : { webId: externalOwner },
    clientPem('secretary', wanted.secretaryWebId).then(identityOf),
  ])
  if (isFailure(server) || isFailure(owner) || isFailure(secretary)) {
    return unusable(...[server, owner, secretary].flatMap((one) => (isFailure(one) ? one.faults : [])))
  }
  const uncovered = hosts.filter((host) => !(isIP(host) ? server.leaf.checkIP(host) : server.leaf.checkHost(host)))
  const notices = [
    ...[server, owner, secretary].flatMap((one) => ('notices' in one ? one.notices : [])),
    ...uncovered.map((host) => `${server.file}: does not name ${host}. ${MOVE_AWAY}`),
  ]
  const { cert, key } = server
  return { folder, server: { cert, key }, owner: withoutNotices(owner), secretary: withoutNotices(secretary), notices }
}

const withoutNotices = <T extends object>(identity: T): T => {
  const rest = { ...identity } as T & { notices?: unknown }
  delete rest.notices
  return rest
}

function identityOf(pem: Pem | UnusableCertificates): (ClientIdentity & Pick<Pem, 'notices'>) | UnusableCertificates {
  if (isFailure(pem)) return pem
  const { file, cert, key, notices } = pem
  const certificate = readClientCertificate(pem.leaf.raw)
  if (certificate?.webId === undefined)
    return unusable(`${file}: has no WebID in its subject alternative name. ${MOVE_AWAY}`)
  if (!certificate.key) return unusable(`${file}: has no RSA key, which WebID-TLS needs. ${MOVE_AWAY}`)
  const { modulus, exponent } = certificate.key
  return { webId: certificate.webId, modulus, exponent: Number(exponent), cert, key, file, notices }
}

const MOVE_AWAY = 'Move the file away: the next start makes another.'

/** The file, created first if it does not exist; or its faults. */
async function ensure(file: string, now: number, make: () => Promise<string>): Promise<Pem | UnusableCertificates> {
  try {
    const found = await readIfExists(file)
    if (found !== undefined) return await pemOf(file, found, now)
    await writeNew(file, await make())
    return await pemOf(file, await readFile(file, 'utf8'), now)
  } catch (error) {
    return unusable(
      `${file}: cannot be read or written (${codeOf(error)}). Check the permissions of the file and its folder.`,
    )
  }
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Writes the whole file or nothing, and never over a file that another process has created: link(2) does not replace. */
async function writeNew(file: string, pem: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(pem)
    await handle.sync()
    await link(temporary, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await handle.close()
    await unlink(temporary)
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\s*/g
const PRIVATE_KEY = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[^-]+-----END \1-----\s*/

async function pemOf(file: string, text: string, now: number): Promise<Pem | UnusableCertificates> {
  const certs = text.match(CERTIFICATE)
  const key = PRIVATE_KEY.exec(text)?.[0]
  if (!certs) return unusable(`${file}: holds no certificate in PEM. ${MOVE_AWAY}`)
  if (key === undefined) {
    return unusable(`${file}: holds no private key in PEM without a password. Add the key to the file.`)
  }
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(certs[0])
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      return unusable(`${file}: its key does not belong to its certificate. ${MOVE_AWAY}`)
  } catch {
    return unusable(`${file}: holds a certificate or key that cannot be read. ${MOVE_AWAY}`)
  }
  if (now < Date.parse(leaf.validFrom)) {
    return unusable(`${file}: is not valid before ${leaf.validFrom}. Check the clock.`)
  }
  if (now > Date.parse(leaf.validTo)) return unusable(`${file}: expired on ${leaf.validTo}. ${MOVE_AWAY}`)
  const notices: string[] = []
  if (now > Date.parse(leaf.validTo) - RENEWAL_MS) notices.push(`${file}: expires on ${leaf.validTo}.`)
  if (process.platform !== 'win32' && (await stat(file)).mode & 0o077) {
    notices.push(`${file}: other accounts may read or write the private key. Do chmod 600.`)
  }
  return { file, cert: certs.join(''), key, leaf, notices }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
