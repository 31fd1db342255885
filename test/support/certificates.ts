// Certificates that the gateways of one test run share: creating the keys of a gateway costs more than its start.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeClientCertificate } from '../../gateway/agents/make-certificate.js'

/** `npm test` creates this folder and removes it. Without it, each gateway creates its own certificates. */
const SHARED = process.env.TRIPLEGATE_TEST_CERTIFICATES

/** Certificates contain WebIDs, which contain the port, so gateways can share them only if they use the same port. */
function folderOf(port: number): string | undefined {
  if (SHARED === undefined) return undefined
  const folder = join(SHARED, String(port))
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Writes the whole file or nothing: the process may be killed meanwhile. */
function put(file: string, content: string | Buffer): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Gives a data folder the certificates of an earlier gateway on this port, before its first start. */
export function shareCertificates(port: number, data: string): void {
  const from = folderOf(port)
  if (from === undefined) return
  mkdirSync(join(data, 'certs'), { recursive: true, mode: 0o700 })
  for (const file of readdirSync(from).filter((name) => name.endsWith('.pem'))) {
    copyFileSync(join(from, file), join(data, 'certs', file))
  }
}

/** Saves the certificates that the first start has created. */
export function collectCertificates(port: number, data: string): void {
  const to = folderOf(port)
  if (to === undefined) return
  for (const name of ['server.pem', 'owner.pem', 'secretary.pem']) {
    const file = join(data, 'certs', name)
    if (existsSync(file) && !existsSync(join(to, name))) put(join(to, name), readFileSync(file))
  }
}

/** PEM with certificate and key of an agent of a gateway on this port. */
export async function agentCertificate(port: number, webId: string, name: string): Promise<string> {
  const folder = folderOf(port)
  const file = folder === undefined ? undefined : join(folder, `${encodeURIComponent(webId)}.agent`)
  if (file !== undefined && existsSync(file)) return readFileSync(file, 'utf8')
  const pem = await makeClientCertificate(webId, name, Date.now())
  if (file !== undefined) put(file, pem)
  return pem
}

/**
 * A certificate as others than the gateway issue them, by openssl: PEM with its key, which is that of `pem`.
 * @param names as in openssl's configuration: `URI:urn:x`
 */
export function foreignCertificate(pem: string, names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-certificate-'))
  const [key, configuration] = [join(folder, 'key.pem'), join(folder, 'openssl.conf')]
  const lines = names.map((name, i) => name.replace(/^(\w+):/, `$1.${i} = `).replaceAll('#', '\\#'))
  const settings = ['[req]', 'distinguished_name = dn', 'x509_extensions = ext', 'prompt = no', '[dn]', 'CN = Ann', '[ext]'] // prettier-ignore
  writeFileSync(configuration, [...settings, 'subjectAltName = @names', '[names]', ...lines].join('\n'))
  writeFileSync(key, pem)
  try {
    const args = ['req', '-x509', '-config', configuration, '-key', key, '-days', '30']
    return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }) + pem.slice(pem.indexOf('-----BEGIN PRIVATE')) // prettier-ignore
  } finally {
    rmSync(folder, { recursive: true })
  }
}
