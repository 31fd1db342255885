// The plan of a CONSTRUCT (construct.ts): threads that run it need no parser. Pure.
import type { TemplateTriple } from './patch.js'

/**
 * The triples that the template puts in one graph: a `?variable`, an IRI in N-Triples, or '' for the graph that the
 * caller chooses.
 */
export interface TemplateGraph {
  readonly graph: string
  readonly triples: readonly TemplateTriple[]
}

/** A pattern that finds at most one solution, in the cells of one row (one-row-query.ts). */
export interface RowPattern {
  /** The variable that stands for the row. */
  readonly row: string
  /** Each column has its own variable. An empty cell has no value. */
  readonly columns: readonly { readonly property: string; readonly variable: string; readonly isOptional: boolean }[]
  /** BIND and FILTER: the variables of the columns that they need, and the query before and after a table of these. */
  readonly rest?: { readonly needs: readonly string[]; readonly query: readonly [before: string, after: string] }
}

export interface ConstructPlan {
  /** The SELECT over the default graph. */
  readonly query: string
  /**
   * `query` over many graphs at once: each is evaluated separately, and ROW names its graph. Undefined if the result
   * could differ.
   */
  readonly batched?: string
  /** Set if the pattern uses one row only. */
  readonly ofRow?: RowPattern
  readonly template: readonly TemplateGraph[]
  /** It calls a function that returns another value each time: NOW, RAND, UUID, STRUUID. */
  readonly volatile: boolean
}

export const ROW = 'triplegateRow'
/** The most solutions of one evaluation. */
export const MOST_SOLUTIONS = 200_000
