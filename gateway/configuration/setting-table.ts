// The table of all settings, by groups. The parser, `--help` and docs/settings.md are generated from it.
import { LISTENERS, LOG } from './listener-settings.js'
import { type SettingDetail, type SettingRow, of, row } from './setting-row.js'
import * as values from './setting-values.js'
import {
  type InvalidValue,
  addresses,
  anyText,
  baseUrl,
  count,
  mailAddress,
  mailServer,
  milliseconds,
  oneOf,
  origin,
  storeUrl,
  yesOrNo,
} from './setting-values.js'
import { STORES } from './store-settings.js'

const CLIENTS = [
  row(
    'sign-up',
    of('WHO', oneOf('everyone', 'invited', 'off')),
    'People who may sign up, by form or by a first log-in.',
    { otherwise: 'everyone; off if flags or init name a backend' },
  ),
  row('daily-sign-ups', of('COUNT', count), 'Most sign-ups per day, first log-ins included; one network has a tenth.', {
    default: '500',
  }),
  row('daily-access-requests', of('COUNT', count), 'Most requests for access per day; one network has a tenth.', {
    default: '500',
  }),
  row('compress', of('', yesOrNo), 'Compress documents and results (gzip, br) for clients that accept it.', {
    default: 'true',
  }),
  row(
    'allow-origin',
    of('ORIGIN', origin),
    'Origin whose pages may read and write with the certificate or session of the browser.',
    { repeatable: true },
  ),
] as const

const MAIL = [
  row('smtp-url', of('URL', mailServer), 'Mail server, such as smtps://user:password@mail.example.org.', {
    secret: true,
  }),
  row('smtp-from', of('ADDRESS', mailAddress), 'Sender address of the e-mails.'),
  row('smtp-to', of('ADDRESS', mailAddress), 'Recipient of access requests.'),
] as const

const secret = { secret: true } as const
const repeatable = { repeatable: true } as const
const output = { flagOnly: true, default: 'false' } as const

const HISTORY = [
  row('history', of('PLACE', values.historyPlace), "Repository of the documents' history: local, a URL, or off.", {
    otherwise: 'local for an embedded store, else off',
  }),
  row('admin-history', of('PLACE', values.historyPlace), "Repository of the admin application's history.", {
    otherwise: 'local for an embedded store, else off',
  }),
  row(
    'log',
    of('PLACE', values.oneOf('local', 'off')),
    'Log of writes without a history: local, in the data folder, or off.',
    { default: 'off' },
  ),
  row('history-token', of('TOKEN', anyText), 'Token for the repositories on GitHub.', secret),
  row(
    'history-delay',
    of('MS', values.orOff(milliseconds)),
    'Age of an uncommitted change at which the gateway stops reporting ready, in milliseconds, or off.',
    { default: '600000' },
  ),
  row('history-api', of('URL', values.apiUrl), "Base URL of GitHub's REST API.", {
    otherwise: 'https://api.github.com; for GitHub Enterprise https://HOST/api/v3',
  }),
] as const

const ADDRESSES = [
  row(
    'base',
    of('URL', (value) => baseUrl(value)),
    'Public base URL of the documents.',
    {
      otherwise: 'https://localhost:{https}/',
    },
  ),
  row('admin-base', of('URL', anyText), 'Public base URL of the admin application, or its path under the base.', {
    otherwise: '{base}admin/',
  }),
] as const

const FILES = [
  row(
    'config',
    of('FILE', anyText),
    'TriG file with applications and services. Replaces the settings above.',
    repeatable,
  ),
  row('credentials', of('FILE', anyText), 'TriG file with the credentials of those services and repositories.'),
  row('data', of('FOLDER', anyText), 'Folder for certificates, journal and history.', { default: './data' }),
  row(
    'standby',
    of('', yesOrNo),
    'Wait while another gateway uses this data folder, and take over within seconds when it has stopped.',
    { default: 'false' },
  ),
  row(
    'rebuild',
    of('', yesOrNo),
    'Read all rules and the names of all documents before serving; refill an embedded store on disk.',
    { default: 'false' },
  ),
  row('look', of('FOLDER', anyText), 'Folder with your own style.css and logo.svg or logo.png for the pages.'),
] as const

