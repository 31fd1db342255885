// `triplegate backup FILE`: writes one archive, from which a clean machine can start.
import { chmod, link, open, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import {
  argumentsOf,
  HELP_OPTION,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import { fail, makeProgress, type Terminal } from '../../commands/terminal.js'
import { readConfiguration } from '../../configuration/configuration.js'
import { isInMemory } from '../../configuration/dataspace.js'
import { historyPlaceOf } from '../../configuration/history-place.js'
import { SETTINGS, settingsOf, type Environment } from '../../configuration/settings.js'
import { pathBelow } from '../../files/path-below.js'
import { readOperatorsKey } from '../../identity/operators-key.js'
import { isFailure } from '../../problem.js'
import { SEEDED_FILE } from '../../start/seeded.js'
import { failureOf, systemErrorOf } from './unable.js'

const DESCRIPTION: CommandDescription = {
  name: 'backup',
  forms: [['backup FILE', 'write stores, histories, files and keys to one archive (tar.gz)']],
  notes: [
    'Usage: triplegate backup FILE [settings as for serve]',
    '',
    'While a gateway runs on the data folder, it makes the backup: the command asks it through its --management port, and',
    'writes wait for a moment. FILE has private keys: only the account that makes it can read it.',
    'FILE must be outside the data folder.',
  ],
  options: [HELP_OPTION],
  settings: SETTINGS.filter(({ flagOnly }) => !flagOnly),
  exits: ['done', 'usage', 'failed'],
}

export const BACKUP_COMMAND: Command = { description: DESCRIPTION, run: runBackup }

async function runBackup(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const [file, ...more] = given.positionals
  if (file === undefined || more.length > 0) return fail(terminal, wrongArguments('write triplegate backup FILE. See triplegate backup --help.')) // prettier-ignore
  const settings = settingsOf(given, env)
  if (isFailure(settings)) return fail(terminal, settings)
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return fail(terminal, dataspaces)
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const lost = applications.filter((one) => isInMemory(one.service) && !historyPlaceOf(one, settings))
  for (const { base } of lost) terminal.error(`triplegate: ${base}: its documents are in memory only: the backup is without them.\n`) // prettier-ignore
  if (!existsSync(join(settings.data, SEEDED_FILE))) return fail(terminal, cannot(`${settings.data}: no gateway has used this folder. Correct --data.`)) // prettier-ignore
  if (existsSync(file)) return fail(terminal, cannot(`${file} exists. Give another name.`))
  if (pathBelow(settings.data, file) !== undefined) return fail(terminal, cannot(`${file} is in the data folder, and would be part of the next backup. Give a file outside the data folder.`)) // prettier-ignore
  const show = makeProgress(terminal)
  const take = (bytes: AsyncIterable<Uint8Array>): Promise<void> =>
    writeArchive(file, bytes, (written) => show(() => `backup: ${megabytes(written)}`))
  try {
    const key = readOperatorsKey(settings.data)
    const { management } = settings
    const asked = key !== undefined && management !== 'off' ? await (await import('./ask-gateway.js')).askForBackup(management, key) : undefined // prettier-ignore
    if (asked) await take(asked)
    else await (await import('./without-gateway.js')).backUpAlone(settings, dataspaces, take)
  } catch (error) {
    return fail(terminal, failureOf(error))
  } finally {
    terminal.waiting(undefined)
  }
  terminal.out(`${file} is written. It has private keys. Look at it: triplegate restore --check ${file}\n`)
  return EXIT.done
}

const cannot = (detail: string): CommandFailure => ({ failure: 'backup.failed', detail })

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`

/** The archive gets its name only when it is complete and on the disk. */
async function writeArchive(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  wrote: (bytes: number) => void,
): Promise<void> {
  const part = `${file}.part`
  await rm(part, { force: true })
  const opened = await open(part, 'wx', 0o600)
  let written = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      yield piece
      wrote((written += piece.length))
    }
  }
  try {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED })
    await pipeline(Readable.from(counted()), gzip, opened.createWriteStream({ flush: true }))
    await chmod(part, 0o600)
    await giveName(part, file)
    const folder = await open(dirname(file))
    await folder.sync().finally(() => folder.close())
  } finally {
    await rm(part, { force: true })
  }
}

/** The errors of file systems without hard links, such as FAT and some network shares. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Unlike a rename, a link never replaces a file that was created meanwhile.
 * @param linkFile replaced in tests
 */
export async function giveName(part: string, file: string, linkFile = link): Promise<void> {
  try {
    await linkFile(part, file)
  } catch (error) {
    if (!NO_LINKS.has(systemErrorOf(error)?.code) || existsSync(file)) throw error
    await rename(part, file)
  }
}
