// What an import is to do, as its thread and its record on disk have it, and what the thread says of it.
import type { ImportFinding } from './importing.js'
import type { TakeQuad } from '../../rdf/read-quads.js'
import type { Dialect } from './csvw-dialect.js'
import type { Metadata } from './csvw-metadata.js'
import type { LiteralForms } from '../../rdf/literal-forms.js'
import type { ConstructPlan } from '../../sparql/language/construct-plan.js'
import type { Problem } from '../../problem.js'

/** That are said. */
export const MOST_FINDINGS = 100

export type { ImportFinding } from './importing.js'

/** Columns become properties by a query, or by themselves: one item for each row. */
export type Mapping = { readonly construct: ConstructPlan } | { readonly plain: true }

export interface ImportPlan {
  /** The source on disk, perhaps packed. */
  readonly path: string
  /** Bytes on disk. */
  readonly size: number
  /** SHA-256 of the source, in hexadecimal: names that the import makes follow from it. */
  readonly digest: string
  readonly kind: 'csv' | 'rdf'
  readonly mediaType: string
  /** The IRI of the source: relative IRIs, columns and rows are below it. */
  readonly base: string
  /** Of CSV; without a delimiter, that is guessed. */
  readonly dialect: Dialect
  readonly encoding: string
  readonly mapping: Mapping | undefined
  /** Of a CSV without a query. */
  readonly metadata?: Metadata
  /** The document that gets triples without a graph. */
  readonly name: string | undefined
  /** The container in which documents are made for them. */
  readonly into: string | undefined
  /** Of properties of the plain mapping. */
  readonly namespace: string
  /** Where the thread keeps what it has made: a file, with its progress beside it. */
  readonly spool: string
  /** The most bytes of the source when it is unpacked. */
  readonly maxBytes: number
  /** Rows of a preview: the datatypes of columns are guessed from the first ones. */
  readonly isPreview?: boolean
}

/** A source that is read step by step, in the thread of its import. */
export interface OpenSource {
  /** Reads on, at most so many rows. */
  step(take: TakeQuad, report: (finding: ImportFinding) => void, rows: number): Promise<void>
  rows(): number
  bytes(): number
  done(): boolean
}

export interface ReadProgress {
  readonly rows: number
  /** Bytes read of the source, as it is on disk. */
  readonly bytes: number
  readonly documents: number
  /** New ones: so many, and the first of them. */
  readonly found: number
  readonly findings: readonly ImportFinding[]
  readonly done: boolean
}

/** A document to write: its canonical N-Triples, with their sum where they are many; or why there is none. */
export type Made = { readonly document: string; readonly level: number } & (
  { readonly nTriples: string; readonly sum?: string } | { readonly refused: string }
)

/** The secret of the entity-tags (cache/entity-tag.ts), and how the store keeps literals. */
export interface ImportTarget {
  readonly tagKey: string
  readonly forms: LiteralForms
}

export type ImportJob =
  | { readonly kind: 'open'; readonly plan: ImportPlan }
  /** Reads on, for some rows or some time in ms. */
  | { readonly kind: 'read'; readonly rows: number; readonly time: number }
  /** The documents from this one on, parents before their children. `toStore` is not kept. */
  | { readonly kind: 'documents'; readonly from: number; readonly most: number; readonly toStore: ImportTarget }
  /** All that was made, as N-Quads. */
  | { readonly kind: 'quads' }

export type ImportReply = ReadProgress | readonly Made[] | { readonly quads: string } | Problem
