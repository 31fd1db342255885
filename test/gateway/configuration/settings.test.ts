// Settings: the command line, the environment, and the message for each mistake.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { readArguments } from '../../../gateway/configuration/flags.js'
import {
  effectiveLines,
  givenIn,
  helpText,
  parseSettings,
  SETTINGS,
  settingsPage,
  USUAL_SETTINGS,
  type Settings,
  type WrongSettings,
} from '../../../gateway/configuration/settings.js'
import { isFailure } from '../../../gateway/problem.js'

const read = (line: string, env: Record<string, string> = {}): Settings | WrongSettings =>
  parseSettings(line.split(' ').filter(Boolean), env)

function settingsOf(line: string, env: Record<string, string> = {}): Settings {
  const settings = read(line, env)
  if (isFailure(settings)) throw new Error(settings.faults.join('\n'))
  return settings
}

const FUSEKI = '--backend http://localhost:3030/ds --admin-backend http://localhost:3030/admin'

const OTHER_ORIGIN = '--base https://example.org/ --admin-base https://admin.example.org'
const ADMIN_PATH = '--base https://example.org/ --admin-base system/admin'
const PLAIN = '--https off --http 8080'
const WEBID = 'HTTPS://Example.org/me#This'
const ENDPOINTS = '--query-endpoint http://s/q --graph-store-endpoint http://s/g'
const trusted = (...ranges: string[]): string => ranges.map((range) => `--trusted-proxy ${range}`).join(' ')
const fetching = (...ranges: string[]): string => ranges.map((range) => `--allow-fetch ${range}`).join(' ')

void t.test('the effective settings', async (t) => {
  const variable = { TRIPLEGATE_ADMIN_BASE: 'https://admin.example.org/' }
  const required = { TRIPLEGATE_REQUIRE_PRECONDITIONS: 'true' }
  // prettier-ignore
  const rows: [what: string, line: string, env: Record<string, string>, expected: Partial<Settings>][] = [
    ['the base is the HTTPS port of localhost', '', {}, { base: 'https://localhost:8443/' }],
    ['the admin base is below it', '', {}, { adminBase: 'https://localhost:8443/admin/' }],
    ['the default port of the scheme is left out', '--https 443', {}, { base: 'https://localhost/' }],
    ['without HTTPS the base is plain', PLAIN, {}, { base: 'http://localhost:8080/', https: 'off', http: 8080 }],
    ['a base gets its final slash', '--base https://data.example.org', {}, { base: 'https://data.example.org/' }],
    ['a base has its admin base below it', '--base https://data.example.org', {}, { adminBase: 'https://data.example.org/admin/' }],
    ['a base may have a path', '--base https://example.org/data', {}, { base: 'https://example.org/data/' }],
    ['a base with a path has its admin base below it', '--base https://example.org/data', {}, { adminBase: 'https://example.org/data/admin/' }],
    ['the admin base may be another origin', OTHER_ORIGIN, {}, { adminBase: 'https://admin.example.org/' }],
    ['the admin base may be a path', ADMIN_PATH, {}, { adminBase: 'https://example.org/system/admin/' }],
    ['no proxy is trusted by default', '', {}, { trustedProxy: [], allowFetch: [] }],
    ['an address is a block of one', trusted('10.0.0.7', '::1'), {}, { trustedProxy: ['10.0.0.7/32', '::1/128'] }],
    ['a network by its start', fetching('10.1.2.3/8', 'fd00:1::9/16'), {}, { allowFetch: ['10.0.0.0/8', 'fd00::/16'] }],
    ['numbers are numbers', '--max-body 10 --patch-timeout 20', {}, { maxBody: 10, patchTimeout: 20 }],
    ['for the store too', '--store-timeout 30', {}, { storeTimeout: 30 }],
    ['a flag without value is true', '--require-preconditions', {}, { requirePreconditions: true }],
    ['a flag may be false', '--require-preconditions=false', required, { requirePreconditions: false }],
    ['a variable is a setting', '', variable, { adminBase: 'https://admin.example.org/' }],
    ['a flag wins over its variable', '--data here', { TRIPLEGATE_DATA: 'there' }, { data: 'here' }],
    ['a flag replaces a list', '--config a.trig', { TRIPLEGATE_CONFIG: 'b.trig,c.trig' }, { config: ['a.trig'] }],
    ['commas separate the values', '', { TRIPLEGATE_CONFIG: 'b.trig, c.trig' }, { config: ['b.trig', 'c.trig'] }],
    ['an empty variable is absent', '', { TRIPLEGATE_BACKEND: '' }, { backend: undefined }],
    ['other variables are ignored', '', { TRIPLE: 'x', PATH: 'y' }, { logLevel: 'info' }],
    ['a value may start with a dash after =', '--backend-token=-x ' + FUSEKI, {}, { backendToken: '-x' }],
    ['a WebID is not normalized', `--owner-webid ${WEBID}`, {}, { ownerWebid: 'HTTPS://Example.org/me#This' }],
    ['endpoints need no dataset', ENDPOINTS, {}, { queryEndpoint: 'http://s/q', updateEndpoint: undefined }],
    ['who may sign up', '--sign-up off --daily-sign-ups 3', {}, { signUp: 'off', dailySignUps: 3, dailyAccessRequests: 500 }],
    ['a time to compact', '--compact 03:00', {}, { compact: '03:00', fusekiFolder: [] }],
    ['a growth', '--compact 1.5x --fuseki-folder /d', {}, { compact: '1.5x', fusekiFolder: ['/d'] }],
    ['-h asks for help', '-h', {}, { help: true, version: false }],
  ]
  for (const [what, line, env, expected] of rows) t.has(settingsOf(line, env), expected, what)
  t.ok(Object.isFrozen(settingsOf('')), 'the settings are frozen')
})

