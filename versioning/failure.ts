// Expected failures in versioning: one shape for all of them, and the setbacks of journal and repository.

/** An expected failure as a value: `failure` is its stable code, `detail` a sentence for people. */
export interface Failure<Code extends string = string> {
  readonly failure: Code
  readonly detail: string
}

export const isFailure = <T>(value: T): value is Extract<T, Failure> =>
  typeof value === 'object' && value !== null && 'failure' in value

/** The codes of setbacks. A closed list: journal/pauses.ts and journal/relay.ts have a rule for each. */
export type SetbackCode =
  | 'unreachable' // no connection, or a 5xx status; nothing was done
  | 'in-doubt' // the connection or the disk failed: the request may have been carried out
  | 'conflict' // the branch or the file has moved on meanwhile
  | 'limited' // retry at `retryAt`
  | 'denied' // the token is missing, refused or may not write; or a rule of the branch forbids the commit
  | 'missing' // no such repository or branch
  | 'unfit' // this change is refused, and always will be: it is too large, for example
  | 'full' // no room on the disk or in the journal
  | 'outdated' // what the write was decided on has changed since: it must be decided again
  | 'failed' // anything else

/**
 * Why the journal or the repository could not do something now. `detail` says what happened and what to do, without
 * secrets.
 */
export interface Setback extends Failure<SetbackCode> {
  /** ms since the epoch. */
  readonly retryAt?: number
}

/** A setback as an exception, for iterators and for functions that say so: they cannot return it. */
export class SetbackError extends Error {
  constructor(readonly setback: Setback) {
    super(setback.detail)
  }
}

/** The setback that an error carries. Any other error is a bug, and is thrown again. */
export function caughtSetback(error: unknown): Setback {
  if (error instanceof SetbackError) return error.setback
  throw error
}

/** Returns the value, or throws the setback. */
export function orThrow<T>(outcome: T | Setback): Exclude<T, Setback> {
  if (isFailure(outcome)) throw new SetbackError(outcome as Setback)
  return outcome as Exclude<T, Setback>
}
