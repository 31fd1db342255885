// In charge of reading the settings from the command line and the environment, and of what does not go together. Pure.
import { parseArgs } from 'node:util'
import { nearest } from './nearest.js'
import { baseUrl, isInvalid, withoutUserInfo, type Invalid } from './setting-values.js'
import { APPLICATIONS, camelCase, SETTINGS, type Setting, type Settings } from './setting-table.js'

export { SETTINGS, type Settings } from './setting-table.js'
export { helpText, printConfig, settingsTable } from './settings-text.js'

/** What was written for a setting, and where. */
interface Given {
  readonly source: string
  readonly texts: readonly string[]
}
type AllGiven = ReadonlyMap<string, Given>

/**
 * The settings of a command line (without `node`, script and command) and an environment. A flag replaces its variable
 * whole; an empty variable counts as absent. On failure every fault at once, each a line with the name, what is wrong
 * and the mend; no fault holds a secret.
 */
export function parseSettings(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings | { readonly faults: readonly string[] } {
  const faults: string[] = []
  const given: AllGiven = new Map([...fromEnvironment(env, faults), ...fromCommandLine(argv, faults)])
  const settings: Record<string, unknown> = {}
  for (const setting of SETTINGS) {
    const { source, texts } = given.get(setting.name) ?? {
      source: setting.flag,
      texts: setting.default === undefined ? [] : [setting.default],
    }
    const parsed = texts.map((text) => {
      const value = setting.parse(text)
      if (isInvalid(value)) faults.push(faultOf(source, setting, text, value))
      return value
    })
    settings[camelCase(setting.name)] = setting.repeatable ? parsed : parsed[0]
  }
  faults.push(...conflicts(given))
  faults.push(...deriveBases(settings, given))
  return faults.length > 0 ? { faults } : Object.freeze(settings as unknown as Settings)
}

const faultOf = (source: string, { secret }: Setting, text: string, { wrong, mend }: Invalid): string =>
  `${source}: ${secret ? 'the value' : JSON.stringify(withoutUserInfo(text))} ${wrong}. ${mend}`

function fromEnvironment(env: Readonly<Record<string, string | undefined>>, faults: string[]): Map<string, Given> {
  const given = new Map<string, Given>()
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('TRIPLEGATE_') || !value) continue
    const setting = SETTINGS.find(({ env }) => env === name)
    if (!setting) {
      const near = nearest(
        name,
        SETTINGS.flatMap(({ env }) => env ?? []),
      )
      faults.push(`${name}: no setting has this name. Did you mean ${near}? --help lists them all.`)
    } else {
      const texts = setting.repeatable ? value.split(',').map((text) => text.trim()) : [value]
      given.set(setting.name, { source: name, texts })
    }
  }
  return given
}

