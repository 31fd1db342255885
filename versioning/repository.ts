// In charge of the interface to a Git repository: what versioning asks of one, whatever is behind it.
// local-repository.ts is a bare repository on this disk; github-repository.ts speaks GitHub's REST API.
import type { Change, Setback } from './change.js'

export interface NewCommit extends Change {
  /** Git's id of the file before, as far as is known; undefined when there is no such file. */
  readonly previousBlob: string | undefined
}

/** What a change has become. */
export interface Committed {
  readonly id: string
  readonly commit: string
  /** Undefined for the first commit of a branch. */
  readonly parent: string | undefined
  readonly blob: string | undefined
  /** ms since the epoch, whole seconds. */
  readonly time: number
}

/** A commit as read back from the branch. */
export interface LoggedCommit {
  readonly commit: string
  /** Of a merge the one that the branch stood at before (main-line.ts). */
  readonly parent: string | undefined
  /** ms since the epoch, whole seconds: the committer's date. */
  readonly time: number
  readonly message: string
  readonly authorName: string
  /** Files that it changed of what its parent has, of the whole repository; `blob` undefined: removed. */
  readonly files: readonly { readonly path: string; readonly blob: string | undefined }[]
}

export interface TreeFile {
  readonly path: string
  readonly content: string
}

export interface Repository {
  /** For log lines and messages: never holds credentials. */
  readonly name: string
  /** How many changes one call of `commit` takes at most. */
  readonly batch: number
  /**
   * One commit for each change, in this order, on top of the branch, whoever else has committed there. Those returned are
   * on the branch, durably; a shorter list than was given, or `done` beside a setback, says how far it got. What is among
   * the latest commits already, by its Journal-Id, is not committed again.
   * @param presses somebody waits, or much does; else requests go first where the machine has no time for both
   */
  commit(
    changes: readonly NewCommit[],
    presses?: boolean,
  ): Promise<readonly Committed[] | (Setback & { done: readonly Committed[] })>
  /** One commit that makes these files what is given (undefined: removed), as `change` describes it; others stay. */
  commitFiles(
    files: AsyncIterable<{ readonly path: string; readonly content: string | undefined }>,
    change: Pick<Change, 'id' | 'method' | 'agent' | 'time'>,
  ): Promise<LoggedCommit | undefined | Setback>
  /** The content of a file as at a commit; undefined when it is not there. */
  read(at: { commit: string; path: string; blob: string | undefined }): Promise<string | undefined | Setback>
  /**
   * The branch's commits that come after `from` (undefined: all), oldest first, along its main line. All too where `from` is
   * not on that line (any more): then `from` is not the parent of the first. Throws SetbackError.
   */
  log(from: string | undefined): AsyncIterable<LoggedCommit>
  /** The files under the path prefix at the head, with Git's ids. Throws SetbackError. */
  files(): AsyncIterable<{ readonly path: string; readonly blob: string }>
  /** Their contents too: for filling a store. Throws SetbackError. */
  contents(): AsyncIterable<TreeFile>
  /** Undefined when commits can be made now. */
  ready(): Promise<undefined | Setback>
  close(): Promise<void>
}

/**
 * Whether a commit that has a change's Journal-Id, and these files, may be what the change has become: anybody can write
 * such a message. One that changes nothing may: what was written was there already.
 */
export const mayBeOf = (files: LoggedCommit['files'], path: string): boolean =>
  files.length === 0 || files.some((file) => file.path === path)

export class SetbackError extends Error {
  constructor(readonly setback: Setback) {
    super(setback.detail)
  }
}
