// In charge of what versioning is told and tells: a change of one document, and the version that it became in Git.

/** One write to one document, as it goes into the journal and becomes one commit (spec 9.2). */
export interface Change {
  /** A ULID, later for each change that was begun later: the order of commits, and the `Journal-Id` of the commit. */
  readonly id: string
  /** The document's URI. */
  readonly document: string
  /** The file in the repository, path prefix included (document-path.ts). */
  readonly path: string
  /** PUT, POST, PATCH, DELETE; UPDATE for a SPARQL update, SWEEP for a change that was found behind the gateway. */
  readonly method: string
  /** The WebID of whoever wrote; undefined when nobody was identified. */
  readonly agent: string | undefined
  /** When it was made, ms since the epoch. */
  readonly time: number
  /** The document afterwards: canonical N-Triples, lines sorted as bytes. Undefined when it is deleted. */
  readonly content: string | undefined
  /** Triples added and removed. */
  readonly added: number
  readonly removed: number
  /** The commit that the content was taken from, when an earlier version was restored. */
  readonly restores?: string
  /**
   * What came of it has to be read from the store, and is journalled then as a change of its own: a SPARQL update of this
   * document, or of any there may be (`document` is the base then). Never committed itself.
   */
  readonly unread?: 'document' | 'dataset'
}

/** A document as at one commit. */
export interface Version {
  /** Counts the document's own versions, from 0. */
  readonly seq: number
  /** Commit id, 40 hex digits. */
  readonly commit: string
  /** Where the commit stands on the branch, from 0 for the oldest that is known. */
  readonly position: number
  /** Git's id of the content; undefined when this commit deleted the document. */
  readonly blob: string | undefined
  /** Of the commit, ms since the epoch, whole seconds, never before that of an earlier version. */
  readonly time: number
  readonly agent: string | undefined
  readonly method: string | undefined
  /** Undefined where nobody counted: commits that the gateway did not make. */
  readonly added: number | undefined
  readonly removed: number | undefined
  readonly restores?: string
}

/** Why something could not be done now. Closed: each has its rule in relay.ts. */
export interface Setback {
  readonly setback:
    | 'unreachable' // nobody there, or 5xx, and nothing was done
    | 'in-doubt' // it may have been done: broken off, or no answer
    | 'conflict' // the branch or the file has moved on meanwhile
    | 'limited' // to be tried again at `retryAt`
    | 'denied' // the token is missing, refused, or may not write; or a rule of the branch is in the way
    | 'missing' // no such repository or branch
    | 'unfit' // this very change is refused, and always will be: too large, say
    | 'full' // no room: on disk, or in the journal
    | 'failed' // anything else
  /** What is wrong and the mend, for people. No secrets. */
  readonly detail: string
  /** ms since the epoch. */
  readonly retryAt?: number
}

export const isSetback = (value: unknown): value is Setback =>
  typeof value === 'object' && value !== null && 'setback' in value
