// Reads the settings from the command line and the environment, and finds those that conflict. Pure.
import { readArguments, strayArguments, type Arguments } from './flags.js'
import type { Faulty } from './faults.js'
import { didYouMean } from './near-names.js'
import { settingConflicts, type AllGiven, type Given } from './setting-conflicts.js'
import { baseUrl, withoutUserInfo, type InvalidValue } from './setting-values.js'
import { camelCase, SETTINGS, type Setting, type Settings } from './setting-table.js'
import { isFailure } from '../problem.js'

export { SETTINGS, type Settings } from './setting-table.js'
/** The data folder if no setting names one. */
export const DEFAULT_DATA = SETTINGS.find(({ name }) => name === 'data')!.default
export { effectiveLines, helpText, settingsPage, USUAL_SETTINGS } from './settings-text.js'

/** Each fault is one line with the setting's name, the mistake and the fix. Never contains secrets. */
export type WrongSettings = Faulty<'settings.wrong', string>

/** The settings from a command line (without `node`, script and command) and an environment. */
export function parseSettings(argv: readonly string[], env: Environment): Settings | WrongSettings {
  const given = readArguments(argv, SETTINGS, { command: 'serve', noun: 'setting' })
  return settingsOf({ ...given, faults: [...given.faults, ...strayArguments(given.positionals)] }, env)
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings from flags and an environment. A flag overrides its variable; an empty variable counts as absent. */
export function settingsOf(
  { values, faults: wrongFlags }: Pick<Arguments, 'values' | 'faults'>,
  env: Environment,
): Settings | WrongSettings {
  const faults: string[] = []
  const given = givenIn(values, env, faults)
  faults.push(...wrongFlags)
  const settings: Record<string, unknown> = {}
  for (const setting of SETTINGS) {
    const { source, texts } = given.get(setting.name) ?? {
      source: setting.flag,
      texts: setting.default === undefined ? [] : [setting.default],
    }
    const parsed = texts.map((text) => {
      const value = setting.parse(text)
      if (isFailure(value)) faults.push(faultOf(source, setting, text, value))
      return value
    })
    settings[camelCase(setting.name)] = setting.repeatable ? parsed : parsed[0]
  }
  faults.push(...settingConflicts(given))
  faults.push(...deriveBases(settings, given))
  return faults.length > 0
    ? { failure: 'settings.wrong', detail: faults.join('\n'), faults }
    : Object.freeze(settings as unknown as Settings)
}

/** The flag or variable of each setting that has one. */
export const givenIn = (values: Arguments['values'], env: Environment, faults: string[] = []): AllGiven =>
  new Map([
    ...fromEnvironment(env, faults),
    ...SETTINGS.flatMap(({ name, flag }) => {
      const texts = values.get(name)
      return texts ? [[name, { source: flag, texts }] as const] : []
    }),
  ])

const faultOf = (source: string, { secret }: Setting, text: string, { detail, fix }: InvalidValue): string =>
  `${source}: ${secret ? 'the value' : JSON.stringify(withoutUserInfo(text))} ${detail}. ${fix}`

function fromEnvironment(env: Environment, faults: string[]): Map<string, Given> {
  const given = new Map<string, Given>()
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('TRIPLEGATE_') || !value) continue
    const setting = SETTINGS.find(({ env }) => env === name)
    if (!setting) {
      const names = SETTINGS.flatMap(({ env }) => env ?? [])
      faults.push(
        `${name}: no setting has this name. ${didYouMean(name, names)}triplegate serve --help=all lists them all.`,
      )
    } else {
      const texts = setting.repeatable ? value.split(',').map((text) => text.trim()) : [value]
      given.set(setting.name, { source: name, texts })
    }
  }
  return given
}

/** Derives `base` and `adminBase` if they are not given. `settingsOf` reports wrong ports and bases. */
function deriveBases(settings: Record<string, unknown>, given: AllGiven): string[] {
  const { https, http } = settings
  const secure = https !== 'off'
  const port = secure ? https : http
  if (!given.has('base') && !given.has('config') && port === 0) {
    return [`--${secure ? 'https' : 'http'}: the system chooses the port, so the base is unknown. Give --base.`]
  }
  const local = baseUrl(`${secure ? 'https' : 'http'}://localhost:${String(port)}/`)
  settings.base ??= isFailure(local) ? undefined : local
  const adminBase = given.get('admin-base')
  const base = typeof settings.base === 'string' ? settings.base : 'https://localhost/'
  const derived = baseUrl(adminBase?.texts[0] ?? 'admin/', base)
  if (isFailure(derived)) {
    const { detail, fix } = derived
    return adminBase
      ? [`${adminBase.source}: ${JSON.stringify(withoutUserInfo(adminBase.texts[0]!))} ${detail}. ${fix}`]
      : []
  }
  settings.adminBase = derived
  return []
}
