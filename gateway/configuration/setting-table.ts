// In charge of the settings: the one table of them, from which the parser, `--help` and the README are made.
import * as values from './setting-values.js'
import { addresses, baseUrl, milliseconds, port, storeUrl, text, yesOrNo, type Invalid } from './setting-values.js'

interface Detail {
  /** Written as it would be given. */
  readonly default?: string
  /** The default in words, where it depends on other settings. */
  readonly otherwise?: string
  readonly repeatable?: true
  readonly secret?: true
  /** No setting but a request: has no environment variable. */
  readonly flagOnly?: true
}

const row = <const Name extends string, Value, const More extends Detail = object>(
  name: Name,
  /** What stands for the value in `--help`; empty where the flag alone says true. */
  value: string,
  parse: (text: string) => Value | Invalid,
  help: string,
  more?: More,
) => ({ name, value, parse, help, ...more }) as Row<Name, Value, More>

type Row<Name, Value, More> = {
  readonly name: Name
  readonly value: string
  readonly parse: (text: string) => Value | Invalid
  readonly help: string
} & More

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const secret = { secret: true } as const
const repeatable = { repeatable: true } as const
const request = { flagOnly: true, default: 'false' } as const

const ROWS = [
  row('backend', 'URL', storeUrl, 'Fuseki dataset of the documents.', { otherwise: 'a store within' }),
  row('admin-backend', 'URL', storeUrl, 'Fuseki dataset of the access control.', { otherwise: 'a store within' }),
  row('query-endpoint', 'URL', storeUrl, 'SPARQL query endpoint.', { otherwise: '{backend}/query' }),
  row('update-endpoint', 'URL', storeUrl, 'SPARQL update endpoint.', { otherwise: '{backend}/update' }),
  row('graph-store-endpoint', 'URL', storeUrl, 'Graph Store Protocol endpoint.', { otherwise: '{backend}/data' }),
  row('admin-query-endpoint', 'URL', storeUrl, 'The same of the admin store.', { otherwise: '{admin-backend}/query' }),
  row('admin-update-endpoint', 'URL', storeUrl, 'The same of the admin store.', {
    otherwise: '{admin-backend}/update',
  }),
  row('admin-graph-store-endpoint', 'URL', storeUrl, 'The same of the admin store.', {
    otherwise: '{admin-backend}/data',
  }),
  row('backend-user', 'NAME', text, 'User at the backend (HTTP Basic).'),
  row('backend-password', 'PASSWORD', text, 'Its password. Others on the machine see a flag, not a variable.', secret),
  row('backend-token', 'TOKEN', text, 'Bearer token for the backend.', secret),
  row('admin-backend-user', 'NAME', text, 'User at the admin backend (HTTP Basic).'),
  row('admin-backend-password', 'PASSWORD', text, 'Its password.', secret),
  row('admin-backend-token', 'TOKEN', text, 'Bearer token for the admin backend.', secret),
  row('history', 'PLACE', values.historyPlace, "Repository of the documents' history: local, a URL, or off.", {
    otherwise: 'local for a store within, else off',
  }),
  row('admin-history', 'PLACE', values.historyPlace, 'The same of the admin application.', {
    otherwise: 'local for a store within, else off',
  }),
  row('history-token', 'TOKEN', text, 'Token for the repositories that are on GitHub.', secret),
  row('history-api', 'URL', values.apiUrl, 'Base of their REST API, on GitHub Enterprise.', {
    otherwise: 'https://api.github.com; on another host https://HOST/api/v3',
  }),
  row('base', 'URL', (value) => baseUrl(value), 'Public base URL of the documents.', {
    otherwise: 'https://localhost:{https}/',
  }),
  row('admin-base', 'URL', text, 'Public base URL of the admin application, or its path under the base.', {
    otherwise: '{base}admin/',
  }),
  row('config', 'FILE', text, 'TriG file with applications and services, in place of the settings above.', repeatable),
  row('credentials', 'FILE', text, 'TriG file with the credentials of those services and repositories.'),
  row('https', 'PORT', port, 'Port for HTTPS with client certificates, or off.', { default: '8443' }),
  row('http', 'PORT', port, 'Port for plain HTTP behind a TLS proxy, or off.', { default: 'off' }),
  row('host', 'ADDRESS', text, 'Address to listen at; :: is every address.', {
    otherwise: 'localhost where every base is there, else ::',
  }),
  row('trusted-proxy', 'CIDR', addresses, 'Addresses of proxies whose Client-Cert field is believed.', repeatable),
  row('management', 'PORT', port, 'Port for health, metrics and purge, on loopback only, or off.', { default: '9464' }),
  row('data', 'FOLDER', text, 'Folder for certificates, journal and history.', { default: './data' }),
  row('owner-webid', 'WEBID', values.webId, 'WebID that you have already, to own the dataspace.', {
    otherwise: 'one is made',
  }),
  row('oidc-issuer', 'URL', values.httpsUrl, 'OpenID Connect provider: for log-in, and for bearer tokens.'),
  row('oidc-client-id', 'ID', text, 'What the provider knows this gateway as.'),
  row('oidc-client-secret', 'SECRET', text, 'Its secret; a public client has none.', secret),
  row('oidc-scope', 'SCOPE', text, 'What to ask the provider for.', { default: 'openid email profile' }),
  row('oidc-name', 'NAME', values.providerName, 'The provider in oauth2/authorize/NAME.', { default: 'oidc' }),
  row('oidc-audience', 'AUDIENCE', text, 'Audience of tokens that are taken, beside the client id.', repeatable),
  row('session-lifetime', 'MS', milliseconds, 'How long a log-in lasts.', { default: '43200000' }),
  row('smtp-url', 'URL', values.mailServer, 'Mail server, such as smtps://user:password@mail.example.org.', secret),
  row('smtp-from', 'ADDRESS', values.mailAddress, 'Sender of the e-mails that the gateway sends.'),
  row('smtp-to', 'ADDRESS', values.mailAddress, 'Who is told of requests for access.'),
  row('allow-fetch', 'CIDR', addresses, 'Addresses that are not public, yet may be fetched from.', repeatable),
  row('proxy', 'WHO', values.oneOf('identified', 'everyone', 'off'), 'Who may fetch from other servers with ?uri=.', {
    default: 'identified',
  }),
  row('proxy-timeout', 'MS', milliseconds, 'Time that these have for a whole answer, redirects included.', {
    default: '15000',
  }),
  row('allow-service', 'URL', storeUrl, 'SPARQL endpoint that queries may reach with SERVICE, and updates with LOAD.', {
    repeatable: true,
  }),
  row(
    'enforce',
    '',
    yesOrNo,
    'Refuse what access control does not allow; false: only log it (admin application apart).',
    {
      default: 'true',
    },
  ),
  row('max-body', 'BYTES', values.bytes, 'Largest RDF request body.', { default: '2097152' }),
  row('require-preconditions', '', yesOrNo, 'Answer 428 to a change of a document without If-Match.', {
    default: 'false',
  }),
  row('store-timeout', 'MS', milliseconds, 'Time that a store has for an answer.', { default: '30000' }),
  row('patch-timeout', 'MS', milliseconds, 'Time that a PATCH may compute.', { default: '5000' }),
  row('cache', 'BYTES', values.orOff(values.bytes), "Room for what is kept of the stores' answers, or off.", {
    default: '268435456',
  }),
  row('cache-max-age', 'MS', values.orOff(milliseconds), 'How old a kept answer may get, or off for no bound.', {
    default: '300000',
  }),
  row('stale-if-error', 'MS', values.orOff(milliseconds), 'How much older it may be while the store fails, or off.', {
    default: 'off',
  }),
  row('probe', 'MS', values.orOff(milliseconds), 'How often to look for writes behind the gateway, or off.', {
    default: 'off',
  }),
  row('log-level', 'LEVEL', values.oneOf(...LEVELS), `Least that is logged: ${LEVELS.join(', ')}.`, {
    default: 'info',
  }),
  row('print-config', '', yesOrNo, 'Print the settings in force, secrets hidden, and end.', request),
  row('help', '', yesOrNo, 'Print this page and end.', request),
  row('version', '', yesOrNo, 'Print the version and end.', request),
] as const

