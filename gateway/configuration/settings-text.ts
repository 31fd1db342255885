// In charge of the settings as text: `--help`, the table of the README, and the settings in force. Pure.
import { withoutUserInfo } from './setting-values.js'
import { APPLICATIONS, camelCase, SETTINGS, type Setting, type Settings } from './setting-table.js'

const usage = ({ flag, value }: Setting): string => (value ? `${flag} ${value}` : flag)
const fallback = ({ default: value, otherwise, flagOnly }: Setting): string =>
  otherwise ?? (flagOnly || value === 'false' ? '' : (value ?? ''))

/** The page of `--help`: plain text, ends with a line end. */
export function helpText(): string {
  const lines = SETTINGS.map((setting) => {
    const otherwise = fallback(setting)
    const more = [setting.repeatable && 'repeatable', otherwise && `default: ${otherwise}`].filter(Boolean).join('; ')
    return `  ${usage(setting).padEnd(34)} ${setting.help}${more && ` (${more})`}`
  })
  return [
    'A gateway that turns a SPARQL 1.1 triplestore into a Linked Data document service.',
    'Without --backend and --config it keeps the data itself, in the data folder.',
    '',
    ...lines,
    '',
    'Every setting but the last three is an environment variable too: TRIPLEGATE_ADMIN_BACKEND for --admin-backend.',
    'Flags win. In a variable, commas separate the values of a repeatable setting.',
    '',
  ].join('\n')
}

/** The Markdown table of the README: a line for each setting, ends with a line end. */
export function settingsTable(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/[{}]/g, '\\$&')
  const lines = SETTINGS.map((setting) => {
    const names = [`\`${usage(setting)}\``, setting.env ? `\`${setting.env}\`` : '']
    const help = `${setting.help}${setting.repeatable ? ' Repeatable.' : ''}`
    return `| ${[...names, cell(fallback(setting)), cell(help)].join(' | ')} |`
  })
  return ['| flag | environment variable | default | meaning |', '|---|---|---|---|', ...lines, ''].join('\n')
}

/** The settings in force as environment variables, secrets and user information in URLs hidden; ends with a line end. */
export function printConfig(settings: Settings): string {
  const inForce = settings as unknown as Readonly<Record<string, unknown>>
  const described = new Set(settings.config.length > 0 ? APPLICATIONS : [])
  const lines = SETTINGS.filter(({ env }) => env).map(({ name, env, secret }) => {
    const value = described.has(name) ? undefined : inForce[camelCase(name)]
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return `# ${env} is not set`
    return `${env}=${secret ? '***' : withoutUserInfo(String(value))}`
  })
  return lines.join('\n') + '\n'
}
