// The requests to identity providers: discovery, the authorization code flow with PKCE, state and nonce (OpenID Connect
// Core §3.1, RFC 7636, RFC 9700), the claims about the person, and the keys of tokens.
import * as openid from 'openid-client'
import type { JSONWebKeySet } from 'jose'
import { failure, type Failure } from '../../policies/failure.js'
import { isUntrusted } from '../../policies/fetch/fetch-failure.js'
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { membershipsOf } from '../../policies/identity/memberships.js'
import { isFailure } from '../problem.js'
import type { Provider } from '../configuration/identity-providers.js'

/** The secrets of an unfinished log-in, known only to the gateway and the browser. */
export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Person {
  readonly subject: string
  readonly webId?: string
  readonly name?: string
  readonly givenName?: string
  readonly familyName?: string
  readonly email?: string
  /** True if the provider has verified the e-mail address. */
  readonly isEmailVerified: boolean
  readonly memberships: readonly string[]
}

/** The reason why a log-in failed, for the log. `unavailable`: the provider cannot be reached now. */
export type LoginFailure = Failure<'unavailable' | 'refused'>

export interface OidcClient {
  /** The address to send the browser to, with the secrets of this log-in. */
  begin(provider: Provider, redirectUri: string): Promise<(Begun & { readonly location: string }) | LoginFailure>
  /** The person who logged in. `callback`: the redirect URI with the query of the request. */
  finish(provider: Provider, callback: URL, begun: Begun): Promise<Person | LoginFailure>
  /** The keys of the provider's tokens. Never rejects. */
  readKeys(provider: Provider): Promise<JSONWebKeySet | Failure>
}

const DISCOVERY_MS = 3_600_000
/** The same time as in Retry-After. */
const FAILURE_MS = 1_000
const TIMEOUT_S = 10

/** `fetcher` must not follow redirects: the requests contain credentials. */
export function makeOidcClient(fetcher: GuardedFetch, now: () => number): OidcClient {
  const discovered = new Map<string, { readonly asked: number; readonly config: Promise<openid.Configuration> }>()

  /** Rejects if discovery fails. Failures are cached for a while too. */
  function configurationOf(provider: Provider): Promise<openid.Configuration> {
    const known = discovered.get(provider.name)
    if (known && now() - known.asked < DISCOVERY_MS) return known.config
    const asked = now()
    const config = discover(provider, fetcher)
    discovered.set(provider.name, { asked, config })
    config.catch(() => discovered.set(provider.name, { asked: now() - DISCOVERY_MS + FAILURE_MS, config }))
    return config
  }

  return {
    begin: (provider, redirectUri) =>
      orFailure(async () => {
        const config = await configurationOf(provider)
        const begun = {
          state: openid.randomState(),
          nonce: openid.randomNonce(),
          verifier: openid.randomPKCECodeVerifier(),
        }
        const location = openid.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: provider.scope,
          state: begun.state,
          nonce: begun.nonce,
          code_challenge: await openid.calculatePKCECodeChallenge(begun.verifier),
          code_challenge_method: 'S256',
        })
        return { ...begun, location: location.href }
      }),
    finish: (provider, callback, { state, nonce, verifier }) =>
      orFailure(async () => {
        const config = await configurationOf(provider)
        const tokens = await openid.authorizationCodeGrant(config, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()!
        // OpenID Connect Core §5.4: in the code flow these may be available only at the UserInfo endpoint.
        const isComplete =
          (claims.email !== undefined && claims['groups'] !== undefined) || !config.serverMetadata().userinfo_endpoint
        const more = isComplete ? {} : await openid.fetchUserInfo(config, tokens.access_token, claims.sub)
        if (!claims.sub.isWellFormed()) throw new Error('The subject is not well-formed text.')
        return personOf(provider.issuer, { ...more, ...claims })
      }),
    readKeys: (provider) => readKeys(configurationOf(provider), fetcher),
  }
}

async function readKeys(
  configuration: Promise<openid.Configuration>,
  fetcher: GuardedFetch,
): Promise<JSONWebKeySet | Failure> {
  try {
    const uri = (await configuration).serverMetadata().jwks_uri
    if (uri === undefined) return unavailable('The issuer has no jwks_uri.')
    const answer = await fetcher.fetch(uri, { accept: 'application/json, application/jwk-set+json' })
    if (isFailure(answer)) return unavailable(withFix(answer))
    if (answer.status !== 200) return unavailable(`The URL of the keys was answered with status ${answer.status}.`)
    const keys: unknown = JSON.parse(answer.body.toString('utf8'))
    return isKeySet(keys) ? { keys: keys.keys } : unavailable('The key set of the issuer is malformed.')
  } catch (error) {
    return unavailable(`The keys of the issuer cannot be read: ${reasonOf(error as Error)}`)
  }
}

