// Reads the identity providers of the configuration files, and the one of the settings.
//
//   <urn:example:google> a lds:IdentityProvider ; dct:identifier "google" ; lacl:issuer <https://accounts.google.com> ;
// // lds:clientId "…" ; lds:scope "openid email profile" ; lds:audience "…" . (scope and audience are optional)
//
// The client's secret is `a:authPwd` of the same resource in the credentials file; a public client has none.
import { readQuads } from './configuration.js'
import { wrongConfiguration, type Fault, type WrongConfiguration } from './faults.js'
import { describe, type DescribedResources } from './described-resources.js'
import { issuerUrl, providerName } from './setting-values.js'
import type { Settings } from './settings.js'
import { A, DCT, LACL, LDS } from '../rdf/vocabulary.js'
import { isFailure } from '../problem.js'

export interface Provider {
  /** A path segment. */
  readonly name: string
  /** The `iss` claim of its tokens. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string
  /** Separated by spaces; `openid` is among them. */
  readonly scope: string
  /** The `aud` claim of a token must contain one of these: the client's id, or others. */
  readonly audiences: readonly string[]
}

const DEFAULT_SCOPE = 'openid email profile'

export async function readProviders(settings: Settings): Promise<readonly Provider[] | WrongConfiguration> {
  const faults: Fault[] = []
  const config = (await Promise.all(settings.config.map((file) => readQuads(file, faults)))).flat()
  const credentials = settings.credentials === undefined ? [] : await readQuads(settings.credentials, faults, true)
  const described = describe(config, faults)
  const secrets = describe(credentials, faults)
  const providers = [
    ...described.subjects
      .filter((iri) => described.types(iri).includes(LDS('IdentityProvider')))
      .flatMap((iri) => describedProvider(iri, described, secrets) ?? []),
    ...providerOfSettings(settings),
  ]
  for (const [i, { name, issuer }] of providers.entries()) {
    const other = providers.slice(0, i).find((one) => one.name === name || one.issuer === issuer)
    if (!other) continue
    const problem = `has the name or the issuer of another provider (${name}, ${issuer})`
    faults.push({ subject: `identity provider ${name}`, property: '', problem, fix: 'Keep one of them.' })
  }
  return faults.length > 0 ? wrongConfiguration(faults) : providers
}

function describedProvider(
  iri: string,
  config: DescribedResources,
  credentials: DescribedResources,
): Provider | undefined {
  const name = valueOf(iri, DCT('identifier'), providerName, config)
  const issuer = valueOf(iri, LACL('issuer'), issuerUrl, config)
  const clientId = config.required(iri, [LDS('clientId')], 'Give the id of this gateway at the provider.')
  const scope = config.one(iri, [LDS('scope')]) ?? DEFAULT_SCOPE
  const clientSecret = credentials.one(iri, [A('authPwd')])
  if (name === undefined || issuer === undefined || clientId === undefined) return undefined
  const audiences = [clientId, ...config.all(iri, [LDS('audience')])]
  return { name, issuer, clientId, scope: withOpenId(scope), audiences, ...(clientSecret && { clientSecret }) }
}

function valueOf(
  iri: string,
  property: string,
  parse: typeof issuerUrl,
  config: DescribedResources,
): string | undefined {
  const value = config.required(iri, [property], 'Add it.')
  const parsed = value === undefined ? undefined : parse(value)
  if (!isFailure(parsed)) return parsed
  config.fault(iri, property, parsed.detail, parsed.fix)
  return undefined
}

function providerOfSettings(settings: Settings): Provider[] {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcName: name } = settings
  if (issuer === undefined || clientId === undefined) return []
  const audiences = [clientId, ...settings.oidcAudience]
  return [
    { name, issuer, clientId, scope: DEFAULT_SCOPE, audiences, ...(clientSecret !== undefined && { clientSecret }) },
  ]
}

/** OpenID Connect Core §3.1.2.1: without `openid` there is no ID token. */
const withOpenId = (scope: string): string => (scope.split(' ').includes('openid') ? scope : `openid ${scope}`)