/** One setting as parser, help and README see it. */
export interface Setting extends Row<string, unknown, Detail> {
  readonly flag: string
  /** Absent for those that are flags only. Several values are separated by commas. */
  readonly env?: string
}

export const SETTINGS: readonly Setting[] = ROWS.map((row: Row<string, unknown, Detail>) => ({
  ...row,
  flag: `--${row.name}`,
  ...(!row.flagOnly && { env: `TRIPLEGATE_${row.name.toUpperCase().replaceAll('-', '_')}` }),
}))

/** The names of the settings that describe the applications, which configuration files do in their place. */
export const APPLICATIONS: readonly string[] = SETTINGS.map(({ name }) => name).slice(
  0,
  SETTINGS.findIndex(({ name }) => name === 'config'),
)

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type ValueOf<R> = R extends { readonly parse: (text: string) => infer Value }
  ? R extends { readonly repeatable: true }
    ? readonly Exclude<Value, Invalid>[]
    : R extends { readonly default: string }
      ? Exclude<Value, Invalid>
      : Exclude<Value, Invalid> | undefined
  : never

/**
 * The settings in force, by name in camel case. URLs are normalised, bases end with a slash; ports are numbers or 'off';
 * times are milliseconds; addresses are CIDR blocks. Without a value and a default: undefined, or an empty list.
 */
export type Settings = {
  readonly [R in (typeof ROWS)[number] as Camel<R['name']>]: ValueOf<R>
} & { readonly base: string; readonly adminBase: string }

export const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