const STRAY = /"http:\/\/s\/ds": does not belong to a flag/
const STRAY_BASE = /"https:\/\/a.example\/": does not belong to a flag/
const HTTP_PORT = /^TRIPLEGATE_HTTP_PORT: no setting has this name\. Did you mean TRIPLEGATE_HTTPS?\?/
const EVERY_ADDRESS = /^TRIPLEGATE_ALLOW_FETCH: "::\/0" includes every/
const ENCODED =
  /^--history: "file:\/\/\/tmp\/a%2Fb.git" has percent-encodings that a path cannot contain\. Give local, off, https/
const ADMIN_ENCODED = /^--admin-history: "file:\/\/\/tmp\/a%zz" has percent-encodings/
const CLEAR =
  /^--history: "http:\/\/ghe.example\/a\/b" would receive the token unencrypted\. Give .*https:\/\/github.com\/OWNER/
const CLEAR_API = /^--history-api: "http:\/\/ghe.example\/api" would receive the token unencrypted\. Give its https URL/
const NO_DATASET = /^--query-endpoint: is not enough without the dataset\. Give --graph-store-endpoint too/
const HALF_USER = /^--backend-user: is half of HTTP Basic\. Give --backend-password too/
const HALF_PASSWORD = /^--backend-password: is half of HTTP Basic\. Give --backend-user too/
const TWO_CREDENTIALS = /^--backend-token: cannot be used with --backend-user/
const ALONE = /^TRIPLEGATE_BACKEND: cannot be used with --config/
const BASE_ALONE = /^--base: cannot be used with --config/

