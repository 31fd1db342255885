#!/usr/bin/env node
// The process of a command: its terminal, and how it stops.
import { setFlagsFromString } from 'node:v8'
import { EXIT } from './commands/exit-codes.js'
import { runCommand, withCommand } from './run-command.js'
import type { Terminal } from './commands/terminal.js'

// Design 2: what commands, LevelDB and git create is for this account only.
process.umask(0o077)
// V8 collects garbage when memory has grown by so many per cent, in place of several times: a large import takes far
// less of it. V8 reads the flag at each collection.
setFlagsFromString('--heap-growing-percent=30')

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  waiting: (what) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${what ?? ''}`)),
  interactive: process.stderr.isTTY,
  isShown: process.stdout.isTTY,
  now: Date.now,
}

// A reader such as `head` may close the output early: the command continues, and its exit code stays the same.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => void (code === 'EPIPE' || process.exit(EXIT.failed)))

// Timers that a command waits for do not keep a process alive. This one does, until the command is done.
const underWay = setInterval(() => undefined, 60_000)
process.exitCode = EXIT.failed
const argv = withCommand(process.argv.slice(2))
runCommand(argv, process.env, terminal)
  .then((code) => {
    process.exitCode = code
    // A start that failed may leave threads and sockets behind.
    if (argv[0] === 'serve' && code !== EXIT.done) process.exit(code)
  })
  .catch((error: unknown) => {
    process.stderr.write(`triplegate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(EXIT.failed)
  })
  .finally(() => clearInterval(underWay))
