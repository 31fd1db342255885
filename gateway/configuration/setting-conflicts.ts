// Finds settings that conflict: values that exclude each other, and values that need another one. Pure.
import { APPLICATIONS, SETTINGS } from './setting-table.js'

/** The texts given for a setting, and the flag or variable that gave them. */
export interface Given {
  readonly source: string
  readonly texts: readonly string[]
}
/** By the name of the setting. */
export type AllGiven = ReadonlyMap<string, Given>

type Has = (name: string) => boolean
/** The flag or variable of a setting. */
type SourceOf = (name: string) => string

/** One line per conflict, with its fix. */
export function settingConflicts(given: AllGiven): string[] {
  const has: Has = (name) => given.has(name)
  const source: SourceOf = (name) => given.get(name)?.source ?? `--${name}`
  const stores = has('config')
    ? besideConfigurationFiles(has, source)
    : [
        ...(has('credentials') ? [`${source('credentials')}: needs a configuration file. Give --config too.`] : []),
        ...storeConflicts(has, source),
        ...adminStoreAlone(has, source),
        ...(given.get('store')?.texts[0] === 'oxigraph' ? storeOfNone(has, source) : []),
      ]
  return [...stores, ...missingPartners(has, source), ...portConflicts(given, source), ...unmeasured(given)]
}

const besideConfigurationFiles = (has: Has, source: SourceOf): string[] =>
  APPLICATIONS.filter(has).map(
    (name) => `${source(name)}: cannot be used with ${source('config')}, which describes it. Remove one of them.`,
  )

function adminStoreAlone(has: Has, source: SourceOf): string[] {
  if (!has('admin-backend') || has('backend') || has('query-endpoint')) return []
  return [`${source('admin-backend')}: there is no store for the documents. Give --backend too.`]
}

function storeOfNone(has: Has, source: SourceOf): string[] {
  const isForAll = has('admin-backend') && (has('backend') || has('query-endpoint'))
  return isForAll ? [`${source('store')}: has no effect, since all applications have backends. Remove one.`] : []
}

const PARTNERS: readonly (readonly [name: string, needed: string, problem: string])[] = [
  ['oidc-issuer', 'oidc-client-id', 'is not enough for an identity provider'],
  ['oidc-client-id', 'oidc-issuer', 'is not enough for an identity provider'],
  ['oidc-client-secret', 'oidc-issuer', 'is not enough for an identity provider'],
  ['oidc-audience', 'oidc-issuer', 'is not enough for an identity provider'],
  ['tls-cert', 'tls-key', 'is half of a server certificate'],
  ['tls-key', 'tls-cert', 'is half of a server certificate'],
  ['smtp-url', 'smtp-from', 'is not enough to send e-mail'],
  ['smtp-from', 'smtp-url', 'is not enough to send e-mail'],
  ['smtp-to', 'smtp-url', 'is not enough to send e-mail'],
  ['monitoring-token', 'monitoring', 'does nothing alone'],
  ['monitoring-host', 'monitoring', 'does nothing alone'],
  ['store-pages-write', 'store-pages', 'does nothing alone'],
]

const missingPartners = (has: Has, source: SourceOf): string[] =>
  PARTNERS.filter(([name, needed]) => has(name) && !has(needed)).map(
    ([name, needed, problem]) => `${source(name)}: ${problem}. Give --${needed} too.`,
  )

/** Fuseki does not report the size of its databases. */
function unmeasured(given: AllGiven): string[] {
  const { source, texts } = given.get('compact') ?? {}
  if (!/^[\d.]+x$/.test(texts?.[0] ?? '') || given.has('fuseki-folder')) return []
  return [`${source}: growth is measured on the disk. Give --fuseki-folder too, or a time of day such as 03:00.`]
}

function portConflicts(given: AllGiven, source: SourceOf): string[] {
  const portOf = (name: string): string | undefined =>
    given.get(name)?.texts[0] ?? SETTINGS.find((setting) => setting.name === name)?.default
  const faults: string[] = []
  for (const [name, other] of [
    ['http', 'https'],
    ['management', 'https'],
    ['management', 'http'],
    ['monitoring', 'https'],
    ['monitoring', 'http'],
    ['store-pages', 'https'],
    ['store-pages', 'http'],
    ['store-pages', 'management'],
  ] as const) {
    const port = portOf(name)
    if (port !== 'off' && port !== '0' && port === portOf(other)) {
      faults.push(`${source(name)}: uses the port of --${other}. Give each its own.`)
    }
  }
  if (portOf('monitoring') !== 'off' && !given.has('monitoring-token')) {
    faults.push(`${source('monitoring')}: would show health and metrics to everyone. Give --monitoring-token too.`)
  }
  if (portOf('https') === 'off' && given.has('tls-cert')) {
    faults.push(`${source('tls-cert')}: has no effect, since https is off. Remove it, or give --https PORT.`)
  }
  if (portOf('https') === 'off' && portOf('http') === 'off') {
    faults.push(`${source('https')}: leaves no listener, since http is off too. Give --https PORT or --http PORT.`)
  }
  return faults
}

function storeConflicts(has: Has, source: SourceOf): string[] {
  const faults: string[] = []
  const [user, password, token] = ['backend-user', 'backend-password', 'backend-token'] as const
  const endpoints = ['query-endpoint', 'graph-store-endpoint', 'update-endpoint']
  const endpoint = endpoints.find(has)
  if (endpoint && !has('backend')) {
    for (const missing of endpoints.slice(0, 2).filter((name) => !has(name))) {
      faults.push(`${source(endpoint)}: is not enough without the dataset. Give --${missing} too, or --backend.`)
    }
  }
  for (const [one, other] of [
    [user, password],
    [password, user],
  ] as const) {
    if (has(one) && !has(other)) faults.push(`${source(one)}: is half of HTTP Basic. Give --${other} too.`)
  }
  if (has(token) && has(user)) {
    faults.push(`${source(token)}: cannot be used with ${source(user)}. Give a token or a user, not both.`)
  }
  const credential = [user, token].find(has)
  if (credential && !has('backend') && !endpoint) {
    faults.push(`${source(credential)}: there is no store that would use it. Give --backend too.`)
  }
  return faults
}
