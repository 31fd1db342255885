// An entry of the log: the documents that one write changes, and everything that its decision has read, each with the
// position at which it was read. Positions count the entries of the log, from 1.

/** The name of something that was read, and the position of the log at that time. */
export type ReadAt = readonly [name: string, position: number]

/**
 * Identifies a text, stored outside the entry, by its digest. Whether the entry is valid does not depend on the text.
 */
export interface ContentName {
  /** The whole graph as canonical N-Triples; or the lines that change, as RDF Patch. */
  readonly form: 'graph' | 'patch'
  /** In UTF-16 units. */
  readonly length: number
  /** The digest of the text as UTF-8, in hexadecimal digits. */
  readonly sha256: string
}

export interface EntryPart {
  /** The URI of the document, or the name of a graph. */
  readonly document: string
  /** The position of the state from which the content was computed. */
  readonly basis: number
  /** Absent if the graph is removed. */
  readonly content?: ContentName
  /** The container, if the write creates or deletes the document in it. */
  readonly container?: string
  /** The commit that the content was taken from, when an earlier version was restored. */
  readonly restores?: string
}

export interface LogEntry {
  /** A ULID. An entry may be sent several times with the same id: at most one of them is valid. */
  readonly id: string
  /** `rules`: the write changes access rules. */
  readonly kind: 'write' | 'rules'
  readonly parts: readonly EntryPart[]
  /** Other graphs that the decision, or the WHERE clause of an update, has read. */
  readonly read: readonly ReadAt[]
  /** The position of the state, if the decision may have read every graph. */
  readonly readAll?: number
  /** Containers whose list of children the decision has read. */
  readonly children: readonly ReadAt[]
  /** The position of the rules under which the write was decided. */
  readonly rules: number
  /** PUT, POST, PATCH, DELETE; UPDATE for a SPARQL update, SWEEP for a change that was found behind the gateway. */
  readonly method: string
  /** The WebID; undefined for an anonymous client. */
  readonly agent?: string
  /** The time by the writer's clock, ms since the epoch. */
  readonly time: number
  /** The SHA-1s of the files that the entry needs. */
  readonly files: readonly string[]
}
