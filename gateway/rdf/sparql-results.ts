// SPARQL results as a value: solutions or a boolean, and the media types of their formats.
import type { Term } from './graph.js'

export type ResultRow = ReadonlyMap<string, Term>
export type Results =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'solutions'; readonly variables: readonly string[]; readonly solutions: readonly ResultRow[] }

/** A term in JSON (SPARQL 1.1 Query Results JSON Format §3.2.2); SPARQL 1.2 also has triple terms and directions. */
export interface JsonTerm {
  readonly type: string
  readonly value: string | Readonly<Record<'subject' | 'predicate' | 'object', JsonTerm>>
  readonly 'xml:lang'?: string
  readonly 'its:dir'?: 'ltr' | 'rtl'
  readonly datatype?: string
}

export interface JsonResults {
  readonly head?: { readonly vars?: readonly string[] }
  readonly boolean?: boolean
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
}

export const RESULTS_JSON = 'application/sparql-results+json'
export const RESULTS_XML = 'application/sparql-results+xml'
export const RESULTS_TSV = 'text/tab-separated-values'