const unavailable = (detail: string): LoginFailure => failure('unavailable', detail)

/** RFC 7517 §5. */
function isKeySet(value: unknown): value is JSONWebKeySet {
  const { keys } = Object(value) as { keys?: unknown }
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null && !Array.isArray(key))
}

async function discover(provider: Provider, fetcher: GuardedFetch): Promise<openid.Configuration> {
  const { issuer, clientId, clientSecret } = provider
  const config = await openid.discovery(new URL(issuer), clientId, undefined, authentication(clientSecret), {
    [openid.customFetch]: guarded(fetcher),
    timeout: TIMEOUT_S,
    // The configuration accepts such an issuer only on this machine.
    ...(issuer.startsWith('http:') && { execute: [openid.allowInsecureRequests] }),
  })
  // Checks the signature of the ID token even if it came directly from the provider.
  openid.enableNonRepudiationChecks(config)
  return config
}

function authentication(secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return openid.None()
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)]
  return (server, ...rest) => {
    // OpenID Connect Discovery §3: the default is client_secret_basic.
    const { token_endpoint_auth_methods_supported: methods } = server
    return (!methods || methods.includes('client_secret_basic') ? basic : post)(server, ...rest)
  }
}

/** Checks every address that a provider names before requesting it. */
const guarded =
  (fetcher: GuardedFetch): openid.CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const { accept, ...fields } = Object.fromEntries(new Headers(headers))
    const answer = await fetcher.fetch(url, {
      accept: accept ?? 'application/json',
      method,
      fields,
      ...(body !== null && body !== undefined && { body: String(body) }),
      ...(signal && { signal }),
    })
    if (isFailure(answer)) throw new Unreachable(withFix(answer))
    if (answer.status >= 500 || answer.status === 429)
      throw new Unreachable(`The provider answered with status ${answer.status}.`)
    const bare = [101, 204, 205, 304].includes(answer.status)
    return new Response(bare ? null : new Uint8Array(answer.body), { status: answer.status, headers: answer.fields })
  }

class Unreachable extends Error {}

/** The reason for the log, with the setting that a provider in a private network needs. */
function withFix(failed: Failure): string {
  const { failure, detail } = failed
  if (failure === 'refused-address' || failure === 'refused-port') {
    return `${detail} If the identity provider is in your own network, add its address to --allow-fetch.`
  }
  return isUntrusted(failed)
    ? `${detail} If its certificate comes from your own authority, start the gateway with NODE_EXTRA_CA_CERTS=FILE.`
    : detail
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 500 && value.isWellFormed() ? value : undefined

function personOf(issuer: string, claims: Readonly<Record<string, unknown>> & { readonly sub: string }): Person {
  const [webId, name, givenName, familyName, email] = [
    claims.webid,
    claims.name,
    claims.given_name,
    claims.family_name,
    claims.email,
  ].map(text)
  return {
    subject: claims.sub,
    ...(webId !== undefined && { webId }),
    ...(name !== undefined && { name }),
    ...(givenName !== undefined && { givenName }),
    ...(familyName !== undefined && { familyName }),
    ...(email !== undefined && { email }),
    isEmailVerified: claims.email_verified === true,
    memberships: membershipsOf(issuer, claims),
  }
}

async function orFailure<T>(attempt: () => Promise<T>): Promise<T | LoginFailure> {
  try {
    return await attempt()
  } catch (error) {
    const isUnavailable = error instanceof Unreachable || (error as Error).cause instanceof Unreachable
    return failure(isUnavailable ? 'unavailable' : 'refused', reasonOf(error as Error))
  }
}

const reasonOf = (error: Error): string =>
  [
    error.message,
    ...(error.cause instanceof Error ? [error.cause.message] : []),
    ...saidByProvider(error as object),
  ].join(': ')

/** RFC 6749 §4.1.2.1, §5.2: only the error, never other parts such as a code or token. */
const saidByProvider = ({
  error,
  error_description: description,
}: {
  error?: unknown
  error_description?: unknown
}): string[] => [error, description].filter((one) => typeof one === 'string').map((one) => one.slice(0, 200))
