// The types of shapes: their constraints, and the findings about nodes that do not conform. Pure.
import type { Literal, Term } from '@rdfjs/types'
import type { TripleIndex } from './graph.js'
import type { ShapePath } from './paths.js'
import type { Failure } from '../failure.js'

export type Solution = ReadonlyMap<string, Term>

/** The query of a constraint. `$PATH` is a placeholder for the path. */
export interface ConstraintQuery {
  readonly form: 'ASK' | 'SELECT'
  readonly text: string
  /** The variables that may be bound before the query runs. */
  readonly prebound: readonly string[]
  readonly path: ShapePath | undefined
  /** SHACL Appendix A restricts such queries; SPIN has no restrictions. */
  readonly language: 'SHACL' | 'SPIN'
}

/** Runs a query on the data graph. Returns its solutions; for an ASK, one empty solution if it is true. */
export type RunQuery = (query: ConstraintQuery, bindings: Solution) => readonly Solution[] | Failure<'unusable'>

/** A value node, or node, that does not conform. */
export interface Found {
  readonly value?: Term | undefined
  readonly path?: ShapePath | undefined
  /** The solution of a query. Messages may use its variables. */
  readonly solution?: Solution
}

/** Everything that checking a constraint on one document needs. */
export interface Evaluation {
  readonly data: TripleIndex
  readonly run: RunQuery
  conforms(node: Term, shape: Term): boolean
  isInstance(node: Term, type: Term): boolean
}

export type CheckNode = (focus: Term, values: readonly Term[], evaluation: Evaluation) => Iterable<Found>

export interface Constraint {
  /** The IRI of the constraint component. */
  readonly component: string
  /** By the names used in messages. */
  readonly parameters: Solution
  /** SHACL §2.1.5, §5.3.2: the first non-empty list is used. */
  readonly messages: readonly (readonly Literal[])[]
  /** The English text if there is no other message. */
  readonly text: string
  /** The value of sh:sparql. */
  readonly source?: Term
  readonly check: CheckNode
}

export interface Shape {
  readonly node: Term
  readonly path: ShapePath | undefined
  readonly severity: Term
  readonly constraints: readonly Constraint[]
  /** SHACL §4.7.2: their results are results of this shape. */
  readonly properties: readonly Term[]
}

/** A shape while its constraints are being read. */
export interface ShapeReader {
  readonly node: Term
  readonly path: ShapePath | undefined
  readonly shapes: TripleIndex
  all(name: string): readonly Term[]
  /** Throws if there are several values. */
  one(name: string): Term | undefined
  isTrue(name: string): boolean
  list(head: Term, name: string): readonly Term[]
  fail(reason: string): never
}
