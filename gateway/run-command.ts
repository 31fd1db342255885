// Finds the command named on the command line and runs it; also makes the page that lists all commands.
import type { Command } from './commands/arguments.js'
import { helpLine } from './configuration/flags.js'
import { isNear, nearest } from './configuration/near-names.js'
import type { Environment } from './configuration/settings.js'
import { CHECK_COMMAND } from './commands/check.js'
import { EXIT, exitCodesText } from './commands/exit-codes.js'
import { HISTORY_COMMANDS } from './commands/history.js'
import { serveCommand } from './serve.js'
import { endpointNames, FEATURES, loadFeatures } from './features.js'
import { fail, type Terminal } from './commands/terminal.js'
import { version } from './version.js'

export const COMMANDS: readonly Command[] = [
  serveCommand(() => loadFeatures()),
  CHECK_COMMAND,
  ...HISTORY_COMMANDS,
  ...FEATURES.flatMap(({ commands }) => commands?.(endpointNames) ?? []),
]

/** `triplegate URL …` is `triplegate serve --backend URL …`. */
export const withCommand = (argv: readonly string[]): readonly string[] =>
  /^https?:\/\//i.test(argv[0] ?? '') ? ['serve', '--backend', ...argv] : argv

/** @param argv without `node` and script. Returns the exit code; a gateway keeps serving. */
export async function runCommand(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv
  const commands = commandsOf(name)
  if (commands.length > 1 && rest.includes('--help')) return help(commands, env, terminal)
  const command = commands.find(({ isMeant }) => isMeant?.(rest)) ?? commands[0]
  if (command) return command.run(rest, env, terminal)
  const explained = name === 'help' ? commandsOf(rest[0]) : []
  if (explained.length > 0) return help(explained, env, terminal)
  if (name === '--help' || name === '-h' || name === 'help') terminal.out(helpPage())
  else if (name === '--version') terminal.out(`${version()}\n`)
  else return fail(terminal, { failure: 'arguments.wrong', detail: unknownCommand(name) })
  return EXIT.done
}

/** Some names have two commands, which differ in their arguments. */
const commandsOf = (name: string | undefined): readonly Command[] =>
  COMMANDS.filter(({ description }) => description.name === name)

async function help(commands: readonly Command[], env: Environment, terminal: Terminal): Promise<number> {
  for (const [index, command] of commands.entries()) {
    if (index > 0) terminal.out('\n')
    await command.run(['--help'], env, terminal)
  }
  return EXIT.done
}

const helpPage = (): string =>
  [
    'Triplegate turns a SPARQL 1.1 triplestore into a Linked Data document service with access control.',
    '',
    ...COMMANDS.flatMap(({ description }) => description.forms).map(([form, help]) =>
      helpLine(`triplegate ${form}`, help),
    ),
    '',
    helpLine('triplegate URL [settings]', 'run the gateway in front of the dataset at this URL: serve --backend URL'),
    helpLine('triplegate COMMAND --help', 'list the options or settings of a command'),
    helpLine('triplegate --version', 'print the version'),
    '',
    exitCodesText(['done', 'different', 'usage', 'failed', 'absent', 'refused', 'changed']),
    '',
  ].join('\n')

function unknownCommand(name: string | undefined): string {
  const list = 'triplegate --help lists the commands.'
  if (name === undefined) return `no command is given. Use triplegate serve to run the gateway; ${list}`
  const names = COMMANDS.map(({ description }) => description.name)
  const near = nearest(
    name,
    names.filter((known) => isNear(name, known)),
  )
  return `there is no command ${name}. ${near === undefined ? '' : `Did you mean triplegate ${near}? `}${list}`
}
