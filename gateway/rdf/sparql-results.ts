// SPARQL results as a value: solutions or a boolean, and the media types of their formats.
import type { Term } from './graph.js'

export type ResultRow = ReadonlyMap<string, Term>
export type Results =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'solutions'; readonly variables: readonly string[]; readonly solutions: readonly ResultRow[] }

export const RESULTS_JSON = 'application/sparql-results+json'
export const RESULTS_XML = 'application/sparql-results+xml'
export const RESULTS_TSV = 'text/tab-separated-values'
