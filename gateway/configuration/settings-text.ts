// The settings as text: `--help`, docs/settings.md, and the effective settings. Pure.
import { helpLine } from './flags.js'
import { withoutUserInfo } from './setting-values.js'
import { APPLICATIONS, camelCase, SETTINGS, type Setting, type Settings } from './setting-table.js'

const usage = ({ flag, value }: Setting): string => (value ? `${flag} ${value}` : flag)
const fallback = ({ default: value, otherwise, flagOnly }: Setting): string =>
  otherwise ?? (flagOnly || value === 'false' ? '' : (value ?? ''))

const GROUPS = [...new Set(SETTINGS.map(({ group }) => group))]
const settingsOf = (group: string): readonly Setting[] => SETTINGS.filter((setting) => setting.group === group)

/** The settings as `--help` lists them, by groups; ends with a line end. */
export function helpText(): string {
  const lineOf = (setting: Setting): string => {
    const otherwise = fallback(setting)
    const more = [setting.repeatable && 'repeatable', otherwise && `default: ${otherwise}`].filter(Boolean).join('; ')
    return helpLine(usage(setting), `${setting.help}${more && ` (${more})`}`)
  }
  return [...GROUPS.flatMap((group) => [`${group}:`, ...settingsOf(group).map(lineOf), '']), ...ENVIRONMENT, ''].join(
    '\n',
  )
}

const ENVIRONMENT = [
  'Every setting is an environment variable too: TRIPLEGATE_ADMIN_BACKEND for --admin-backend. A flag replaces its variable.',
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
    'Give settings to `triplegate serve` and `triplegate mirror` as flags or as environment variables. A flag replaces its',
    'variable. In a variable, commas separate the values of a repeatable setting. Give passwords, tokens and other secrets',
    'as variables: other users of the machine can see flags.',
    '',
    'The settings under Stores, History and Addresses describe one dataspace. Configuration files (`--config`) replace them.',
    '',
    ...GROUPS.flatMap((group) => [`## ${group}`, '', ...TABLE, ...settingsOf(group).map(lineOf), '']),
  ].join('\n')
}

const TABLE = ['| flag | environment variable | default | meaning |', '|---|---|---|---|']

/**
 * The effective settings as environment variables, secrets and user information in URLs hidden; ends with a line end.
 */
export function printConfig(settings: Settings): string {
  const effective = settings as unknown as Readonly<Record<string, unknown>>
  const described = new Set(settings.config.length > 0 ? APPLICATIONS : [])
  const lines = SETTINGS.filter(({ env }) => env).map(({ name, env, secret }) => {
    const value = described.has(name) ? undefined : effective[camelCase(name)]
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return `# ${env} is not set`
    return `${env}=${secret ? '***' : withoutUserInfo(String(value))}`
  })
  return lines.join('\n') + '\n'
}