void t.test('each mistake has a message with the setting, the problem and the fix', async (t) => {
  // prettier-ignore
  const rows: [line: string, env: Record<string, string>, ...faults: RegExp[]][] = [
    ['--bakend http://s/ds', {}, /^--bakend: no setting has this name\. Did you mean --backend\?/, STRAY],
    ['', { TRIPLEGATE_HTTP_PORT: '1' }, HTTP_PORT],
    ['', { TRIPLEGATE_HELP: 'true' }, /^TRIPLEGATE_HELP: no setting/],
    ['-x', {}, /^-x: no setting/],
    ['serve', {}, /^"serve": does not belong to a flag/],
    ['--host localhost:8443', {}, /^--host: "localhost:8443" is not an address or a name\. .* without a port/],
    ['--host https://localhost', {}, /^--host: .* is not an address or a name/],
    ['--monitoring 1 --monitoring-token 0123456789abcdef --monitoring-host 10.0.0.300', {}, /^--monitoring-host: .* is not an address or a name/],
    ['--https 65536', {}, /^--https: "65536" is not a port\. Give a number from 0 to 65535, or off\./],
    ['--https -1', {}, /^--https: has no value/],
    ['--https', {}, /^--https: has no value\. Write --https PORT\./],
    ['--backend --base https://a.example/', {}, /^--backend: has no value/, STRAY_BASE],
    ['--data a --data b', {}, /^--data: is given twice/],
    ['--https off', {}, /^--https: leaves no listener/],
    ...['24:00', '3:00', '3', 'daily'].map((when): [string, Record<string, string>, RegExp] => [`--compact ${when}`, {}, /is neither a time of day nor a factor. Give a time/]),
    ['--compact 3x', {}, /^--compact: growth is measured on the disk. Give --fuseki-folder too/],
    ['--http 8443', {}, /^--http: uses the port of --https/],
    ['--management 8443', {}, /^--management: uses the port of --https/],
    ['--https 0', {}, /^--https: the system chooses the port, so the base is unknown\. Give --base/],
    ['--base ftp://example.org/', {}, /^--base: "ftp:\/\/example.org\/" is not an http or https URL/],
    ['--base https://example.org/?x', {}, /^--base: .* has user information, a query or a fragment/],
    ['--base https://example.org//a/', {}, /^--base: .* empty or percent-encoded path segments/],
    ['--base https://example.org/%61/', {}, /^--base: .* empty or percent-encoded path segments/],
    ['--base https:example.org', {}, /^--base: .* is not an http or https URL/],
    ['--admin-base ../x', {}, /^--admin-base: "..\/x" is not an http or https URL/],
    ['--dataset-path ds', {}, /^--dataset-path: "ds" is not a dataset path/],
    ['--dataset-path /', {}, /^--dataset-path: "\/" is not a dataset path/],
    ['--dataset-path /a/../b', {}, /^--dataset-path: .* is not a dataset path/],
    ['--backend localhost:3030/ds', {}, /^--backend: "localhost:3030\/ds" is not an http or https URL/],
    ['--backend http://localhost:3030/ds?x', {}, /^--backend: .* has a query or a fragment/],
    ['--trusted-proxy 0.0.0.0/0', {}, /^--trusted-proxy: .* includes every address/],
    ['--trusted-proxy 10.0.0.0/33', {}, /^--trusted-proxy: .* has an invalid prefix length/],
    ['--trusted-proxy 10.0.0.0/', {}, /^--trusted-proxy: .* has an invalid prefix length/],
    ['--trusted-proxy 10.1', {}, /^--trusted-proxy: .* is not an IPv4 address of four decimal numbers/],
    ['--allow-fetch proxy.local', {}, /^--allow-fetch: "proxy.local" is not an IP address or network/],
    ['', { TRIPLEGATE_ALLOW_FETCH: '10.0.0.1,,::/0' }, /^TRIPLEGATE_ALLOW_FETCH: "" is not an IP/, EVERY_ADDRESS],
    ['--max-body 2MiB', {}, /^--max-body: "2MiB" is not a number of bytes/],
    ['--patch-timeout 0', {}, /^--patch-timeout: "0" is not a number of milliseconds/],
    ['--store-timeout 2147483648', {}, /^--store-timeout: .* is not a number of milliseconds/],
    ['--require-preconditions=maybe', {}, /^--require-preconditions: "maybe" is neither true nor false/],
    ['--sign-up nobody', {}, /^--sign-up: "nobody" is not allowed\. Give one of everyone, invited, off/],
    ['--daily-sign-ups 0', {}, /^--daily-sign-ups: "0" is not a number of times/],
    ['--oidc-issuer http://a.example --oidc-client-id x', {}, /^--oidc-issuer: "http:\/\/a.example" is not an https URL\. .*, or for development http:\/\/localhost:PORT\.$/],
    ['--tls-cert a.pem', {}, /^--tls-cert: is half of a server certificate\. Give --tls-key too\.$/],
    ['--tls-key a.pem', {}, /^--tls-key: is half of a server certificate\. Give --tls-cert too\.$/],
    [`${PLAIN} --tls-cert a.pem --tls-key b.pem`, {}, /^--tls-cert: has no effect, since https is off\./],
    ['--monitoring 9465', {}, /^--monitoring: would show health and metrics to everyone\. Give --monitoring-token too\./],
    ['--monitoring-token secret --monitoring 8443', {}, /^--monitoring: uses the port of --https\./],
    ['--log-format loud', {}, /^--log-format: "loud" is not allowed\. Give one of auto, json, pretty\.$/],
    ['--log-level loud', {}, /^--log-level: "loud" is not allowed\. Give one of fatal, error/],
    ['--history file:///tmp/a%2Fb.git --admin-history file:///tmp/a%zz', {}, ENCODED, ADMIN_ENCODED],
    ['--history file:///tmp/a%00', {}, /^--history: .* has percent-encodings/],
    ['--history http://ghe.example/a/b', {}, CLEAR],
    ['--history https://github.com/a.b/c', {}, /^--history: "https:\/\/github.com\/a.b\/c" is not a repository/],
    ['--history https://secret@github.com/a/b', {}, /^--history: "https:\/\/\*\*\*@github.com\/a\/b" is not a repository/],
    ['--history-api http://ghe.example/api', {}, CLEAR_API],
    ['--owner-webid me', {}, /^--owner-webid: "me" is not a WebID/],
    ['--store disk', {}, /^--store: "disk" is not allowed. Give one of memory, oxigraph/],
    ['--store oxigraph --backend http://s/d --admin-backend http://s/a', {}, /^--store: has no effect, since all applications/],
    ['--admin-backend http://s/admin', {}, /^--admin-backend: there is no store for the documents/],
    ['--query-endpoint http://s/q', {}, NO_DATASET],
    ['--update-endpoint http://s/u', {}, /Give --query-endpoint too/, /Give --graph-store-endpoint too/],
    ['--backend http://s/ds --backend-user u', {}, HALF_USER],
    ['--backend http://s/ds --backend-password u', {}, HALF_PASSWORD],
    [`${FUSEKI} --backend-user u --backend-password p --backend-token t`, {}, TWO_CREDENTIALS],
    ['--admin-backend-user=u', {}, /^--admin-backend-user: no setting has this name\. Did you mean/],
    ['--backend-token t', {}, /^--backend-token: there is no store that would use it/],
    ['--credentials c.trig', {}, /^--credentials: needs a configuration file/],
    ['--config c.trig --base https://example.org/', { TRIPLEGATE_BACKEND: 'http://s/ds' }, ALONE, BASE_ALONE],
  ]
  for (const [line, env, ...faults] of rows) {
    const settings = read(line, env)
    const found = isFailure(settings) ? settings.faults : []
    t.equal(
      found.length,
      faults.length,
      `${line} ${JSON.stringify(env)}: as many faults as mistakes: ${found.join(' ')}`,
    )
    for (const [i, fault] of faults.entries()) t.match(found[i], fault)
  }
})

