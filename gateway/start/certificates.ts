// In charge of the certificates in the data folder: makes those of server, owner and secretary that are missing, never
// over a file that is there, and reads them.
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
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
  /** Where the files are. */
  readonly folder: string
  readonly server: { readonly cert: string; readonly key: string }
  /** An owner who has a WebID already has no certificate here. */
  readonly owner: ClientIdentity | { readonly webId: string }
  readonly secretary: ClientIdentity
  /** What the operator should know, though the start goes on. */
  readonly notices: readonly string[]
}

export interface CertificatesWanted {
  /** The data folder: the files go to `certs/` in it. */
  readonly folder: string
  /** Host names and addresses of the bases (`[::1]` or `::1`); localhost is added. */
  readonly hostNames: readonly string[]
  /** The WebIDs for certificates that are not there yet: those that are have theirs. */
  readonly ownerWebId: string
  readonly secretaryWebId: string
  /** The WebID of an owner with a certificate of their own: none is made or read. */
  readonly externalOwner?: string
  readonly now: () => number
}

/** A file as it is: the leaf certificate with its chain, and the private key to it. */
interface Pem {
  readonly file: string
  readonly cert: string
  readonly key: string
  readonly leaf: X509Certificate
  readonly notices: readonly string[]
}

const RENEWAL_MS = 30 * 24 * 60 * 60 * 1000
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1']

/**
 * The certificates of this installation. Any number of processes may do this at once: all end up with the same files.
 * On failure every fault at once, each a line that names the file and the mend.
 */
export async function ensureCertificates(
  wanted: CertificatesWanted,
): Promise<Certificates | { readonly faults: readonly string[] }> {
  const { externalOwner } = wanted
  const folder = join(wanted.folder, 'certs')
  const now = wanted.now()
  const hosts = wanted.hostNames.map((host) => host.replace(/^\[(.*)\]$/, '$1'))
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    return { faults: [`${folder}: cannot be made (${codeOf(error)}). Give another folder with --data.`] }
  }
  // What makes certificates is loaded when one is missing, which is at the first start only.
  const clientPem = (name: string, webId: string): Promise<Pem | string> =>
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
  if (typeof server === 'string' || typeof owner === 'string' || typeof secretary === 'string') {
    return { faults: [server, owner, secretary].filter((one) => typeof one === 'string') }
  }
  const uncovered = hosts.filter((host) => !(isIP(host) ? server.leaf.checkIP(host) : server.leaf.checkHost(host)))
  const notices = [
    ...[server, owner, secretary].flatMap((one) => ('notices' in one ? one.notices : [])),
    ...uncovered.map(
      (host) => `${server.file}: does not name ${host}. Move it away, and the next start makes another.`,
    ),
  ]
  const { cert, key } = server
  return { folder, server: { cert, key }, owner: withoutNotices(owner), secretary: withoutNotices(secretary), notices }
}

const withoutNotices = <T extends object>(identity: T): T => {
  const rest = { ...identity } as T & { notices?: unknown }
  delete rest.notices
  return rest
}

function identityOf(pem: Pem | string): (ClientIdentity & Pick<Pem, 'notices'>) | string {
  if (typeof pem === 'string') return pem
  const { file, cert, key, notices } = pem
  const certificate = readClientCertificate(pem.leaf.raw)
  if (certificate?.webId === undefined) return `${file}: has no WebID in its subject alternative name. ${MOVE_AWAY}`
  if (!certificate.key) return `${file}: has no RSA key, which WebID-TLS needs. ${MOVE_AWAY}`
  const { modulus, exponent } = certificate.key
  return { webId: certificate.webId, modulus, exponent: Number(exponent), cert, key, file, notices }
}

const MOVE_AWAY = 'Move the file away, and the next start makes another.'

/** The file, made before where it is missing; or what is wrong with it. */
async function ensure(file: string, now: number, make: () => Promise<string>): Promise<Pem | string> {
  try {
    const found = await readIfThere(file)
    if (found !== undefined) return await pemOf(file, found, now)
    await writeNew(file, await make())
    return await pemOf(file, await readFile(file, 'utf8'), now)
  } catch (error) {
    return `${file}: cannot be read or written (${codeOf(error)}). Check the permissions of the file and its folder.`
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The whole file or none; never over one that is there, were it made in the meantime: link(2) does not replace. */
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

async function pemOf(file: string, text: string, now: number): Promise<Pem | string> {
  const certs = text.match(CERTIFICATE)
  const key = PRIVATE_KEY.exec(text)?.[0]
  if (!certs) return `${file}: holds no certificate in PEM. ${MOVE_AWAY}`
  if (key === undefined) return `${file}: holds no private key in PEM without a password. Put the key beside it.`
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(certs[0])
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      return `${file}: its key is not that of its certificate. ${MOVE_AWAY}`
  } catch {
    return `${file}: holds a certificate or key that cannot be read. ${MOVE_AWAY}`
  }
  if (now < Date.parse(leaf.validFrom)) return `${file}: is not valid before ${leaf.validFrom}. Check the clock.`
  if (now > Date.parse(leaf.validTo)) return `${file}: expired on ${leaf.validTo}. ${MOVE_AWAY}`
  const notices: string[] = []
  if (now > Date.parse(leaf.validTo) - RENEWAL_MS) notices.push(`${file}: expires on ${leaf.validTo}.`)
  if (process.platform !== 'win32' && (await stat(file)).mode & 0o077) {
    notices.push(`${file}: others than its owner may read or write the private key. Do chmod 600.`)
  }
  return { file, cert: certs.join(''), key, leaf, notices }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
