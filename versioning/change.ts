// The two values of versioning: the change of one document, and the version that it became in Git.

/** One write to one document, as the journal holds it; it becomes one commit (spec 9.2). */
export interface VersionedChange {
  /**
   * A ULID, later than that of every change begun before. It orders the commits, and is the `Journal-Id` of the commit.
   */
  readonly id: string
  /** The document's URI. */
  readonly document: string
  /** The file in the repository, path prefix included (git/document-path.ts). */
  readonly path: string
  /** PUT, POST, PATCH, DELETE; UPDATE for a SPARQL update, SWEEP for a change that was found behind the gateway. */
  readonly method: string
  /** The WebID of the agent that wrote; undefined for an anonymous client. */
  readonly agent: string | undefined
  /** The time of the write, ms since the epoch. */
  readonly time: number
  /** The document afterwards: canonical N-Triples, lines sorted as bytes. Undefined when it is deleted. */
  readonly content: string | undefined
  /** Numbers of triples added and removed. */
  readonly added: number
  readonly removed: number
  /** The commit that the content was taken from, when an earlier version was restored. */
  readonly restores?: string
  /**
   * Set after a SPARQL update of this document, or of unknown documents (then `document` is the base): the content must
   * still be read from the store, which gives changes of their own. This one is never committed.
   */
  readonly unread?: 'document' | 'dataset'
  /** Set if the same write edits graphs of which the journal has no change: it cannot be carried out from the journal. */
  readonly isPart?: true
  /** The change's position in the log of the dataspace; absent if it is `unread` or an earlier release wrote it. */
  readonly position?: number
}

/** A document as at one commit. */
export interface Version {
  /** Counts the document's own versions, from 0. */
  readonly seq: number
  /** The commit's id, 40 hex digits. */
  readonly commit: string
  /** The place of the commit on the branch; 0 is the oldest that is known. */
  readonly position: number
  /** Git's id of the content; undefined when this commit deleted the document. */
  readonly blob: string | undefined
  /** When the change was made: ms since the epoch, in whole seconds; never earlier than the version before it. */
  readonly time: number
  readonly agent: string | undefined
  readonly method: string | undefined
  /** Undefined for commits that the gateway did not make: they carry no counts. */
  readonly added: number | undefined
  readonly removed: number | undefined
  readonly restores?: string
}