const IDENTITY = [
  row('owner-webid', of('WEBID', values.webId), 'Your WebID, if you have one: it owns the dataspace.', {
    otherwise: 'created at the first start',
  }),
  row('oidc-issuer', of('URL', values.issuerUrl), 'OpenID Connect provider, for log-in and for bearer tokens.'),
  row('oidc-client-id', of('ID', anyText), 'Client id of this gateway at the provider.'),
  row('oidc-client-secret', of('SECRET', anyText), 'Client secret; leave it out for a public client.', secret),
  row(
    'oidc-name',
    of('NAME', values.providerName),
    "The provider's name on the log-in page and in oauth2/authorize/NAME.",
    {
      default: 'oidc',
    },
  ),
  row('oidc-audience', of('AUDIENCE', anyText), 'Audience to accept in tokens, apart from the client id.', repeatable),
  row('session-lifetime', of('MS', milliseconds), 'Lifetime of a log-in, in milliseconds.', { default: '43200000' }),
] as const

const FETCHING = [
  row('allow-fetch', of('CIDR', addresses), 'Private addresses that the gateway may fetch from.', repeatable),
  row(
    'proxy',
    of('WHO', values.oneOf('identified', 'everyone', 'off')),
    'Agents who may fetch from other servers (?uri=).',
    { otherwise: 'identified; off if flags or init name a backend' },
  ),
  row(
    'allow-service',
    of('URL', storeUrl),
    'SPARQL endpoint that queries may use with SERVICE, or source that updates may read with LOAD.',
    {
      repeatable: true,
    },
  ),
  row(
    'allow-function',
    of('IRI', values.functionName),
    'Extension function that queries and updates may call; a * at the end matches any suffix.',
    repeatable,
  ),
  row(
    'sparql-syntax',
    of('WHICH', values.oneOf('standard', 'store')),
    'SPARQL that clients may send: the standard, or also extensions of the store, such as ARQ syntax.',
    { default: 'standard' },
  ),
] as const

const RULES = [
  row(
    'enforce',
    of('', yesOrNo),
    'Enforce access control; false only logs refusals, except in the admin application.',
    {
      default: 'true',
    },
  ),
  row('require-preconditions', of('', yesOrNo), 'Answer 428 to writes of existing documents without If-Match.', {
    default: 'false',
  }),
] as const

const LIMITS = [
  row('max-body', of('BYTES', values.bytes), 'Largest RDF request body.', { default: '2097152' }),
  row('max-import', of('BYTES', values.bytes), 'Largest file or fetched source of an import, decompressed.', {
    default: '1073741824',
  }),
  row('max-upload', of('BYTES', values.bytes), 'Largest file of an upload.', { default: '2147483648' }),
  row(
    'daily-uploads',
    of('BYTES', values.bytes),
    'Most bytes of uploaded files per day; one agent has a tenth, one network half, or one file.',
    {
      default: '107374182400',
    },
  ),
  row(
    'daily-history',
    of('BYTES', values.bytes),
    'Most bytes added to a history per day; one agent has a tenth, one network half.',
    {
      default: '107374182400',
    },
  ),
  row('store-timeout', of('MS', milliseconds), 'Time limit of an answer from a store, in milliseconds.', {
    default: '30000',
  }),
  row(
    'patch-timeout',
    of('MS', milliseconds),
    'Processor time that computing a PATCH or checking SHACL may take, in milliseconds.',
    {
      default: '5000',
    },
  ),
  row(
    'reading-timeout',
    of('MS', milliseconds),
    'Processor time for reading RDF or SPARQL, or writing a large document, in milliseconds.',
    { default: '5000' },
  ),
] as const

