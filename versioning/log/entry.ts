// An entry of the log: the documents that one write changes, and all that its decision has read, each with the position
// of the state that was read. Positions count the entries of the log, from 1.

/** What was read, and the position of the state in which it was read. */
export type ReadAt = readonly [name: string, position: number]

/** A text that the log keeps beside the entry, by its digest: without it the entry is still known to be valid or void. */
export interface ContentName {
  /** The whole graph as canonical N-Triples; or the lines that change, as RDF Patch. */
  readonly form: 'graph' | 'patch'
  /** In UTF-16 units. */
  readonly length: number
  /** Of the text as UTF-8, in hexadecimal digits. */
  readonly sha256: string
}

export interface EntryPart {
  /** The URI of the document, or the name of a graph. */
  readonly document: string
  /** The position of the state from which the content was computed. */
  readonly basis: number
  /** Absent where the graph is removed. */
  readonly content?: ContentName
  /** The container that gains or loses the document by this. */
  readonly container?: string
  /** The commit that the content was taken from, when an earlier version was restored. */
  readonly restores?: string
}

export interface LogEntry {
  /** A ULID that is given once. The same entry may be sent several times: one of them at most is valid. */
  readonly id: string
  /** `rules`: the write changes what later decisions on access rest on. */
  readonly kind: 'write' | 'rules'
  readonly parts: readonly EntryPart[]
  /** Other graphs that the decision, or the WHERE of an update, has read. */
  readonly read: readonly ReadAt[]
  /** The position of the state where the decision may have read every graph. */
  readonly readAll?: number
  /** Containers whose emptiness or whose children the decision has read. */
  readonly children: readonly ReadAt[]
  /** The position of the rules under which the write was decided. */
  readonly rules: number
  /** PUT, POST, PATCH, DELETE; UPDATE for a SPARQL update, SWEEP for a change that was found behind the gateway. */
  readonly method: string
  /** The WebID; undefined for an anonymous client. */
  readonly agent?: string
  /** Ms since the epoch, by the writer's clock. */
  readonly time: number
  /** The SHA-1s of the files that the entry needs. */
  readonly files: readonly string[]
}
