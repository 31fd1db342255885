// `triplegate store install`: fetches the executable of Oxigraph for `--store oxigraph` into the data folder.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  argumentsOf,
  HELP_OPTION,
  strayArguments,
  wrongArguments,
  type Command,
  type CommandDescription,
} from '../../commands/arguments.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import { CONNECTION_OPTIONS, dataOf } from '../../commands/gateway-client.js'
import { fail, type Terminal } from '../../commands/terminal.js'
import type { Environment } from '../../configuration/settings.js'
import { isFailure } from '../../problem.js'
import { foreignFolder, ownerFix } from '../../start/private-folder.js'
import { installedOxigraph } from '../../stores/child-store.js'
import { executableIn, OXIGRAPH_VERSION, WHEELS, type Wheel } from './wheels.js'

const DESCRIPTION: CommandDescription = {
  name: 'store',
  forms: [['store install', 'fetch Oxigraph for serve --store oxigraph into the data folder']],
  notes: [`It fetches version ${OXIGRAPH_VERSION} from PyPI, and checks its digest.`],
  options: [...CONNECTION_OPTIONS.filter(({ name }) => name === 'data'), HELP_OPTION],
  exits: ['done', 'usage', 'failed'],
}

export const STORE_COMMAND: Command = { description: DESCRIPTION, run: runStoreCommand }

async function runStoreCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const [action, ...more] = given.positionals
  const unknown = action === 'install' ? [] : ['write triplegate store install.']
  const faults = [...given.faults, ...unknown, ...strayArguments(more)]
  if (faults.length > 0) return fail(terminal, wrongArguments(...faults))
  const data = dataOf(given, env)
  const foreign = foreignFolder(data)
  if (foreign !== undefined) return fail(terminal, cannot(foreign))
  const file = installedOxigraph(data)
  terminal.waiting(`fetching Oxigraph ${OXIGRAPH_VERSION} …`)
  const failed = await installExecutable(file, WHEELS[PLATFORM])
  terminal.waiting(undefined)
  if (failed) return fail(terminal, failed)
  terminal.out(`${file} is Oxigraph ${OXIGRAPH_VERSION}. Start the gateway with --store oxigraph.\n`)
  return EXIT.done
}

const PLATFORM = `${process.platform} ${process.arch}`

const cannot = (detail: string): CommandFailure => ({ failure: 'start.failed', detail })

/** @param fetchBytes replaced in tests */
export async function installExecutable(
  file: string,
  wheel: Wheel | undefined,
  fetchBytes = fetched,
): Promise<CommandFailure | undefined> {
  if (!wheel) return cannot(`PyPI has no Oxigraph for ${PLATFORM}. Run cargo install oxigraph-cli.`)
  const bytes = await fetchBytes(wheel.url)
  if (isFailure(bytes)) return bytes
  const executable = executableIn(bytes, wheel)
  if (!executable) return cannot(`${wheel.url}: its SHA-256 is not ${wheel.sha256}. Nothing was installed.`)
  const part = `${file}.part`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(part, executable)
    chmodSync(part, 0o700)
    execFileSync(part, ['--version'], { stdio: 'ignore' })
    renameSync(part, file)
    return undefined
  } catch (error) {
    const fix = ownerFix(String(error))
    if (fix !== undefined) return cannot(`${part} cannot be written and run (${String(error)}). ${fix}`)
    return cannot(`${part} does not run here (${String(error)}). Run cargo install oxigraph-cli.`)
  }
}

const TIME_LIMIT_MS = 300_000

async function fetched(url: string): Promise<Buffer | CommandFailure> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIME_LIMIT_MS), redirect: 'error' })
    if (answer.ok) return Buffer.from(await answer.arrayBuffer())
    return cannot(`${url}: answered with status ${answer.status}. Run cargo install oxigraph-cli.`)
  } catch (error) {
    const why = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cannot(`${url}: cannot be fetched (${String(why)}).`)
  }
}
