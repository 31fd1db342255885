// The terminal of a command: its output and messages, and what may be printed safely.
import { printable } from '../log-lines.js'
import { exitCodeOf, type CommandFailure } from './exit-codes.js'

export { printable }

export interface Terminal {
  readonly out: (text: string | Buffer) => void
  readonly error: (text: string) => void
  /** Shows a person what the command waits for; clears it when undefined. */
  readonly waiting: (what: string | undefined) => void
  /** True if a person reads along. */
  readonly interactive: boolean
  /** True if the output itself goes to a terminal, not to a file or a log. */
  readonly isShown?: boolean
  readonly now: () => number
}

const DRAW_EVERY_MS = 100
const LINE_EVERY_MS = 5_000

/** Shows progress: in place for a person, otherwise as a line every five seconds. */
export function makeProgress({ interactive, now, waiting, error }: Terminal): (text: () => string) => void {
  let shown = interactive ? 0 : now()
  return (text) => {
    if (now() - shown < (interactive ? DRAW_EVERY_MS : LINE_EVERY_MS)) return
    shown = now()
    if (interactive) waiting(text())
    else error(`${text()}\n`)
  }
}

/** Prints the failure, prefixing each line with the program's name. Returns the exit code. */
export function fail({ error }: Pick<Terminal, 'error'>, failure: CommandFailure): number {
  for (const line of failure.detail.split('\n')) error(`triplegate: ${printable(line)}\n`)
  return exitCodeOf(failure)
}

/** A word of a command for a POSIX shell, quoted if necessary. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** A progress bar for people. */
const BAR = 30
export function barText(what: string, { documents, of }: { readonly documents: number; readonly of: number }): string {
  const share = of === 0 ? 1 : Math.min(1, documents / of)
  const done = Math.round(share * BAR)
  const bar = '#'.repeat(done).padEnd(BAR, '.')
  return `${what} [${bar}] ${Math.floor(share * 100)}% ${documents.toLocaleString('en')} of ${of.toLocaleString('en')}`
}
