// The rows about identity: the same agent by a certificate, a session cookie, and a bearer token of an identity
// provider over TLS.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { pino } from 'pino'
import { makeServerCertificate } from '../../gateway/agents/make-certificate.js'
import { cookieName } from '../../gateway/identity/cookies.js'
import { openSessionKeys } from '../../gateway/identity/session-keys.js'
import { makeSessions } from '../../policies/identity/session.js'
import { accountQuads } from './bench-data.js'
import { contestant, TURTLE, withGateway, type Rows } from './documents.js'
import { compare, takeTurns, type Timing } from './series.js'
import type { Setting } from './setting.js'

const CLIENT = 'bench'
const SUBJECT = '248289761001'
const HOUR = 3_600_000

interface IdentityProvider {
  readonly issuer: string
  /** The PEM file with the certificate to trust. */
  readonly certificate: string
  /** An access token (RFC 9068) for the subject. */
  token(subject: string): Promise<string>
  end(): void
}

/** Discovery and keys (OpenID Connect Discovery §4): enough to check a token. */
async function startIdentityProvider(folder: string): Promise<IdentityProvider> {
  const pem = await makeServerCertificate(['localhost'], Date.now())
  const certificate = join(folder, 'identity-provider.pem')
  writeFileSync(certificate, pem, { mode: 0o600 })
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const header = { alg: 'RS256', kid: 'one' }
  const keys = { keys: [{ ...(await exportJWK(publicKey)), ...header, use: 'sig' }] }
  const server = createServer({ cert: pem, key: pem }, ({ url }, response) => {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(url === '/jwks' ? keys : metadata))
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    certificate,
    token: (subject) =>
      new SignJWT({ client_id: CLIENT, scope: 'openid profile' })
        .setProtectedHeader({ ...header, typ: 'at+jwt' })
        .setIssuer(issuer)
        .setSubject(subject)
        .setAudience(CLIENT)
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    end() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The session cookie after a log-in, sealed with the key of the gateway. */
async function sessionCookie({ data, base, admin }: Setting, issuer: string): Promise<string> {
  const now = (): number => Date.now()
  const log = pino({ level: 'silent' })
  const keys = await openSessionKeys(join(data, 'session-keys.json'), HOUR, { now, log })
  const { cookie } = await makeSessions(keys, HOUR, now).begin({ issuer, subject: SUBJECT, dataspace: admin })
  const place = { application: { base }, dataspace: { admin: { base: admin } } }
  return `${cookieName('session', place)}=${cookie}`
}

export async function identities(setting: Setting, timing: Timing): Promise<Rows> {
  const provider = await startIdentityProvider(setting.data)
  const { issuer, certificate } = provider
  const flags = [
    ...['--oidc-issuer', issuer, '--oidc-client-id', CLIENT],
    ...['--allow-fetch', '127.0.0.1', '--allow-fetch', '::1'],
  ]
  try {
    await setting.load(accountQuads(setting.admin, { issuer, subject: SUBJECT }), 'admin')
    return await withGateway(
      setting,
      flags,
      async (gateway) => {
        setting.place('measured')
        const by = (name: string, credential: Record<string, string>) =>
          contestant(name, gateway.anonymous(setting.path, { ...TURTLE, ...credential }))
        const outcome = await takeTurns(
          [
            contestant('certificate', gateway.request(setting.path, TURTLE)),
            by('session', { Cookie: await sessionCookie(setting, issuer) }),
            by('token', { Authorization: `Bearer ${await provider.token(SUBJECT)}` }),
          ],
          timing,
        )
        const row = (title: string, of: string) => compare(outcome, { row: title, of, to: 'certificate', target: 1 })
        return {
          rows: [row('cached GET, by a session cookie', 'session'), row('cached GET, by a token seen before', 'token')],
          notes: [
            'Session, token and certificate: of the same agent, on the plain listener; the certificate in Client-Cert.',
          ],
        }
      },
      { env: { NODE_EXTRA_CA_CERTS: certificate } },
    )
  } finally {
    provider.end()
  }
}
