// The types of shapes: what a shape asks for, and what is found where a node does not conform. Pure.
import type { Literal, Term } from '@rdfjs/types'
import type { TripleIndex } from './graph.js'
import type { ShapePath } from './paths.js'
import type { Failure } from '../failure.js'

export type Solution = ReadonlyMap<string, Term>

/** A query of a constraint. `$PATH` stands for the path. */
export interface ConstraintQuery {
  readonly form: 'ASK' | 'SELECT'
  readonly text: string
  /** The names of variables that may get a value before the query runs. */
  readonly prebound: readonly string[]
  readonly path: ShapePath | undefined
  /** SHACL Appendix A: what a query must not have. SPIN has no such rules. */
  readonly language: 'SHACL' | 'SPIN'
}

/** Runs a query on the data graph: its solutions; one empty solution where an ASK is true. */
export type RunQuery = (query: ConstraintQuery, bindings: Solution) => readonly Solution[] | Failure<'unusable'>

/** A value node, or a node, that does not conform. */
export interface Found {
  readonly value?: Term | undefined
  readonly path?: ShapePath | undefined
  /** Of a query: messages may name its variables. */
  readonly solution?: Solution
}

/** What a constraint needs to be checked on one document. */
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
  /** By the names that messages use. */
  readonly parameters: Solution
  /** SHACL §2.1.5, §5.3.2: the first list that has a message is used. */
  readonly messages: readonly (readonly Literal[])[]
  /** English, where there is no other message. */
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
  /** SHACL §4.7.2: the results of these are results of this shape. */
  readonly properties: readonly Term[]
}

/** A shape while its constraints are read. */
export interface ShapeReader {
  readonly node: Term
  readonly path: ShapePath | undefined
  readonly shapes: TripleIndex
  all(name: string): readonly Term[]
  /** Throws where there are several. */
  one(name: string): Term | undefined
  isTrue(name: string): boolean
  list(head: Term, name: string): readonly Term[]
  fail(reason: string): never
}