void t.test('all mistakes are reported at once', async (t) => {
  const settings = read('--bse x --https many --max-body -- --data', { TRIPLEGATE_NOPE: '1' })
  t.match(settings, { faults: Array(6).fill(String) })
})

void t.test('any command line gives settings or faults', async (t) => {
  const flags = SETTINGS.map(({ flag }) => flag)
  const names = SETTINGS.flatMap(({ env }) => env ?? [])
  const argument = fc.oneof(fc.string(), fc.constantFrom(...flags, '--', '-', '--=', '--__proto__', 'off', '0', '::1'))
  const variable = fc.oneof(
    fc.constantFrom(...names),
    fc.string().map((name) => `TRIPLEGATE_${name}`),
  )
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 8 }), fc.dictionary(variable, fc.string()), (argv, env) => {
      const settings = parseSettings(argv, env)
      return isFailure(settings) ? settings.faults.length > 0 : settings.base.endsWith('/')
    }),
    { numRuns: 300 },
  )
  t.pass()
})

void t.test('no secret is shown', async (t) => {
  const wrong = parseSettings(['--backend', 'ftp://u:hunter2@s/ds', '//u:hunter2@s', '--backend-token'], {})
  t.notMatch(JSON.stringify(wrong), 'hunter2')
  const shown = effective('--backend http://u:hunter2@s/ds --history-token hunter2')
  t.notMatch(JSON.stringify(shown), 'hunter2')
  t.same(
    [shown.get('backend'), shown.get('history-token')],
    [
      ['http://***@s/ds', 'flag'],
      ['***', 'flag'],
    ],
  )
})

