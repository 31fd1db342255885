// Certificates of the data folder: as openssl and curl see them, and existing files.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import t from 'tap'
import { ensureCertificates, type Certificates, type CertificatesWanted } from '../../../gateway/start/certificates.js'
import { isFailure } from '../../../gateway/problem.js'

const run = promisify(execFile)
const openssl = async (...args: string[]): Promise<string> => (await run('openssl', args)).stdout

/** Checks a self-signed certificate for a purpose. */
const verify = (purpose: string, file: string): Promise<string> =>
  openssl(...`verify -x509_strict -purpose ${purpose} -attime ${NOW / 1000} -CAfile`.split(' '), file, file)

const NOW = Date.parse('2026-11-20T12:00:00Z')
const DAY = 24 * 60 * 60 * 1000
const OWNER = 'https://data.example.org/admin/acl/agents/0d0e2b3c/#this'
const SECRETARY = 'https://data.example.org/admin/acl/agents/5f1c7a90/#this'

const base = mkdtempSync(join(tmpdir(), 'triplegate-'))
t.teardown(() => rmSync(base, { recursive: true, force: true }))
let folders = 0
const newFolder = (): string => join(base, String(++folders))

const ensure = (folder: string, more: Partial<CertificatesWanted> = {}): ReturnType<typeof ensureCertificates> =>
  ensureCertificates({
    folder,
    hostNames: ['data.example.org', '[fd00::7]'],
    ownerWebId: OWNER,
    secretaryWebId: SECRETARY,
    now: () => NOW,
    ...more,
  })

async function certificatesIn(folder: string, more: Partial<CertificatesWanted> = {}): Promise<Certificates> {
  const certificates = await ensure(folder, more)
  if (isFailure(certificates)) throw new Error(certificates.faults.join('\n'))
  return certificates
}
const faultsIn = async (folder: string, more: Partial<CertificatesWanted> = {}): Promise<readonly string[]> => {
  const certificates = await ensure(folder, more)
  return isFailure(certificates) ? certificates.faults : []
}

const first = newFolder()
const made = certificatesIn(first)
const pem = (name: string): string => join(first, 'certs', `${name}.pem`)

void t.test('the certificates of a first start', async (t) => {
  const { owner, secretary, notices, folder } = await made
  t.equal(folder, join(first, 'certs'))
  t.same(notices, [])
  for (const [name, webId, identity] of [
    ['owner', OWNER, owner],
    ['secretary', SECRETARY, secretary],
  ] as const) {
    const text = await openssl('x509', '-in', pem(name), '-noout', '-text')
    t.match(text, new RegExp(`Subject Alternative Name: *\\n +URI:${webId}\\n`), 'the WebID is the first and only name')
    t.match(text, `Subject: CN = Triplegate ${name}`)
    t.match(text, 'Public-Key: (2048 bit)')
    t.match(text, 'CA:FALSE')
    t.match(text, 'TLS Web Client Authentication')
    t.match(text, 'Not Before: Nov 20 11:00:00 2026 GMT')
    t.match(text, 'Not After : Nov 17 12:00:00 2036 GMT')
    const modulus = (await openssl('x509', '-in', pem(name), '-noout', '-modulus')).trim()
    t.match(identity, { webId, exponent: 65537 })
    t.equal('modulus' in identity && identity.modulus, modulus.replace('Modulus=', '').toLowerCase())
    t.match(await verify('sslclient', pem(name)), 'OK')
    t.match(await openssl('rsa', '-in', pem(name), '-check', '-noout'), 'RSA key ok')
  }
  const text = await openssl('x509', '-in', pem('server'), '-noout', '-text')
  const named = 'DNS:data.example.org, IP Address:FD00:0:0:0:0:0:0:7'
  t.match(text, `${named}, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1`)
  t.match(text, 'TLS Web Server Authentication')
  t.match(await verify('sslserver', pem('server')), 'OK')
})

