// The interface to a Git repository: the operations that versioning needs of one. git/local-repository.ts
// is a bare repository on this disk; github/github-repository.ts uses GitHub's REST API.
import type { VersionedChange } from './change.js'
import type { Setback } from './failure.js'

export interface NewCommit extends VersionedChange {
  /** Git's id of the file before, as far as is known; undefined when there is no such file. */
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
  /** Of a merge: the parent that the branch pointed to before (git/main-line.ts). */
  readonly parent: string | undefined
  /** ms since the epoch, whole seconds: the author's date of a commit with a Journal-Id, else the committer's. */
  readonly time: number
  readonly message: string
  readonly authorName: string
  /** Files of the whole repository that differ from the parent's; `blob` undefined: removed. */
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

/** A file of a commit to be made; without content it is removed. */
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
   * Makes one commit for each change, in this order, on top of the branch, whatever others have committed there. Those
   * returned are on the branch, durably; a list shorter than the given one, or `done` beside a setback, tells how many
   * were made. A change whose Journal-Id is among the latest commits is not committed again.
   * @param presses commits at full speed, because a client waits or many changes do; otherwise requests go first where
   * the machine has no time for both
   */
  commit(
    changes: readonly NewCommit[],
    presses?: boolean,
  ): Promise<readonly Committed[] | (Setback & { done: readonly Committed[] })>
  /** One commit that writes and removes these files, with the description of `change`; other files stay. */
  commitFiles(files: AsyncIterable<NewFile>, change: FilesChange): Promise<LoggedCommit | undefined | Setback>
  /** The content of a file as at a commit; undefined when the commit has no such file. */
  read(at: { commit: string; path: string; blob: string | undefined }): Promise<string | undefined | Setback>
  /**
   * The branch's commits after `from` (undefined: all), oldest first, along its main line. All of them too where `from`
   * is not, or no longer, on that line: then `from` is not the parent of the first. Throws SetbackError.
   */
  log(from: string | undefined): AsyncIterable<LoggedCommit>
  /** The files under the path prefix at the head, with Git's ids. Throws SetbackError. */
  files(): AsyncIterable<{ readonly path: string; readonly blob: string }>
  /** The same files with their contents, for filling a store. Throws SetbackError. */
  contents(): AsyncIterable<TreeFile>
  /** Undefined when commits can be made now. */
  ready(): Promise<undefined | Setback>
  close(): Promise<void>
}

/**
 * True where a commit with a change's Journal-Id that touches these files may be the commit of that change: anyone can
 * write such a message. A commit that touches no file may be: the content was on the branch already.
 */
export const mayBeOf = (files: LoggedCommit['files'], path: string): boolean =>
  files.length === 0 || files.some((file) => file.path === path)
