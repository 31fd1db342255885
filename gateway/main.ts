#!/usr/bin/env node
// The process of a command: its terminal, and how it exits.
import { setFlagsFromString } from 'node:v8'
import { EXIT } from './commands/exit-codes.js'
import { runCommand, withCommand } from './run-command.js'
import type { Terminal } from './commands/terminal.js'

// Design 2: files created by commands, LevelDB and git are only for this account.
process.umask(0o077)
// Makes V8 collect garbage after the heap has grown by 30 %, instead of several times: large imports then need far less
// memory. V8 reads the flag at each collection.
setFlagsFromString('--heap-growing-percent=30')

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  waiting: (what) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${what ?? ''}`)),
  interactive: process.stderr.isTTY,
  isShown: process.stdout.isTTY,
  now: Date.now,
}

// A reader such as `head` may close the output early. The command continues, with the same exit code.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => void (code === 'EPIPE' || process.exit(EXIT.failed)))

// Timers that a command waits for do not keep the process alive. This one does, until the command is done.
const underWay = setInterval(() => undefined, 60_000)
process.exitCode = EXIT.failed
const argv = withCommand(process.argv.slice(2))
runCommand(argv, process.env, terminal)
  .then((code) => {
    process.exitCode = code
    // A failed start may leave threads and sockets behind.
    if (argv[0] === 'serve' && code !== EXIT.done) process.exit(code)
  })
  .catch((error: unknown) => {
    process.stderr.write(`triplegate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(EXIT.failed)
  })
  .finally(() => clearInterval(underWay))