function fromCommandLine(argv: readonly string[], faults: string[]): Map<string, Given> {
  const options = Object.fromEntries(
    SETTINGS.map(({ name, value }) => [
      name,
      {
        type: value ? ('string' as const) : ('boolean' as const),
        multiple: true,
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const given = new Map<string, Given>()
  for (const token of tokens) {
    if (token.kind === 'positional') {
      faults.push(
        `${JSON.stringify(withoutUserInfo(token.value))}: belongs to no flag. Write settings as --name value.`,
      )
    }
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const setting = SETTINGS.find((one) => one.name === name)
    const before = given.get(name)?.texts ?? []
    if (!setting) {
      const near = nearest(
        rawName,
        SETTINGS.map(({ flag }) => flag),
      )
      faults.push(`${rawName}: no setting has this name. Did you mean ${near}? --help lists them all.`)
    } else if (setting.value && (!value || (!inlineValue && value.startsWith('-')))) {
      faults.push(`${setting.flag}: has no value. Write ${setting.flag} ${setting.value}.`)
    } else if (before.length > 0 && !setting.repeatable) {
      faults.push(`${setting.flag}: is given twice. Give it once.`)
    } else {
      given.set(name, { source: setting.flag, texts: [...before, value ?? 'true'] })
    }
  }
  return given
}

const OIDC = ['oidc-client-id', 'oidc-client-secret', 'oidc-audience']

/** What does not go together, each with its mend. */
function conflicts(given: AllGiven): string[] {
  const faults: string[] = []
  const has = (name: string): boolean => given.has(name)
  const source = (name: string): string => given.get(name)?.source ?? `--${name}`
  if (has('config')) {
    for (const name of APPLICATIONS.filter(has)) {
      faults.push(`${source(name)}: does not go with ${source('config')}, which describes it. Remove one of them.`)
    }
  } else {
    if (has('credentials')) {
      faults.push(`${source('credentials')}: belongs to a configuration file. Give --config too.`)
    }
    faults.push(...storeConflicts('', has, source), ...storeConflicts('admin-', has, source))
    const own = ['backend', 'query-endpoint'].some(has)
    const admin = ['admin-backend', 'admin-query-endpoint'].find(has)
    if (admin && !own) faults.push(`${source(admin)}: there is no store for the documents. Give --backend too.`)
  }
  for (const [one, other] of [
    ['oidc-issuer', 'oidc-client-id'],
    ...OIDC.map((name) => [name, 'oidc-issuer'] as const),
  ] as const) {
    if (has(one) && !has(other)) faults.push(`${source(one)}: is part of an identity provider. Give --${other} too.`)
  }
  for (const [one, other] of [
    ['smtp-url', 'smtp-from'],
    ['smtp-from', 'smtp-url'],
    ['smtp-to', 'smtp-url'],
  ] as const) {
    if (has(one) && !has(other)) faults.push(`${source(one)}: is not enough to send e-mail. Give --${other} too.`)
  }
  const portOf = (name: string): string | undefined =>
    given.get(name)?.texts[0] ?? SETTINGS.find((setting) => setting.name === name)?.default
  for (const [name, other] of [
    ['http', 'https'],
    ['management', 'https'],
    ['management', 'http'],
  ] as const) {
    const port = portOf(name)
    if (port !== 'off' && port !== '0' && port === portOf(other)) {
      faults.push(`${source(name)}: has the port of --${other}. Give each its own.`)
    }
  }
  if (portOf('https') === 'off' && portOf('http') === 'off') {
    faults.push(`${source('https')}: nothing would listen, for http is off too. Give --https PORT or --http PORT.`)
  }
  return faults
}

function storeConflicts(
  prefix: '' | 'admin-',
  has: (name: string) => boolean,
  source: (name: string) => string,
): string[] {
  const faults: string[] = []
  const [backend, user, password, token] = ['', '-user', '-password', '-token'].map((end) => `${prefix}backend${end}`)
  const endpoints = ['query', 'graph-store', 'update'].map((kind) => `${prefix}${kind}-endpoint`)
  const endpoint = endpoints.find(has)
  if (endpoint && !has(backend!)) {
    for (const missing of endpoints.slice(0, 2).filter((name) => !has(name))) {
      faults.push(`${source(endpoint)}: is not enough without the dataset. Give --${missing} too, or --${backend}.`)
    }
  }
  for (const [one, other] of [
    [user, password],
    [password, user],
  ] as const) {
    if (has(one!) && !has(other!)) faults.push(`${source(one!)}: is half of HTTP Basic. Give --${other} too.`)
  }
  if (has(token!) && has(user!)) {
    faults.push(`${source(token!)}: does not go with ${source(user!)}. Give a token or a user, not both.`)
  }
  const credential = [user, token].find((name) => has(name!))
  if (credential && !has(backend!) && !endpoint) {
    faults.push(`${source(credential)}: there is no store to give it to. Give --${backend} too.`)
  }
  return faults
}

/** Sets `base` and `adminBase` where they are not given. What is wrong with a port or a base is told elsewhere. */
function deriveBases(settings: Record<string, unknown>, given: AllGiven): string[] {
  const { https, http } = settings
  const secure = https !== 'off'
  const port = secure ? https : http
  if (!given.has('base') && !given.has('config') && port === 0) {
    return [`--${secure ? 'https' : 'http'}: the port is chosen by the system, so the base is not known. Give --base.`]
  }
  const local = baseUrl(`${secure ? 'https' : 'http'}://localhost:${String(port)}/`)
  settings.base ??= isInvalid(local) ? undefined : local
  const adminBase = given.get('admin-base')
  const base = typeof settings.base === 'string' ? settings.base : 'https://localhost/'
  const derived = baseUrl(adminBase?.texts[0] ?? 'admin/', base)
  if (isInvalid(derived)) {
    const { wrong, mend } = derived
    return adminBase
      ? [`${adminBase.source}: ${JSON.stringify(withoutUserInfo(adminBase.texts[0]!))} ${wrong}. ${mend}`]
      : []
  }
  settings.adminBase = derived
  return []
}
