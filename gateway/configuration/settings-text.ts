// The settings as text: `--help`, docs/settings.md, and the effective settings with their origins. Pure.
import { helpLine } from './flags.js'
import { withoutUserInfo } from './setting-values.js'
import type { AllGiven } from './setting-conflicts.js'
import { APPLICATIONS, camelCase, SETTINGS, type Setting, type SettingName, type Settings } from './setting-table.js'

const usage = ({ flag, value }: Setting): string => (value ? `${flag} ${value}` : flag)
const fallback = ({ default: value, otherwise, flagOnly }: Setting): string =>
  otherwise ?? (flagOnly || value === 'false' ? '' : (value ?? ''))

const GROUPS = [...new Set(SETTINGS.map(({ group }) => group))]
const settingsOf = (group: string): readonly Setting[] => SETTINGS.filter((setting) => setting.group === group)

/** The settings that most gateways use: those listed by `--help`. */
// prettier-ignore
export const USUAL_SETTINGS: readonly string[] = [
  'store', 'backend', 'admin-backend', 'backend-user', 'backend-password', 'history', 'admin-history', 'history-token',
  'base', 'config', 'credentials', 'data', 'https', 'http', 'tls-cert', 'tls-key', 'host', 'trusted-proxy',
  'owner-webid', 'oidc-issuer', 'oidc-client-id', 'oidc-client-secret', 'smtp-url', 'smtp-from', 'allow-fetch',
  'enforce', 'sign-up', 'cache', 'log-level', 'help',
] satisfies SettingName[]

/** The settings in groups; ends with a line end. */
export function helpText(which: 'usual' | 'all'): string {
  const lineOf = (setting: Setting): string => {
    const otherwise = fallback(setting)
    const more = [setting.repeatable && 'repeatable', otherwise && `default: ${otherwise}`].filter(Boolean).join('; ')
    return helpLine(usage(setting), `${setting.help}${more && ` (${more})`}`)
  }
  const shown = GROUPS.flatMap((group) => {
    const lines = settingsOf(group).filter(({ name }) => which === 'all' || USUAL_SETTINGS.includes(name))
    return lines.length === 0 ? [] : [`${group}:`, ...lines.map(lineOf), '']
  })
  const rest = which === 'all' ? [] : [`These are the usual ones of ${SETTINGS.length} settings: --help=all lists all.`]
  return [...shown, ...rest, ...ENVIRONMENT, ''].join('\n')
}

const ENVIRONMENT = [
  'Every setting can also be an environment variable: TRIPLEGATE_ADMIN_BACKEND for --admin-backend. A flag overrides its variable.',
  'In a variable, commas separate the values of a repeatable setting. Give secrets as variables: others can see flags.',
]

/** docs/settings.md: Markdown with a table for each group; ends with a line end. */
export function settingsPage(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/[{}]/g, '\\$&')
  const lineOf = (setting: Setting): string => {
    const names = [`\`${usage(setting)}\``, setting.env ? `\`${setting.env}\`` : '']
    const help = `${setting.help}${setting.repeatable ? ' Repeatable.' : ''}`
    return `| ${[...names, cell(fallback(setting)), cell(help)].join(' | ')} |`
  }
  return [
    '# Settings',
    '',
    '<!-- Generated from gateway/configuration/setting-table.ts by `npm run docs`. Do not edit. -->',
    '',
    'Give settings to `triplegate serve` and `triplegate mirror` as flags or as environment variables. A flag overrides its',
    'variable. In a variable, commas separate the values of a repeatable setting. Give passwords, tokens and other secrets',
    'as variables: other users of the machine can see flags.',
    '',
    'The settings under Stores, History and Addresses describe one dataspace. Configuration files (`--config`) replace them.',
    '',
    ...GROUPS.flatMap((group) => [`## ${group}`, '', ...TABLE, ...settingsOf(group).map(lineOf), '']),
  ].join('\n')
}

const TABLE = ['| flag | environment variable | default | meaning |', '|---|---|---|---|']

/** The effective settings, each with its value and origin; secrets and users in URLs are hidden. */
export function effectiveLines(settings: Settings, given: AllGiven): string[] {
  const effective = settings as unknown as Readonly<Record<string, unknown>>
  const described = new Set(settings.config.length > 0 ? APPLICATIONS : [])
  return SETTINGS.filter(({ name, flagOnly }) => !flagOnly && !described.has(name)).map((setting) => {
    const { name, flag, secret } = setting
    const value = effective[camelCase(name)]
    const isSet = value !== undefined && !(Array.isArray(value) && value.length === 0)
    const { source } = given.get(name) ?? {}
    const shown = secret ? '***' : withoutUserInfo(String(value))
    const origin = source === undefined ? 'default' : source === flag ? 'flag' : source
    return originLine(flag.slice(2), isSet ? shown : `(${setting.otherwise ?? 'none'})`, origin)
  })
}

export const originLine = (name: string, value: string, origin: string): string =>
  `  ${name.padEnd(NAME)} ${value.padEnd(VALUE)} ${origin}`
const [NAME, VALUE] = [24, 44]