const CACHE = [
  row('cache', of('BYTES', values.orOff(values.bytes)), 'Cache size, or off.', { default: '268435456' }),
  row(
    'cache-max-age',
    of('MS', values.orOff(milliseconds)),
    'Maximum age of a cached answer and of the rules, or off for no limit.',
    {
      default: '300000',
    },
  ),
  row('stale-if-error', of('MS', values.orOff(milliseconds)), 'Extra age of a cached answer while the store is down.', {
    default: 'off',
  }),
  row(
    'shared-cache',
    of('', yesOrNo),
    'Tell shared caches in front of the gateway (nginx, Varnish) what they may store and when to purge it.',
    { default: 'false' },
  ),
  row('probe', of('MS', values.orOff(milliseconds)), 'Interval between checks for writes behind the gateway, or off.', {
    default: 'off',
  }),
] as const

const MAINTENANCE = [
  row(
    'compact',
    of('WHEN', values.compactionTime),
    "When to compact Fuseki's TDB2 datasets: a time of day such as 03:00, or growth such as 3x.",
  ),
  row('fuseki-folder', of('FOLDER', anyText), "Folder on this machine with Fuseki's databases, to measure growth.", {
    repeatable: true,
  }),
] as const

const OUTPUT = [
  row('help', of('', yesOrNo), 'Print this page and exit; --help=all lists every setting.', output),
  row('version', of('', yesOrNo), 'Print the version and exit.', output),
] as const

/** In the order of `--help`. */
const GROUPS = {
  Stores: STORES,
  History: HISTORY,
  Addresses: ADDRESSES,
  Files: FILES,
  Listeners: LISTENERS,
  Identity: IDENTITY,
  Mail: MAIL,
  Fetching: FETCHING,
  Rules: RULES,
  Limits: LIMITS,
  Clients: CLIENTS,
  Cache: CACHE,
  Maintenance: MAINTENANCE,
  Log: LOG,
  Output: OUTPUT,
} as const

/** The groups whose settings are replaced by configuration files. */
const DESCRIBED_BY_FILES: readonly string[] = ['Stores', 'History', 'Addresses'] satisfies (keyof typeof GROUPS)[]

/** A setting as used by the parser, `--help` and docs/settings.md. */
export interface Setting extends SettingRow<string, unknown, SettingDetail> {
  readonly group: string
  readonly flag: string
  /** Absent for settings that are only flags. Commas separate several values. */
  readonly env?: string
}

export type SettingName = (typeof GROUPS)[keyof typeof GROUPS][number]['name']

export const SETTINGS: readonly Setting[] = Object.entries<readonly SettingRow<string, unknown, SettingDetail>[]>(
  GROUPS,
).flatMap(([group, rows]) =>
  rows.map((row) => ({
    ...row,
    group,
    flag: `--${row.name}`,
    ...(!row.flagOnly && { env: `TRIPLEGATE_${row.name.toUpperCase().replaceAll('-', '_')}` }),
  })),
)

/** Settings of these groups that no configuration file can give. */
const OF_THE_PROCESS: readonly string[] = ['dataset-path', 'log', 'history-delay']

/** The names of the settings that describe applications. Configuration files replace them. */
export const APPLICATIONS: readonly string[] = SETTINGS.filter(
  ({ group, name }) => DESCRIBED_BY_FILES.includes(group) && !OF_THE_PROCESS.includes(name),
).map(({ name }) => name)

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type ValueOf<R> = R extends { readonly parse: (text: string) => infer Value }
  ? R extends { readonly repeatable: true }
    ? readonly Exclude<Value, InvalidValue>[]
    : R extends { readonly default: string }
      ? Exclude<Value, InvalidValue>
      : Exclude<Value, InvalidValue> | undefined
  : never

/**
 * The effective settings, by name in camel case. URLs are normalised, bases end with a slash; ports are numbers or
 * 'off'; times are milliseconds; addresses are CIDR blocks. Without value and default: undefined, or an empty list.
 */
export type Settings = {
  readonly [R in (typeof GROUPS)[keyof typeof GROUPS][number] as Camel<R['name']>]: ValueOf<R>
} & { readonly base: string; readonly adminBase: string }

export const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
