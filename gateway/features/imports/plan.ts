// The plan of an import, as its thread and its record on disk use it, and the thread's reports.
import type { KnownContexts, MissingContexts } from '../../evaluation/known-contexts.js'
import type { ImportFinding } from './importing.js'
import type { TakeQuad } from '../../rdf/read-quads.js'
import type { Dialect } from './csvw-dialect.js'
import type { Metadata } from './csvw-metadata.js'
import type { LiteralForms } from '../../rdf/literal-forms.js'
import type { ConstructPlan } from '../../sparql/language/construct-plan.js'
import type { Problem } from '../../problem.js'

/** The most findings that are reported. */
export const MOST_FINDINGS = 100

export type { ImportFinding } from './importing.js'

/** Columns become properties by a query, or directly: one item for each row. */
export type Mapping = { readonly construct: ConstructPlan } | { readonly plain: true }

export interface ImportPlan {
  /** The source on disk, perhaps compressed. */
  readonly path: string
  /** Its bytes on disk. */
  readonly size: number
  /** SHA-256 of the source, in hexadecimal: the import derives names from it. */
  readonly digest: string
  readonly kind: 'csv' | 'rdf'
  readonly mediaType: string
  /** The IRI of the source, the base of relative IRIs, columns and rows. */
  readonly base: string
  /** The dialect of CSV; a missing delimiter is guessed. */
  readonly dialect: Dialect
  readonly encoding: string
  readonly mapping: Mapping | undefined
  /** For a CSV without a query. */
  readonly metadata?: Metadata
  /** The document for triples without a graph. */
  readonly name: string | undefined
  /** The container in which documents are created for them. */
  readonly into: string | undefined
  /** The namespace for properties of the plain mapping. */
  readonly namespace: string
  /** The file in which the thread stores its output; its progress is in another file next to it. */
  readonly spool: string
  /** The most bytes of the decompressed source. */
  readonly maxBytes: number
  /** Only for a preview: datatypes of columns are guessed from the first rows. */
  readonly isPreview?: boolean
}

/** A source that is read step by step in the thread of its import. */
export interface OpenSource {
  /** Reads more, up to this many rows, or says which contexts it lacks. */
  step(
    take: TakeQuad,
    report: (finding: ImportFinding) => void,
    rows: number,
    contexts?: KnownContexts,
  ): Promise<undefined | MissingContexts>
  rows(): number
  bytes(): number
  done(): boolean
}

export interface ReadProgress {
  readonly rows: number
  /** Bytes read from the source on disk. */
  readonly bytes: number
  readonly documents: number
  /** New findings: their number, and the first ones. */
  readonly found: number
  readonly findings: readonly ImportFinding[]
  readonly done: boolean
}

/** A document to write: its canonical N-Triples, with a checksum if they are long; or why it is refused. */
export type Made = { readonly document: string; readonly level: number } & (
  { readonly nTriples: string; readonly sum?: string } | { readonly refused: string }
)

/** The secret for entity-tags (cache/entity-tag.ts), and the forms in which the store keeps literals. */
export interface ImportTarget {
  readonly tagKey: string
  readonly forms: LiteralForms
}

export type ImportJob =
  | { readonly kind: 'open'; readonly plan: ImportPlan }
  | ({ readonly kind: 'read'; readonly contexts?: KnownContexts } & ReadStep)
  /** The documents from number `from` on, parents before their children. The thread does not remember `toStore`. */
  | { readonly kind: 'documents'; readonly from: number; readonly most: number; readonly toStore: ImportTarget }
  /** The whole output, as N-Quads. */
  | { readonly kind: 'quads' }

/** Read more, for some rows or some time in ms. */
export interface ReadStep {
  readonly rows: number
  readonly time: number
}

export type ImportReply = ReadProgress | MissingContexts | readonly Made[] | { readonly quads: string } | Problem
