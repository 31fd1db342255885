// The certificates of server, owner and secretary in the data folder: creates missing ones, reads existing ones, and
// never overwrites a file.
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { isFailure } from '../problem.js'
import { readClientCertificate } from '../../policies/identity/client-certificate.js'
import {
  codeOf,
  MOVE_AWAY,
  pemOf,
  readPemFiles,
  unusablePem,
  type Pem,
  type PemText,
  type UnusableCertificates,
} from './pem-files.js'

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

/** In PEM. The certificate includes its chain. */
export interface ServerCertificate {
  readonly cert: string
  readonly key: string
}

export interface Certificates {
  /** The folder of the files. */
  readonly folder: string
  readonly server: ServerCertificate
  /** The owner's certificate; only the WebID if the owner's certificate is elsewhere. */
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
  /** The WebIDs of new certificates. Existing ones keep their own. */
  readonly ownerWebId: string
  readonly secretaryWebId: string
  /** The WebID of an owner whose certificate is elsewhere: none is created or read here. */
  readonly externalOwner?: string
  /** The files of a server certificate from elsewhere: none is created. */
  readonly serverFiles?: ServerFiles
  readonly now: () => number
}

export interface ServerFiles {
  readonly cert: string
  readonly key: string
}

/** The certificate and the key of owner.pem. The file's mode protects it, but browsers require a password. */
const OWNER_P12 = 'owner.p12'
const P12_PASSWORD = 'triplegate'

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1']

/**
 * The certificates of this installation. Any number of processes may do this at once: all get the same files.
 * A failure lists every fault at once, each with the file and the fix.
 */
export async function ensureCertificates(wanted: CertificatesWanted): Promise<Certificates | UnusableCertificates> {
  const { externalOwner } = wanted
  const folder = join(wanted.folder, 'certs')
  const now = wanted.now()
  const hosts = hostsOf(wanted)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    return unusablePem(`${folder}: cannot be created (${codeOf(error)}). Give another folder with --data.`)
  }
  // Load the library only if a certificate is missing, which is the case at the first start.
  const clientPem = (name: string, webId: string): Promise<Pem | UnusableCertificates> =>
    ensure(join(folder, `${name}.pem`), now, async () =>
      (await import('../agents/make-certificate.js')).makeClientCertificate(webId, `Triplegate ${name}`, now),
    )
  const [server, owner, secretary] = await Promise.all([
    wanted.serverFiles
      ? readPemFiles(wanted.serverFiles, now)
      : ensure(join(folder, 'server.pem'), now, async () =>
          (await import('../agents/make-certificate.js')).makeServerCertificate(
            [...new Set([...hosts, ...LOCAL_HOSTS])],
            now,
          ),
        ),
    externalOwner === undefined
      ? clientPem('owner', wanted.ownerWebId)
          .then((pem) => withBrowserFile(pem, join(folder, OWNER_P12)))
          .then(identityOf)
      : { webId: externalOwner },
    clientPem('secretary', wanted.secretaryWebId).then(identityOf),
  ])
  if (isFailure(server) || isFailure(owner) || isFailure(secretary)) {
    return unusablePem(...[server, owner, secretary].flatMap((one) => (isFailure(one) ? one.faults : [])))
  }
  const notices = [
    ...[server, owner, secretary].flatMap((one) => ('notices' in one ? one.notices : [])),
    ...uncovered(server, hosts),
  ]
  const { cert, key } = server
  return { folder, server: { cert, key }, owner: withoutNotices(owner), secretary: withoutNotices(secretary), notices }
}

/** The server certificate as it is in its files now, with warnings; or its faults. */
export async function readServerCertificate(
  wanted: CertificatesWanted,
): Promise<(ServerCertificate & Pick<Pem, 'notices'>) | UnusableCertificates> {
  const file = join(wanted.folder, 'certs/server.pem')
  const server = await readPemFiles(wanted.serverFiles ?? { cert: file, key: file }, wanted.now())
  return isFailure(server) ? server : { ...server, notices: [...server.notices, ...uncovered(server, hostsOf(wanted))] }
}

const hostsOf = ({ hostNames }: CertificatesWanted): string[] =>
  hostNames.map((host) => host.replace(/^\[(.*)\]$/, '$1'))

/** A warning for each host that the certificate does not name. */
const uncovered = ({ leaf, file, fix }: Pem, hosts: readonly string[]): string[] =>
  hosts
    .filter((host) => !(isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)))
    .map((host) => `${file}: does not name ${host}. ${fix}`)

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
    return unusablePem(`${file}: has no WebID in its subject alternative name. ${MOVE_AWAY}`)
  if (!certificate.key) return unusablePem(`${file}: has no RSA key, which WebID-TLS needs. ${MOVE_AWAY}`)
  const { modulus, exponent } = certificate.key
  return { webId: certificate.webId, modulus, exponent: Number(exponent), cert, key, file, notices }
}

/** The file, created first if it does not exist; or its faults. */
async function ensure(file: string, now: number, make: () => Promise<string>): Promise<Pem | UnusableCertificates> {
  try {
    const found = await readIfExists(file)
    if (found !== undefined) return await pemOf(ownFile(file, found), now)
    await writeNew(file, await make())
    return await pemOf(ownFile(file, await readFile(file, 'utf8')), now)
  } catch (error) {
    return unusablePem(
      `${file}: cannot be read or written (${codeOf(error)}). Check the permissions of the file and its folder.`,
    )
  }
}

/** A file for browsers, which do not read PEM: created if it is missing or older than the certificate. */
async function withBrowserFile(pem: Pem | UnusableCertificates, file: string): Promise<Pem | UnusableCertificates> {
  if (isFailure(pem)) return pem
  try {
    const made = await modifiedAt(file)
    if (made !== undefined && made >= (await modifiedAt(pem.file))!) return pem
    if (made !== undefined) await unlink(file)
    const { pkcs12Of } = await import('../agents/pkcs12.js')
    await writeNew(file, await pkcs12Of(`${pem.cert}\n${pem.key}`, 'Triplegate owner', P12_PASSWORD))
    return pem
  } catch (error) {
    return {
      ...pem,
      notices: [...pem.notices, `${file}: cannot be written in the format for browsers (${codeOf(error)}).`],
    }
  }
}

const modifiedAt = async (file: string): Promise<number | undefined> =>
  (await stat(file).catch(() => undefined))?.mtimeMs

const ownFile = (file: string, text: string): PemText => ({ file, text, keyFile: file, keyText: text, fix: MOVE_AWAY })

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Writes the whole file or nothing, and never over a file that another process has created: link(2) does not replace.
 */
async function writeNew(file: string, content: string | Buffer): Promise<void> {
  const temporary = `${file}.${randomUUID()}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
    await link(temporary, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await handle.close()
    await unlink(temporary)
  }
}
