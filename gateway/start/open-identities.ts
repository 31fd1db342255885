// Opening log-in and tokens: the configured providers, the keys of sessions, and a connection to the providers
// that follows no redirects, because it carries credentials.
import { join } from 'node:path'
import { isLoopback } from '../../policies/fetch/address.js'
import { makeGuardedFetch, type GuardedFetchSettings } from '../../policies/fetch/guarded-fetch.js'
import type { ReadProfile } from '../../policies/identity/webid.js'
import type { Log } from '../log.js'
import { isFailure } from '../problem.js'
import { makeOidcClient } from '../identity/provider-client.js'
import { makeIdentities, type Identities } from '../identity/identities.js'
import { readProviders, type Provider } from '../configuration/identity-providers.js'
import { openSessionKeys } from '../identity/session-keys.js'
import { PROFILE_MAX_AGE_MS } from '../request/identify.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Doors } from '../configuration/doors.js'
import type { Settings } from '../configuration/settings.js'

interface Surroundings {
  readonly readProfile: ReadProfile
  readonly signUp: Doors['signUp']
  readonly log: Log
  readonly now: () => number
}

/** Throws StartFailure. */
export async function openIdentities(
  settings: Settings,
  destinations: GuardedFetchSettings,
  { readProfile, signUp, log, now }: Surroundings,
): Promise<{ readonly identities: Identities; close(): Promise<void> }> {
  const providers = await readProviders(settings)
  if (isFailure(providers)) throw new StartFailure(providers.detail, providers.failure)
  const fetcher = makeGuardedFetch({ ...withLocal(destinations, providers, log), maxRedirects: 0 })
  const client = makeOidcClient(fetcher, now)
  const lifetime = settings.sessionLifetime
  const file = join(settings.data, 'session-keys.json')
  const keys = await openSessionKeys(file, lifetime, { now, log })
  const opensToServices = signUp === 'everyone'
  const about = {
    providers,
    client,
    keys,
    lifetime,
    readProfile,
    profileMaxAge: PROFILE_MAX_AGE_MS,
    opensToServices,
    now,
  }
  const identities = makeIdentities(about)
  return { identities, close: fetcher.close }
}

/**
 * Providers on this machine may be reached by http, without --allow-fetch (configuration/setting-values.ts,
 * `issuerUrl`).
 */
function withLocal(destinations: GuardedFetchSettings, providers: readonly Provider[], log: Log): GuardedFetchSettings {
  const local = providers.filter(({ issuer }) => issuer.startsWith('http:'))
  for (const { issuer } of local) log.warn({ issuer }, 'this identity provider has no TLS: use it for development only')
  const { allow } = destinations
  const matches = (ip: string): boolean => isLoopback(ip) || (allow?.matches(ip) ?? false)
  return local.length === 0 ? destinations : { ...destinations, allow: { matches } }
}
