// `triplegate restore FILE`: fills a data folder and stores from a backup.
import {
  argumentsOf,
  HELP_OPTION,
  strayArguments,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { EXIT } from '../../commands/exit-codes.js'
import { fail, makeProgress, printable, type Terminal } from '../../commands/terminal.js'
import { readConfiguration } from '../../configuration/configuration.js'
import { readArguments } from '../../configuration/flags.js'
import { SETTINGS, settingsOf, type Environment, type Settings } from '../../configuration/settings.js'
import { isFailure } from '../../problem.js'
import { failureOf } from './unable.js'

const CHECK = { name: 'check', value: '', bare: true, help: 'verify the archive, and say what it holds' }

const OPTIONS = [CHECK, HELP_OPTION]
const TAKEN = SETTINGS.filter(({ flagOnly }) => !flagOnly)

const DESCRIPTION: CommandDescription = {
  name: 'restore',
  forms: [
    ['restore FILE', 'fill an empty data folder and empty stores from a backup'],
    ['restore --check FILE', 'verify a backup, and say what it holds'],
  ],
  notes: [
    'Usage: triplegate restore FILE --data FOLDER [settings as for serve]',
    '',
    'A restore that was killed is begun again with the same arguments: until it has ended, no gateway starts on the folder.',
  ],
  options: OPTIONS,
  settings: TAKEN,
  exits: ['done', 'usage', 'failed'],
}

export const RESTORE_COMMAND: Command = {
  description: DESCRIPTION,
  isMeant(argv) {
    const { values, positionals } = readArguments(argv, [...OPTIONS, ...TAKEN], { command: 'restore' })
    const [only = '', ...more] = positionals
    return values.has('check') || (only !== '' && more.length === 0 && !/^https?:/i.test(only))
  },
  run: runRestore,
}

async function runRestore(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const [file, ...more] = given.positionals
  if (file === undefined) return fail(terminal, wrongArguments('write triplegate restore FILE. See triplegate restore --help.')) // prettier-ignore
  const settings = settingsOf({ ...given, faults: [...given.faults, ...strayArguments(more)] }, env)
  if (isFailure(settings)) return fail(terminal, settings)
  try {
    if (given.values.has('check')) return await check(file, terminal)
    return await restoreFrom(file, settings, argv.filter((argument) => argument !== file), terminal) // prettier-ignore
  } catch (error) {
    return fail(terminal, failureOf(error))
  } finally {
    terminal.waiting(undefined)
  }
}

const reading = (terminal: Terminal): ((bytes: number) => void) => {
  const show = makeProgress(terminal)
  return (bytes) => show(() => `reading the backup: ${(bytes / 1e6).toFixed(0)} MB`)
}

async function check(file: string, terminal: Terminal): Promise<number> {
  const { archiveText, checkArchive } = await import('./check.js')
  const manifest = await checkArchive(file, reading(terminal))
  terminal.waiting(undefined)
  terminal.out(printable(archiveText(file, manifest)))
  return EXIT.done
}

async function restoreFrom(
  file: string,
  settings: Settings,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return fail(terminal, dataspaces)
  const { verifyArchive } = await import('./read-archive.js')
  const manifest = await verifyArchive(file, reading(terminal))
  const { restore, toRebuild } = await import('./restore.js')
  const show = makeProgress(terminal)
  const restoring = { archive: { file, manifest }, settings, dataspaces, report: (what: string) => show(() => what) }
  await restore(restoring)
  terminal.waiting(undefined)
  const again = rest
    .map((argument) => (/^[\w./:=@%+,-]+$/.test(argument) ? argument : JSON.stringify(argument)))
    .join(' ')
  const empty = toRebuild(restoring).map((base) => `triplegate mirror rebuild --application ${base} ${again}`)
  const next = [...empty, `triplegate serve ${again}`, `triplegate mirror verify ${again}`]
  terminal.out(printable(`${settings.data} has the backup of ${manifest.time}. Next:\n${next.map((line) => `  ${line.trim()}\n`).join('')}`)) // prettier-ignore
  return EXIT.done
}