void t.test('private keys are for the owner of the process only', async (t) => {
  await made
  t.equal(statSync(join(first, 'certs')).mode & 0o777, 0o700)
  for (const name of readdirSync(join(first, 'certs'))) {
    t.equal(statSync(join(first, 'certs', name)).mode & 0o777, 0o600, name)
    if (name === 'owner.p12') continue
    t.match(
      readFileSync(join(first, 'certs', name), 'utf8'),
      /^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\s+-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n$/,
    )
  }
  const names = ['owner.p12', 'owner.pem', 'secretary.pem', 'server.pem']
  t.same(readdirSync(join(first, 'certs')).sort(), names, 'nothing else is left')
})

void t.test(
  "owner.p12 has the owner's certificate and key for browsers, and is rewritten when these change",
  async (t) => {
    const folder = newFolder()
    await certificatesIn(folder)
    const file = (name: string): string => join(folder, 'certs', name)
    const ofP12 = async (): Promise<string> => (await openssl('pkcs12', '-in', file('owner.p12'), '-passin', 'pass:triplegate', '-nodes')).replace(/^(?:Bag| |subject|issuer|Key).*\n/gm, '') // prettier-ignore
    const withoutSpace = (text: string): string[] => text.split(/(?=-----BEGIN)/).map((part) => part.trim()).filter((part) => part.startsWith('-----')).sort() // prettier-ignore
    const now = async () => [withoutSpace(await ofP12()), withoutSpace(readFileSync(file('owner.pem'), 'utf8'))]
    t.same(...((await now()) as [string[], string[]]))
    writeFileSync(file('owner.pem'), readFileSync(pem('owner')))
    utimesSync(file('owner.p12'), 1, 1)
    await certificatesIn(folder)
    t.same(...((await now()) as [string[], string[]]))
  },
)

void t.test('curl trusts the server by its certificate and shows its own', async (t) => {
  const { server } = await certificatesIn(newFolder(), { now: Date.now })
  const folder = join(base, String(folders), 'certs')
  const https = createServer({ ...server, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    response.end((request.socket as TLSSocket).getPeerCertificate().subjectaltname ?? 'anonymous')
  }).listen(0, '127.0.0.1')
  await once(https, 'listening')
  const { port } = https.address() as AddressInfo
  t.teardown(() => https.close())
  const options = ['--silent', '--show-error', '--max-time', '20', '--cacert', join(folder, 'server.pem')]
  const curl = async (...args: string[]): Promise<string> => (await run('curl', [...options, ...args])).stdout
  t.equal(await curl(`https://127.0.0.1:${port}/`), 'anonymous')
  t.equal(await curl('--cert', join(folder, 'owner.pem'), `https://127.0.0.1:${port}/`), `URI:${OWNER}`)
  const at = (host: string): string[] => ['--resolve', `${host}:${port}:127.0.0.1`, `https://${host}:${port}/`]
  t.equal(await curl('--cert', join(folder, 'secretary.pem'), ...at('data.example.org')), `URI:${SECRETARY}`)
  await t.rejects(curl(...at('other.example.org')), 'no other host')
})

void t.test('existing files are used and never written', async (t) => {
  const { owner, secretary } = await made
  const before = ['owner', 'secretary', 'server'].map((name) => readFileSync(pem(name), 'utf8'))
  const again = await certificatesIn(first, {
    ownerWebId: 'https://other.example/#i',
    secretaryWebId: 'https://other.example/#s',
  })
  t.same([again.owner, again.secretary], [owner, secretary], 'WebID and key are those of the certificate')
  t.same(
    ['owner', 'secretary', 'server'].map((name) => readFileSync(pem(name), 'utf8')),
    before,
  )
})

void t.test('processes that start at once get the same certificates', async (t) => {
  const folder = newFolder()
  const all = await Promise.all(
    [1, 2, 3, 4].map((i) => certificatesIn(folder, { ownerWebId: `https://data.example.org/${i}#i` })),
  )
  for (const one of all) t.same(one, all[0])
  t.equal(readdirSync(join(folder, 'certs')).length, 4, 'nothing else is left')
})

void t.test('an owner with a WebID of their own has no certificate here', async (t) => {
  const folder = newFolder()
  const { owner } = await certificatesIn(folder, { externalOwner: 'https://me.example/#i' })
  t.same(owner, { webId: 'https://me.example/#i' })
  t.same(readdirSync(join(folder, 'certs')).sort(), ['secretary.pem', 'server.pem'])
})

