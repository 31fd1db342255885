// The type of a Core constraint component (SHACL §4), and functions that read its parameter. Pure.
import type { Literal, Term } from '@rdfjs/types'
import type { CheckNode, Evaluation, ShapeReader } from './shape.js'

export interface CoreComponent {
  /** The message if the shape has none. */
  readonly text: string
  /** Undefined if this parameter value requires nothing. */
  readonly check: (value: Term, shape: ShapeReader, parameter: string) => CheckNode | undefined
  /** Only for property shapes. */
  readonly needsPath?: true
  /** A shape has at most one value. */
  readonly isSingle?: true
}

type Test = (value: Term, evaluation: Evaluation) => boolean
export type Make<T> = (value: Term, shape: ShapeReader, parameter: string) => T

/** Reports each value node that fails the test. */
export const each =
  (make: Make<Test>): CoreComponent['check'] =>
  (parameterValue, shape, parameter) => {
    const test = make(parameterValue, shape, parameter)
    return (_, values, evaluation) => values.filter((value) => !test(value, evaluation)).map((value) => ({ value }))
  }

/** Reports a single result if the value nodes together fail the test. */
export const together =
  (make: Make<(values: readonly Term[], evaluation: Evaluation) => boolean>): CoreComponent['check'] =>
  (parameterValue, shape, parameter) => {
    const test = make(parameterValue, shape, parameter)
    return (_, values, evaluation) => (test(values, evaluation) ? [] : [{}])
  }

export const numberIn: Make<number> = (value, shape, parameter) =>
  value.termType === 'Literal' && /^\+?\d{1,15}$/.test(value.value)
    ? Number(value.value)
    : shape.fail(`sh:${parameter} is not a whole number`)

export const iriIn: Make<string> = (value, shape, parameter) =>
  value.termType === 'NamedNode' ? value.value : shape.fail(`sh:${parameter} is not an IRI`)

export const saysTrue = (term: Term | undefined): boolean => term?.value === 'true' || term?.value === '1'

export const isTrue: Make<boolean> = (term, shape, parameter) =>
  /^(?:true|false|1|0)$/.test(term.value) ? saysTrue(term) : shape.fail(`sh:${parameter} is neither true nor false`)

export const listIn: Make<readonly Term[]> = (head, shape, parameter) => shape.list(head, parameter)

export const isLiteral = (term: Term): term is Literal => term.termType === 'Literal'
