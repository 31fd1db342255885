// The exit codes of all commands, and the failures that lead to them.
import type { Failure } from '../problem.js'

export const EXIT = {
  done: 0,
  different: 1,
  findings: 1,
  usage: 2,
  failed: 3,
  absent: 4,
  refused: 5,
  changed: 6,
} as const

export type Exit = keyof typeof EXIT

const MEANINGS: Readonly<Record<Exit, string>> = {
  done: 'done',
  different: 'store and repository differ',
  findings: 'there are findings',
  usage: 'wrong arguments, settings or configuration',
  failed: 'failed',
  absent: 'no such document or version',
  refused: 'refused (certificate, rights)',
  changed: 'the document has changed',
}

/** The line about exit codes in a page of help. */
export const exitCodesText = (exits: readonly Exit[]): string =>
  `Exit codes: ${exits.map((exit) => `${EXIT[exit]} ${MEANINGS[exit]}`).join('; ')}.`

/** The exit of each failure of a command. */
const EXIT_OF = {
  'arguments.wrong': 'usage',
  'settings.wrong': 'usage',
  'configuration.wrong': 'usage',
  'start.failed': 'failed',
  'gateway.unreachable': 'failed',
  'gateway.failed': 'failed',
  'undo.failed': 'failed',
  'mirror.failed': 'failed',
  'backup.failed': 'failed',
  'document.absent': 'absent',
  'access.refused': 'refused',
  'document.changed': 'changed',
} as const satisfies Record<string, Exit>

/** An expected failure of a command; `detail` has a line for each mistake. */
export type CommandFailure = Failure<keyof typeof EXIT_OF>

export const exitCodeOf = ({ failure }: CommandFailure): number => EXIT[EXIT_OF[failure]]