void t.test('each fault names its file', async (t) => {
  await made
  const copyOf = (change: (folder: string) => void): string => {
    const folder = newFolder()
    mkdirSync(join(folder, 'certs'), { recursive: true })
    for (const name of ['owner', 'secretary', 'server']) copyFileSync(pem(name), join(folder, 'certs', `${name}.pem`))
    change(join(folder, 'certs'))
    return folder
  }
  const text = (name: string): string => readFileSync(pem(name), 'utf8')
  const [certificate, key] = text('owner').split(/(?=-----BEGIN PRIVATE)/) as [string, string]
  const otherKey = text('secretary').split(/(?=-----BEGIN PRIVATE)/)[1]!
  const encrypted = key.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY')
  const torn = certificate.replace(/\n.{64}\n/, '\n')
  // prettier-ignore
  const rows: [what: string, owner: string, fault: RegExp][] = [
    ['an empty file', '', /owner\.pem: holds no certificate in PEM\. Move the file away/],
    ['no key', certificate, /owner\.pem: holds no private key in PEM without a password/],
    ['a key with a password', certificate + encrypted, /owner\.pem: holds no private key in PEM without a password/],
    ['the key of another agent', certificate + otherKey, /owner\.pem: its key does not belong to its certificate/],
    ['a torn certificate', torn + key, /owner\.pem: holds a certificate or key that cannot be read/],
    ['no WebID and no RSA', text('server'), /owner\.pem: has no WebID in its subject alternative name/],
  ]
  for (const [what, owner, fault] of rows) {
    const faults = await faultsIn(copyOf((folder) => writeFileSync(join(folder, 'owner.pem'), owner)))
    t.match(faults, [fault], what)
    t.equal(faults.length, 1, what)
  }
  t.match(
    await faultsIn(
      copyOf(() => undefined),
      { now: () => NOW + 3651 * DAY },
    ),
    [
      /server\.pem: expired on Feb 22/,
      /owner\.pem: expired on Nov 17 12:00:00 2036 GMT\. Move/,
      /secretary\.pem: expired/,
    ],
    'expired: all at once',
  )
  t.match(await faultsIn(first, { now: () => NOW - DAY }), [/server\.pem: is not valid before/, /owner/, /secretary/])
  t.match(await faultsIn(join(pem('owner'), 'x')), [/cannot be created \(ENOTDIR\)\. Give another folder/])
  t.match(
    await faultsIn(copyOf((folder) => (rmSync(join(folder, 'owner.pem')), mkdirSync(join(folder, 'owner.pem'))))),
    [/owner\.pem: cannot be read or written \(EISDIR\)/],
  )
})

void t.test('notices for the operator', async (t) => {
  await made
  const more = await certificatesIn(first, {
    hostNames: ['new.example.org', '10.0.0.1', 'localhost'],
    now: () => NOW + 800 * DAY,
  })
  t.match(more.notices, [
    /server\.pem: expires on/,
    /server\.pem: does not name new\.example\.org/,
    /does not name 10\.0\.0\.1/,
  ])
  t.equal(more.notices.length, 3)
  const open = newFolder()
  mkdirSync(join(open, 'certs'), { recursive: true })
  copyFileSync(pem('owner'), join(open, 'certs/owner.pem'))
  chmodSync(join(open, 'certs/owner.pem'), 0o644)
  t.match((await certificatesIn(open)).notices, [/owner\.pem: other accounts may read or write the private key/])
  chmodSync(join(open, 'certs/owner.pem'), 0o640)
  t.match((await certificatesIn(open)).notices, [/owner\.pem: other accounts/], 'the group of this account')
  if (process.getuid!() === 0) chownSync(join(open, 'certs/owner.pem'), 1234, 0)
  else return
  t.same((await certificatesIn(open)).notices, [], 'the group of another account, as in Kubernetes')
  chmodSync(join(open, 'certs/owner.pem'), 0o644)
  t.match((await certificatesIn(open)).notices, [/owner\.pem: other accounts/], 'everyone')
})
