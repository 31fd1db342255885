// A real OpenID Connect provider for tests, over TLS, a browser that logs in there, and tokens signed
// with its key.
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createServer as createPlainServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose'
import { Provider } from 'oidc-provider'
import type { Test } from 'tap'

export interface Person {
  readonly name?: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly groups?: readonly string[]
}

export interface IdentityProvider {
  readonly issuer: string
  /** The claims of each subject, to be set before the subject logs in. */
  readonly people: Map<string, Person>
  /** The number of requests for its key set. */
  keysAsked(): number
  /** Registers a client that may be redirected to these URIs. */
  register(clientId: string, clientSecret: string, redirectUris: readonly string[]): void
  /** A token that the client `robot` gets for itself (RFC 6749 §4.4), for this audience (RFC 8707). */
  serviceToken(audience: string): Promise<string>
  /** Follows the gateway's redirection, logs in as this subject, and returns the URL that leads back to the gateway. */
  visit(location: string, subject: string): Promise<string>
  /** A token signed with the provider's key. */
  token(claims: JWTPayload, header?: { alg?: string; typ?: string; kid?: string }): Promise<string>
}

/** This process additionally trusts its certificate (NODE_EXTRA_CA_CERTS). */
export async function makeIdentityProvider(t: Test, scheme: 'https' | 'http' = 'https'): Promise<IdentityProvider> {
  const pem = scheme === 'https' ? readFileSync(process.env.TRIPLEGATE_TEST_PROVIDER!, 'utf8') : ''
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end()
  let keysAsked = 0
  const answer: RequestListener = (request, response) => {
    if (request.url === '/jwks') keysAsked++
    listener(request, response)
  }
  const made = scheme === 'http' ? createPlainServer(answer) : createServer({ cert: pem, key: pem }, answer)
  const server = made.listen(0, 'localhost')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `${scheme}://localhost:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const people = new Map<string, Person>()

  return {
    issuer,
    people,
    keysAsked: () => keysAsked,
    register(clientId, clientSecret, redirectUris) {
      const provider = new Provider(issuer, {
        clients: [
          { client_id: clientId, client_secret: clientSecret, redirect_uris: [...redirectUris] },
          {
            client_id: 'robot',
            client_secret: 'r',
            grant_types: ['client_credentials'],
            response_types: [],
            redirect_uris: [],
          },
        ],
        features: {
          clientCredentials: { enabled: true },
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_context, audience) => ({ scope: '', audience, accessTokenFormat: 'jwt' }),
          },
        },
        jwks: { keys: [key as never] },
        cookies: { keys: [randomUUID()] },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
        findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
        pkce: { required: () => true },
      })
      const handle = provider.callback()
      listener = (request, response) => void handle(request, response)
    },
    async serviceToken(resource) {
      const authorization = `Basic ${Buffer.from('robot:r').toString('base64')}`
      const body = new URLSearchParams({ grant_type: 'client_credentials', resource })
      const answer = await fetch(`${issuer}/token`, { method: 'POST', headers: { authorization }, body })
      return ((await answer.json()) as { access_token: string }).access_token
    },
    visit: (location, subject) => visit(location, subject, issuer),
    token: (claims, { alg = 'RS256', typ, kid = 'one' } = {}) =>
      new SignJWT({ iat: Math.floor(Date.now() / 1000), ...claims })
        .setProtectedHeader({ alg, kid, ...(typ !== undefined && { typ }) })
        .sign(privateKey),
  }
}

async function visit(location: string, subject: string, issuer: string): Promise<string> {
  const jar = new Map<string, string>()
  let next: { url: string; form?: URLSearchParams } = { url: location }
  for (let hops = 0; hops < 20; hops++) {
    const answer = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.form && { method: 'POST', body: next.form }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      jar.set(name!, value!)
    }
    const to = answer.headers.get('location')
    const text = await answer.text()
    if (to !== null) {
      const url = new URL(to, next.url)
      if (url.origin !== issuer) return url.href
      next = { url: url.href }
      continue
    }
    const action = /action="([^"]+)"/.exec(text)?.[1]
    const prompt = /name="prompt" value="([^"]+)"/.exec(text)?.[1]
    if (action === undefined || prompt === undefined) throw new Error(`the provider answered ${answer.status}: ${text}`)
    const form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: subject, password: 'any' }) })
    next = { url: new URL(action, next.url).href, form }
  }
  throw new Error('the provider redirects without end')
}

/** A key that tokens can be bound to, and proofs of it (RFC 9449). */
export interface ProofKey {
  readonly thumbprint: string
  prove(claims: {
    htm: string
    htu: string
    token: string
    jti?: string
    iat?: number
    ath?: string
    typ?: string
  }): Promise<string>
}

export async function makeProofKey(): Promise<ProofKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk: JWK = await exportJWK(publicKey)
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    prove: ({ htm, htu, token, jti = randomUUID(), iat = Math.floor(Date.now() / 1000), ath, typ = 'dpop+jwt' }) =>
      new SignJWT({ htm, htu, jti, iat, ath: ath ?? createHash('sha256').update(token).digest('base64url') })
        .setProtectedHeader({ alg: 'ES256', typ, jwk })
        .sign(privateKey),
  }
}
