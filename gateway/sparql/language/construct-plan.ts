// What a CONSTRUCT is as a plan (construct.ts): threads that run one need no parser. Pure.
import type { TemplateTriple } from './patch.js'

/**
 * The triples of one graph of the template: a `?variable`, an IRI in N-Triples, or '' for the graph that the caller
 * chooses.
 */
export interface TemplateGraph {
  readonly graph: string
  readonly triples: readonly TemplateTriple[]
}

/** A pattern that finds one solution in the cells of a row, or none (row-pattern.ts). */
export interface RowPattern {
  /** The variable that stands for the row. */
  readonly row: string
  /** Each has a variable of its own. A cell that is empty has no value. */
  readonly columns: readonly { readonly property: string; readonly variable: string; readonly isOptional: boolean }[]
  /** BIND and FILTER: the variables that they need of those above, and the query before and after a table of these. */
  readonly rest?: { readonly needs: readonly string[]; readonly query: readonly [before: string, after: string] }
}

export interface ConstructPlan {
  /** The SELECT over the default graph. */
  readonly query: string
  /**
   * The same over many graphs at once, each by itself, whose name is the value of ROW; undefined where that could
   * differ.
   */
  readonly batched?: string
  /** Where the pattern is about one row alone. */
  readonly ofRow?: RowPattern
  readonly template: readonly TemplateGraph[]
  /** It has a function that gives another value each time: NOW, RAND, UUID, STRUUID. */
  readonly volatile: boolean
}

export const ROW = 'triplegateRow'
/** The most solutions of one evaluation. */
export const MOST_SOLUTIONS = 200_000
