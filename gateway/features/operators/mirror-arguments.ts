// The arguments of `triplegate mirror`. Pure.
import {
  argumentsOf,
  HELP_OPTION,
  strayArguments,
  argumentText,
  wrongArguments,
  type CommandDescription,
} from '../../commands/arguments.js'
import { SETTINGS, settingsOf, type Environment, type Settings } from '../../configuration/settings.js'
import type { CommandFailure } from '../../commands/exit-codes.js'
import { isFailure } from '../../problem.js'

const ACTIONS = ['verify', 'sweep', 'rebuild'] as const
export type MirrorAction = (typeof ACTIONS)[number]

export interface MirrorArguments {
  readonly action: MirrorAction
  /** The base of one application; undefined: every versioned application. */
  readonly application: string | undefined
  readonly json: boolean
  readonly force: boolean
  readonly settings: Settings
}

const HELP: Readonly<Record<MirrorAction, string>> = {
  verify: 'report the differences between store and repository',
  sweep: 'commit changes that bypassed the gateway',
  rebuild: 'fill an empty store from the repository, then verify it',
}

const FORCE = {
  name: 'force',
  value: '',
  bare: true,
  help: 'rebuild: overwrite the store. sweep: commit even if the store has lost most documents',
}

export const MIRROR_DESCRIPTION: CommandDescription = {
  name: 'mirror',
  forms: ACTIONS.map((action) => [`mirror ${action}`, HELP[action]]),
  notes: [
    'Usage: triplegate mirror verify|sweep|rebuild [options] [settings as for serve]',
    '',
    'verify changes nothing. sweep commits each document that differs, including deletions; thousands of new documents share',
    'a commit. Stop the gateway before rebuild. If a gateway with these settings is running, the command asks it to verify or',
    'sweep through its --management port.',
  ],
  options: [
    { name: 'application', value: 'URL', help: 'base of one application (default: every versioned application)' },
    FORCE,
    { name: 'json', value: '', bare: true, help: 'print JSON' },
    HELP_OPTION,
  ],
  settings: SETTINGS.filter(({ flagOnly }) => !flagOnly),
  exits: ['done', 'different', 'usage', 'failed'],
}

/** Parses the arguments after the command. Returns the help page if they ask for it. */
export function parseMirrorArguments(
  argv: readonly string[],
  env: Environment,
): MirrorArguments | { readonly help: string } | CommandFailure {
  const given = argumentsOf(argv, MIRROR_DESCRIPTION)
  if ('help' in given) return given
  const [written, ...more] = given.positionals
  const action = ACTIONS.find((one) => one === written)
  if (!action) return wrongArguments('write triplegate mirror verify, sweep or rebuild. See triplegate mirror --help.')
  const force = given.values.has('force')
  const faults = [
    ...(force && action === 'verify' ? ['--force: works with sweep and rebuild only. Leave it out.'] : []),
    ...given.faults,
    ...strayArguments(more),
  ]
  const settings = settingsOf({ ...given, faults }, env)
  if (isFailure(settings)) return settings
  return { action, application: argumentText(given, 'application'), json: given.values.has('json'), force, settings }
}