/** The value and the origin of each setting that `triplegate check` prints. */
function effective(line: string, env: Record<string, string> = {}): ReadonlyMap<string, readonly string[]> {
  const { values } = readArguments(line.split(' '), SETTINGS, { command: 'check' })
  const lines = effectiveLines(settingsOf(line, env), givenIn(values, env))
  return new Map(
    lines
      .map((line) => line.trim().split(/ {2,}| (?=flag$|default$|TRIPLEGATE_)/))
      .map(([name, ...more]) => [name!, more]),
  )
}

void t.test('triplegate check prints each setting, and where its value comes from', (t) => {
  const env = { TRIPLEGATE_BACKEND: 'http://s/ds', TRIPLEGATE_HTTP: '80', TRIPLEGATE_DATA: 'there' }
  const shown = effective('--data here --trusted-proxy 10.0.0.7 --trusted-proxy ::1 --enforce=false', env)
  // prettier-ignore
  const rows: readonly (readonly [name: string, value: string, origin: string])[] = [
    ['backend',       'http://s/ds',                  'TRIPLEGATE_BACKEND'],
    ['http',          '80',                           'TRIPLEGATE_HTTP'],
    ['data',          'here',                         'flag'],
    ['trusted-proxy', '10.0.0.7/32,::1/128',          'flag'],
    ['enforce',       'false',                        'flag'],
    ['https',         '8443',                         'default'],
    ['base',          'https://localhost:8443/',      'default'],
    ['admin-base',    'https://localhost:8443/admin/', 'default'],
    ['allow-fetch',   '(none)',                       'default'],
    ['admin-backend', '(embedded store)',             'default'],
  ]
  for (const [name, ...expected] of rows) t.same(shown.get(name), expected, name)
  t.equal(shown.size, SETTINGS.filter(({ flagOnly }) => !flagOnly).length, 'all of them')
  const described = effective('--config a.trig --config b.trig')
  t.same(described.get('config'), ['a.trig,b.trig', 'flag'])
  for (const name of ['backend', 'history', 'base']) t.notOk(described.has(name), `a file replaces ${name}`)
  t.end()
})

void t.test('help and docs/settings.md list every setting, by groups', async (t) => {
  const [help, page] = [helpText('all'), settingsPage()]
  for (const { name, flag, env, group } of SETTINGS) {
    t.match(help, new RegExp(`^ +${flag}\\b`, 'm'), `${name} in --help=all`)
    t.match(page, `\`${flag}`, `${name} in the page`)
    if (env) t.match(page, `\`${env}\``, `${env} in the page`)
    t.match(help, `${group}:\n`)
    t.match(page, `\n## ${group}\n`)
  }
  t.equal(page.split('\n').filter((line) => line.startsWith('| `--')).length, SETTINGS.length)
  t.ok(
    help.split('\n').every((line) => line.length <= 160),
    'lines are short',
  )
})

void t.test('--help lists the usual settings, and says how to get the others', (t) => {
  const listed = [...helpText('usual').matchAll(/^ +--([\w-]+)/gm)].map(([, name]) => name!)
  t.same([...listed].sort(), [...USUAL_SETTINGS].sort())
  t.equal(listed.length, 30)
  t.match(helpText('usual'), /--help=all lists all/)
  t.end()
})

void t.test('docs/settings.md is up to date: npm run docs writes it', async (t) => {
  t.equal(readFileSync('docs/settings.md', 'utf8'), settingsPage())
})
