// The interface to the history of one application's documents: the journal, the commits and the versions.
import type { VersionedChange, Version } from './change.js'
import type { Setback } from './failure.js'
import type { EntryPart, LogEntry } from './log/entry.js'
import type { Repository } from './repository.js'
import type { Resumed } from './starts.js'

/** Writes lines for operators. */
export type OperatorLog = Readonly<Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>>

export type NewChange = Omit<VersionedChange, 'id' | 'path' | 'added' | 'removed' | 'position'> & {
  /** The document before the change: canonical N-Triples; undefined if it did not exist. */
  readonly before: string | undefined
  /** The container, if the write creates or deletes the document in it. */
  readonly container?: string
}

/**
 * Everything that the decision on a write has read, with the positions of the log at which it was read. The write is
 * `outdated` if any of it has changed since. Things read under a lock that is still held may be left out.
 */
export interface WriteBasis extends Partial<Pick<LogEntry, 'read' | 'readAll' | 'children' | 'rules' | 'files'>> {
  /** The position of the state from which the new contents of the documents were computed. */
  readonly asOf?: number
}

/** A change in the journal that is open: it is not known yet whether the store has done it. */
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

/** The versions of a document by their numbers (`seq`): all that is known without reading them. */
export interface Outline {
  readonly count: number
  /** The numbers of the versions that deleted the document: the last MOST_DELETIONS, oldest first. */
  readonly deletions: readonly number[]
  /** True if the document has changes that are not committed yet. */
  readonly pending: boolean
}

export const MOST_DELETIONS = 21

/** The log that contains the changes. */
export interface HistoryLog {
  /** The name of these documents' log in a store: an IRI that no other folder of a history has. */
  readonly iri: string
  /** The position of the last entry of these documents. */
  position(): number
  /** The position of the last entry of the dataspace: a state that is read now has this position. */
  newest(): number
  /** The last position up to which every entry of these documents is settled or `isCounted`. */
  settledPosition(isCounted?: (position: number) => boolean): number
  /** The position when a position was first written into the store, if known: since then the store must have one. */
  keptSince(): number | undefined
  keepSince(position: number): Promise<undefined | Setback>
  /** Continues after this position, which the store has and the log lacks. */
  continueAfter(position: number): Promise<undefined | Setback>
  /** Undefined if the entries after the position are no longer known. */
  changedSince(position: number): Promise<ChangedSince | undefined | Setback>
  /**
   * The changes of these documents by the entries after the position, oldest first; also those that the store has
   * refused. Undefined if the entries are no longer known.
   */
  changesSince(position: number, documents: ReadonlySet<string>): Promise<readonly LoggedChange[] | undefined | Setback>
}

/** A change of a document as an entry of the log has it. `content` is absent if the document is removed. */
export interface LoggedChange extends Pick<EntryPart, 'document' | 'content'>, Pick<LogEntry, 'method'> {
  readonly position: number
  /** Undefined for an anonymous client. */
  readonly agent: string | undefined
}

export interface ChangedSince {
  /** The graphs that the entries after a position change. */
  readonly graphs: ReadonlySet<string>
  /** The digest of all entries up to that position (LogState): no other log has it. Undefined if there are none. */
  readonly chain: string | undefined
}

export interface History {
  readonly repository: Repository
  /** Counts the starts of work on this history that may end the process. */
  readonly resumed: Resumed
  /**
   * Resolves when all of the changes are durably in the journal. After a Setback none of them is, and the store must
   * not be changed: there is no room, or a change could never be committed (`unfit`). If it is `in-doubt`, all of them
   * may be open entries after a crash. Call it under the documents' locks, when none of them has an open entry.
   */
  begin(changes: readonly NewChange[], decided?: WriteBasis): Promise<readonly OpenEntry[] | Setback>
  /** Call it when the store has done these: they will be committed. After a crash the last ones may be open again. */
  done(entries: readonly OpenEntry[]): void
  /**
   * Drops these durably: the store has not done them, and will not. After a Setback they may be open again after a
   * crash, and then the store gets them.
   */
  undone(entries: readonly OpenEntry[]): Promise<undefined | Setback>
  /**
   * The entries in doubt, in order: those of this document, or all. Running writes are among them, so settle an entry
   * only under its document's lock.
   */
  open(document?: string): readonly OpenEntry[]
  readonly log: HistoryLog
  /** Documents with a change in the journal: the head of the branch does not have their last state. */
  journalled(): readonly string[]
  isJournalled(document: string): boolean
  /**
   * The last change of each document that is done and not committed, for filling a store in memory. Read all of them
   * before `Repository.contents`, which then includes the commits made meanwhile, and apply them on top of it. Throws
   * SetbackError.
   */
  uncommitted(): AsyncIterable<VersionedChange>
  /**
   * The document after its last change that is done, committed or not: canonical N-Triples; undefined if it does not
   * exist. Waits up to `patience` ms for the branch to be read.
   */
  latest(document: string, patience: number): Promise<string | undefined | Setback>
  /**
   * True if `latest` is this text. Waits a few seconds at most for the branch to be read; undefined if it still is not.
   */
  isLatest(document: string, nTriples: string | undefined): Promise<boolean | undefined>
  /**
   * The number of the document's versions, and its last deletions. Waits up to `patience` ms for pending commits of it.
   */
  outline(document: string, patience: number): Promise<Outline | Setback>
  /** The versions with these numbers, as far as they exist. */
  numbered(document: string, numbers: readonly number[]): Promise<readonly Version[] | Setback>
  /**
   * An excerpt (`excerptOf`) of a deleted document's last content. It was stored when the gateway deleted the document;
   * after other deletions the content is read. Undefined if it never had any. Waits, and gives `pending`, like
   * `outline`.
   */
  lastExcerpt(
    document: string,
    patience: number,
  ): Promise<{ readonly excerpt: string | undefined; readonly pending: boolean } | Setback>
  /**
   * The version of the document that a commit made, by the commit's id or its first 4 or more hex digits. The full id
   * of any other commit of the branch gives the newest version at or before it. Undefined: none; 'ambiguous': several.
   * @param counts only versions for which it is true are considered
   */
  resolve(
    document: string,
    commit: string,
    patience: number,
    counts?: (version: Version) => boolean,
  ): Promise<Version | undefined | 'ambiguous' | Setback>
  /** A version's content as canonical N-Triples; undefined if the document did not exist then. */
  content(document: string, version: Version): Promise<string | undefined | Setback>
  /** Reads new commits of the branch: call it when others, or `commitFiles`, have committed. */
  refresh(): void
  status(): HistoryStatus
  /** Waits up to `patience` ms: true if all done changes are committed. */
  settled(patience: number): Promise<boolean>
  /** Takes a few seconds at most; uncommitted changes stay in the journal. The repository is left open. */
  close(): Promise<void>
}
