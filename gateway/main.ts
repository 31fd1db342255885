#!/usr/bin/env node
// In charge of the command line: finds the command, runs it, and stops the process with its exit code.
import { ACCESS_COMMAND } from './commands/access.js'
import type { Command } from './commands/arguments.js'
import { EXIT, exitCodesText } from './commands/exit-codes.js'
import { HISTORY_COMMANDS } from './commands/history.js'
import { mirrorCommand } from './commands/mirror.js'
import { SERVE_COMMAND } from './commands/serve.js'
import { fail, type Terminal } from './commands/terminal.js'
import { version } from './commands/version.js'
import { helpLine } from './configuration/flags.js'
import { isNear, nearest } from './configuration/near-names.js'

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  waiting: (what) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${what ?? ''}`)),
}

const COMMANDS: readonly Command[] = [
  SERVE_COMMAND,
  ...HISTORY_COMMANDS,
  mirrorCommand({ interactive: process.stderr.isTTY, now: Date.now }),
  ACCESS_COMMAND,
]

const helpPage = (): string =>
  [
    'Triplegate turns a SPARQL 1.1 triplestore into a Linked Data document service with access control.',
    '',
    ...COMMANDS.flatMap(({ description }) => description.forms).map(([form, help]) =>
      helpLine(`triplegate ${form}`, help),
    ),
    '',
    helpLine('triplegate COMMAND --help', 'list the options or settings of a command'),
    helpLine('triplegate --version', 'print the version'),
    '',
    exitCodesText(['done', 'different', 'usage', 'failed', 'absent', 'refused', 'changed']),
    '',
  ].join('\n')

/** Returns the exit code; a gateway keeps serving. */
async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  const command = commandOf(name)
  if (command) return command.run(rest, process.env, terminal)
  const asked = name === 'help' && commandOf(rest[0])
  if (asked) return asked.run(['--help'], process.env, terminal)
  if (name === '--help' || name === '-h' || name === 'help') terminal.out(helpPage())
  else if (name === '--version') terminal.out(`${version()}\n`)
  else return fail(terminal, { failure: 'arguments.wrong', detail: unknownCommand(name) })
  return EXIT.done
}

const commandOf = (name: string | undefined): Command | undefined =>
  COMMANDS.find(({ description }) => description.name === name)

function unknownCommand(name: string | undefined): string {
  const list = 'triplegate --help lists the commands.'
  if (name === undefined) return `no command is given. Write triplegate serve to run the gateway; ${list}`
  const near = nearest(
    name,
    COMMANDS.map(({ description }) => description.name).filter((known) => isNear(name, known)),
  )
  return `there is no command ${name}. ${near === undefined ? '' : `Did you mean triplegate ${near}? `}${list}`
}

// A reader such as `head` may close the output early: the command continues, and its exit code stays the same.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => void (code === 'EPIPE' || process.exit(EXIT.failed)))

// Timers that a command waits for do not keep a process alive. This one does, until the command is done.
const underWay = setInterval(() => undefined, 60_000)
process.exitCode = EXIT.failed
const argv = process.argv.slice(2)
main(argv)
  .then((code) => {
    process.exitCode = code
    // A start that failed may leave threads and sockets behind.
    if (argv[0] === SERVE_COMMAND.description.name && code !== EXIT.done) process.exit(code)
  })
  .catch((error: unknown) => {
    process.stderr.write(`triplegate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(EXIT.failed)
  })
  .finally(() => clearInterval(underWay))
