// The interface to the history of one application's documents: the journal, the commits and the versions.
import type { VersionedChange, Version } from './change.js'
import type { Setback } from './failure.js'
import type { LogEntry } from './log/entry.js'
import type { Resumed } from './starts.js'

/** Writes lines for operators. */
export type OperatorLog = Readonly<Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>>

export type NewChange = Omit<VersionedChange, 'id' | 'path' | 'added' | 'removed' | 'position'> & {
  /** The document before: canonical N-Triples; undefined when it did not exist. */
  readonly before: string | undefined
}

/**
 * What a write was decided on, as positions of the log: it is `outdated` where any of it has changed since. What is left
 * out has not changed: it was read under a lock that is still held.
 */
export interface WriteBasis extends Partial<Pick<LogEntry, 'read' | 'readAll' | 'children' | 'rules' | 'files'>> {
  /** Of the states of the documents from which their new states were computed. */
  readonly asOf?: number
}

/** A change in the journal of which it is not known yet if the store has done it. */
export type OpenEntry = VersionedChange

export interface HistoryStatus {
  readonly repository: string
  /** Entries not committed yet, and how many of them are in doubt. */
  readonly depth: number
  readonly inDoubt: number
  /** The time of the oldest of them, ms since the epoch. */
  readonly oldest: number | undefined
  readonly bytes: number
  readonly lastError: string | undefined
  /** Why commits wait for an operator, if they do. */
  readonly parked: string | undefined
  /** Documents whose own changes cannot be committed. */
  readonly blocked: readonly { readonly document: string; readonly reason: string }[]
  readonly commits: number
}

/** The versions of a document by their numbers (`seq`), as far as can be said without reading them. */
export interface Outline {
  readonly count: number
  /** The numbers of the versions that deleted the document: the last MOST_DELETIONS, oldest first. */
  readonly deletions: readonly number[]
  /** True where commits of the document are still missing. */
  readonly pending: boolean
}

export const MOST_DELETIONS = 21

/** The log that the changes are in. */
export interface HistoryLog {
  /** Names the log of these documents in a store: an IRI that no other folder has. */
  readonly iri: string
  /** Of the last entry of these documents. */
  position(): number
  /** Of the last entry of the dataspace: what is read now is a state of this position. */
  newest(): number
  /** All entries of these documents up to here are settled, or `isCounted`. */
  settledPosition(isCounted?: (position: number) => boolean): number
  /** The position at which the store was first given one, as far as this is known: from then on it has to have one. */
  keptSince(): number | undefined
  keepSince(position: number): Promise<undefined | Setback>
  /** Positions continue after this one, which the store has and the log has not. */
  continueAfter(position: number): Promise<undefined | Setback>
  /** The graphs that entries after a position change; undefined where these are no longer known. */
  changedSince(position: number): Promise<ReadonlySet<string> | undefined | Setback>
}

export interface History {
  /** Work on this history, at the start too, that a process may not survive. */
  readonly resumed: Resumed
  /**
   * Resolves when all of the changes are durably in the journal. A Setback: none of them is, and the store must not be
   * changed; there is no room, or one could never be committed (`unfit`). Call it under the documents' locks, when none
   * of them has an open entry.
   */
  begin(changes: readonly NewChange[], decided?: WriteBasis): Promise<readonly OpenEntry[] | Setback>
  /** The store has these: they will be committed. After a crash the last ones may be open again. */
  done(entries: readonly OpenEntry[]): void
  /** The store has not done these, and will not: they are dropped, durably. */
  undone(entries: readonly OpenEntry[]): Promise<void>
  /**
   * Entries in doubt: those of this document, or all, in order. Writes that are under way are among them: settle an
   * entry under its document's lock only.
   */
  open(document?: string): readonly OpenEntry[]
  readonly log: HistoryLog
  /** Documents with any change in the journal: the head of the branch does not have their last state. */
  journalled(): readonly string[]
  isJournalled(document: string): boolean
  /**
   * The last change of each document that is done and not committed: for filling a store in memory. Read it to the end
   * before `Repository.contents`, and apply it on top of those: they have what is committed meanwhile. Throws
   * SetbackError.
   */
  uncommitted(): AsyncIterable<VersionedChange>
  /**
   * The document after its last change that is done, committed or not: canonical N-Triples; undefined when it does not
   * exist. Waits up to `patience` ms while the branch has not been read.
   */
  latest(document: string, patience: number): Promise<string | undefined | Setback>
  /**
   * True where `latest` is this text; undefined while the branch has not been read. Waits for that for a few seconds at
   * most.
   */
  isLatest(document: string, nTriples: string | undefined): Promise<boolean | undefined>
  /**
   * The number of the document's versions, and its last deletions. Waits up to `patience` ms for its pending commits.
   */
  outline(document: string, patience: number): Promise<Outline | Setback>
  /** The versions with these numbers; without those that do not exist. */
  numbered(document: string, numbers: readonly number[]): Promise<readonly Version[] | Setback>
  /**
   * The part that is remembered (`excerptOf`) of the content that a deleted document had last: without reading that
   * content, where the gateway deleted it. Undefined: it never had any. Waits and `pending` as in `outline`.
   */
  lastExcerpt(
    document: string,
    patience: number,
  ): Promise<{ readonly excerpt: string | undefined; readonly pending: boolean } | Setback>
  /**
   * The version that a commit id names, or the first 4 or more of its hex digits: an own version of the document; or,
   * for the full id of another commit of the branch, the newest version at or before it. Undefined: none; 'ambiguous':
   * several.
   * @param counts only versions for which it is true are looked at
   */
  resolve(
    document: string,
    commit: string,
    patience: number,
    counts?: (version: Version) => boolean,
  ): Promise<Version | undefined | 'ambiguous' | Setback>
  /** Canonical N-Triples of a version; undefined when the document did not exist then. */
  content(document: string, version: Version): Promise<string | undefined | Setback>
  /** Reads the new commits on the branch: call it after others, or `commitFiles`, have committed. */
  refresh(): void
  status(): HistoryStatus
  /** True where all that is done is committed, after `patience` ms at most. */
  settled(patience: number): Promise<boolean>
  /** Takes a few seconds at most; uncommitted changes stay in the journal. The repository is left open. */
  close(): Promise<void>
}
