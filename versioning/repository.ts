// The interface to a Git repository, with the operations that versioning needs. git/local-repository.ts is a bare
// repository on this disk; github/github-repository.ts uses GitHub's REST API.
import type { VersionedChange } from './change.js'
import type { Setback } from './failure.js'

export interface NewCommit extends VersionedChange {
  /** Git's id of the file's content before, as far as is known; undefined if there is no such file. */
  readonly previousBlob: string | undefined
}

/** The commit that a change has become. */
export interface Committed {
  readonly id: string
  readonly commit: string
  /** Undefined for the first commit of a branch. */
  readonly parent: string | undefined
  readonly blob: string | undefined
  /** When the change was made: ms since the epoch, whole seconds. */
  readonly time: number
}

/** A commit as read back from the branch. */
export interface LoggedCommit {
  readonly commit: string
  /** The parent; for a merge, the one that the branch pointed to before (git/main-line.ts). */
  readonly parent: string | undefined
  /** ms since the epoch, in whole seconds: the author's date if there is a Journal-Id, else the committer's. */
  readonly time: number
  readonly message: string
  readonly authorName: string
  /** The files of the whole repository that differ from the parent's; `blob` is undefined if the file was removed. */
  readonly files: readonly { readonly path: string; readonly blob: string | undefined }[]
}

/** The commit that a branch points to. */
export interface BranchHead {
  readonly commit: string
  readonly tree: string
  /** The committer's date, ms since the epoch. */
  readonly time: number
}

export interface TreeFile {
  readonly path: string
  readonly content: string
}

/** A file of a new commit; without content the file is removed. */
export interface NewFile {
  readonly path: string
  readonly content: string | undefined
}

/** The description of a commit of many files. */
export type FilesChange = Pick<VersionedChange, 'id' | 'method' | 'agent' | 'time'>

export interface Repository {
  /** For log lines and messages: never holds credentials. */
  readonly name: string
  /** The most changes that one call of `commit` takes. */
  readonly batch: number
  /**
   * Makes one commit for each change, in this order, on top of the branch, whatever others have committed there. The
   * returned commits are durably on the branch. After a setback, `done` has the commits that were made; the list may
   * also be shorter than the given one. A change whose Journal-Id is among the latest commits is not committed again.
   * @param presses commits at full speed, because a client or many changes wait; otherwise requests go first on a busy
   * machine
   */
  commit(
    changes: readonly NewCommit[],
    presses?: boolean,
  ): Promise<readonly Committed[] | (Setback & { done: readonly Committed[] })>
  /** One commit that writes and removes these files, with the description of `change`; other files stay. */
  commitFiles(files: AsyncIterable<NewFile>, change: FilesChange): Promise<LoggedCommit | undefined | Setback>
  /** The content of a file at a commit; undefined if the commit has no such file. */
  read(at: { commit: string; path: string; blob: string | undefined }): Promise<string | undefined | Setback>
  /**
   * The branch's commits after `from` (undefined: all), oldest first, along its main line. If `from` is not on that
   * line (any more), it gives all commits: then `from` is not the parent of the first. Throws SetbackError.
   */
  log(from: string | undefined): AsyncIterable<LoggedCommit>
  /** The files under the path prefix at the head, with Git's ids of their contents. Throws SetbackError. */
  files(): AsyncIterable<{ readonly path: string; readonly blob: string }>
  /** The same files with their contents, for filling a store. Throws SetbackError. */
  contents(): AsyncIterable<TreeFile>
  /**
   * Tells that the branch had this commit so many ms ago, for a repository that may show its commits late: an earlier
   * head then counts as late for a while, and not as a branch that was set back.
   */
  had?(commit: string, ago: number): void
  /** Undefined if commits can be made now. */
  ready(): Promise<undefined | Setback>
  close(): Promise<void>
}

/**
 * True if a commit that changes these files may be the commit of a change: anyone can write a message with its
 * Journal-Id. So may a commit without files, since the content may have been on the branch already.
 */
export const mayBeOf = (files: LoggedCommit['files'], path: string): boolean =>
  files.length === 0 || files.some((file) => file.path === path)
