// In charge of the history of one application's documents as the gateway sees it: journal, commits, versions.
import type { Change, Setback, Version } from './change.js'

/** Lines for operators. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>>

export type NewChange = Omit<Change, 'id' | 'path' | 'added' | 'removed'> & {
  /** The document before: canonical N-Triples; undefined when it did not exist. */
  readonly before: string | undefined
}

/** A change in the journal whose fate at the store is not known yet. */
export type OpenEntry = Change

export interface HistoryStatus {
  readonly repository: string
  /** Entries not committed yet, and how many of them are in doubt. */
  readonly depth: number
  readonly inDoubt: number
  /** When the oldest of them was made, ms since the epoch. */
  readonly oldest: number | undefined
  readonly bytes: number
  readonly lastError: string | undefined
  /** Why commits wait for somebody to do something, if they do. */
  readonly parked: string | undefined
  /** Documents whose own changes cannot be committed. */
  readonly blocked: readonly { readonly document: string; readonly reason: string }[]
  readonly commits: number
}

export interface History {
  /**
   * Resolves when all of the changes are durably in the journal; a Setback: none is, and the store must not be changed: there is
   * no room, or one could never be committed (`unfit`). To be called under the documents' locks, when none of them has an open entry.
   */
  begin(changes: readonly NewChange[]): Promise<readonly OpenEntry[] | Setback>
  /** The store has done these: they will be committed. Durable before any later change is; see `durableDone`. */
  done(entries: readonly OpenEntry[]): Promise<void>
  /** The store has not done these, and will not: they are dropped, durably. */
  undone(entries: readonly OpenEntry[]): Promise<void>
  /**
   * Entries whose fate is not known: of this document, or all, in order. Those of writes that are under way are among them:
   * settle an entry under its document's lock only.
   */
  open(document?: string): readonly OpenEntry[]
  /** The documents of which something is in the journal: the head of the branch does not tell their last state. */
  journalled(): readonly string[]
  /**
   * Of each document the last change that is done, unless it is committed: for filling a store in memory. To be read to the
   * end before `Repository.contents`, and laid over it: what is committed meanwhile is in there. Throws SetbackError.
   */
  uncommitted(): AsyncIterable<Change>
  /**
   * The document as its last change that is done has left it, committed or not: canonical N-Triples; undefined when it does
   * not exist. Waits up to `patience` ms where it is not known yet what is on the branch.
   */
  latest(document: string, patience: number): Promise<string | undefined | Setback>
  /** Whether `latest` is this text; undefined where it is not known what is on the branch. Waits for nothing. */
  isLatest(document: string, nTriples: string | undefined): Promise<boolean | undefined>
  /**
   * The document's versions, oldest first, deletions included. Waits up to `patience` ms for its pending commits; `pending`
   * says whether some are still missing.
   */
  versions(document: string, patience: number): Promise<{ versions: readonly Version[]; pending: boolean } | Setback>
  /**
   * The version that a commit id, or 4 and more hex digits of one, stands for: an own version of the document; or, for the
   * full id of another commit of the branch, the newest version at or before it. Undefined: none; 'ambiguous': several.
   */
  resolve(document: string, commit: string, patience: number): Promise<Version | undefined | 'ambiguous' | Setback>
  /** Canonical N-Triples of a version; undefined when the document did not exist then. */
  content(document: string, version: Version): Promise<string | undefined | Setback>
  /** The branch has been committed to by others, or by `commitFiles`: reads what is new there. */
  refresh(): void
  status(): HistoryStatus
  /** Whether nothing that is done is left uncommitted, after `patience` ms at most. */
  settled(patience: number): Promise<boolean>
  /** Ends within seconds; what is not committed stays in the journal. The repository is left open. */
  close(): Promise<void>
}
