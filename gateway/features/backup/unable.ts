// The reason why a backup or a restore failed. It is thrown, since most of their work is in streams, which return no
// values.
import { SetbackError } from '../../../versioning/failure.js'
import type { CommandFailure } from '../../commands/exit-codes.js'
import { StartFailure } from '../../configuration/start-failure.js'
import { isFailure, type Failure } from '../../problem.js'
import { StoreBreak } from '../../stores/store.js'

export class Unable extends Error {}

/** The value; a failure is thrown. @param what is named before the failure's detail */
export function orUnable<T>(value: T, what: string): Exclude<T, Failure> {
  if (isValue(value)) return value
  throw new Unable(`${what}: ${isFailure(value) ? value.detail : ''}`)
}

const isValue = <T>(value: T): value is Exclude<T, Failure> => !isFailure(value)

/** The failure for people. Any other error is a bug, and is thrown again. */
export function failureOf(error: unknown): CommandFailure {
  if (error instanceof StartFailure) return { failure: error.failure, detail: error.message }
  const detail = detailOf(error)
  if (detail === undefined) throw error
  return { failure: 'backup.failed', detail }
}

function detailOf(error: unknown): string | undefined {
  if (error instanceof Unable) return error.message
  if (error instanceof StoreBreak) return error.problem.detail
  if (error instanceof SetbackError) return error.setback.detail
  const { code, path, syscall } = systemErrorOf(error) ?? {}
  if (code === undefined) return undefined
  return `${path ?? 'a file'}: cannot be used (${syscall}: ${code}). ${FIXES[code] ?? 'Correct its permissions.'}`
}

/** Undefined if the error does not come from the operating system. */
export function systemErrorOf(error: unknown): NodeJS.ErrnoException | undefined {
  const found: NodeJS.ErrnoException | undefined = error instanceof Error ? error : undefined
  return found?.syscall === undefined ? undefined : found
}

const FIXES: Readonly<Record<string, string>> = {
  ENOENT: 'Correct its name.',
  ENOSPC: 'Make room on its disk.',
  EEXIST: 'Give another name.',
}
