// Validating nodes against shapes (SHACL §3.4): recursion, what is known already, results. Pure.
import type { Term } from '@rdfjs/types'
import { makeAnswers } from './answers.js'
import type { Superclasses } from './classes.js'
import { termKeyOf, SH, type TripleIndex } from './graph.js'
import { RDF_TYPE } from '../vocabulary.js'
import { valuesAt, type ShapePath } from './paths.js'
import type { Constraint, Evaluation, Found, RunQuery, Shape } from './shape.js'
import type { Shapes, Targeted } from './shapes.js'
import { Unusable } from './unusable.js'

/** SHACL §3.6.2 */
export interface Result {
  readonly focus: Term
  readonly path: ShapePath | undefined
  readonly value: Term | undefined
  readonly shape: Shape
  readonly constraint: Constraint
  readonly found: Found
}

/** A weaker severity refuses no document. */
export const isViolation = ({ shape }: Result): boolean => shape.severity.value === `${SH}Violation`

export interface Data {
  readonly index: TripleIndex
  /** Nodes that are subjects of the document. */
  readonly subjects: readonly Term[]
  /** The other nodes of the document that are checked with it. */
  readonly others: readonly Term[]
  readonly superclasses: Superclasses
}

/** Shapes lead from node to node: the most of such steps, which take stack. */
const DEEPEST = 1000

/** The results, one after the other. Throws Unusable. */
export function* validated(shapes: Shapes, data: Data, run: RunQuery): Generator<Result> {
  const validation = makeValidation(shapes, data, run)
  for (const target of shapes.targeted) {
    for (const focus of focusNodes(target, data)) yield* validate(validation, target.node, focus, 'report')
  }
}

/** SHACL §2.1.3: of the nodes of the document. A shape that names any other node is not about this document. */
function focusNodes(target: Targeted, { index, subjects, others, superclasses }: Data): readonly Term[] {
  const classes = target.classes.map(termKeyOf)
  const nodes = new Set(target.nodes.map(termKeyOf))
  const isTarget = (node: Term): boolean =>
    nodes.has(termKeyOf(node)) ||
    target.subjectsOf.some(({ value }) => index.objects(node, value).length > 0) ||
    target.objectsOf.some(({ value }) => index.subjects(value, node).length > 0) ||
    (classes.length > 0 && isInstanceOf(index, superclasses, node, classes))
  return [...subjects, ...others].filter(isTarget)
}

const isInstanceOf = (
  index: TripleIndex,
  superclasses: Superclasses,
  node: Term,
  classes: readonly string[],
): boolean => index.objects(node, RDF_TYPE).some((type) => classes.some((one) => superclasses(type).has(one)))

type Purpose = 'report' | 'test'

/** The validation of one document. */
interface Validation {
  readonly shapes: Shapes
  readonly index: TripleIndex
  readonly answers: ReturnType<typeof makeAnswers>
  /** Pairs of shape and node that are being validated, with their depth. */
  readonly open: Map<string, number>
  /** The depth of the lowest pair about which something has been assumed. */
  assumed: number
  readonly evaluation: Evaluation
}

function makeValidation(shapes: Shapes, { index, superclasses }: Data, run: RunQuery): Validation {
  const evaluation: Evaluation = {
    data: index,
    run,
    isInstance: (node, type) => isInstanceOf(index, superclasses, node, [termKeyOf(type)]),
    conforms(focus, node) {
      const results = validate(validation, node, focus, 'test')
      const first = results.next()
      if (first.done) return first.value
      results.return(false)
      return false
    },
  }
  const validation = { shapes, index, answers: makeAnswers(), open: new Map<string, number>(), assumed: Infinity, evaluation } // prettier-ignore
  return validation
}

/**
 * Gives the results, and whether the node conforms. SHACL §3.4.3 leaves recursion undefined. Here a node conforms to a shape as
 * long as nothing says otherwise.
 */
function* validate(validation: Validation, node: Term, focus: Term, purpose: Purpose): Generator<Result, boolean> {
  const { shapes, answers, open } = validation
  const shape = shapes.at(node)
  if (!shape) return true
  const key = `${termKeyOf(node)} ${termKeyOf(focus)}`
  const before = open.get(key)
  const known = answers.get(key)
  if (known && (known.conforms || known.isHarmless || purpose === 'test' || before !== undefined)) {
    validation.assumed = Math.min(validation.assumed, known.assumed)
    return known.conforms
  }
  if (before !== undefined) {
    validation.assumed = Math.min(validation.assumed, before)
    return true
  }
  const [outer, depth] = [validation.assumed, open.size]
  if (depth >= DEEPEST) throw new Unusable(`shapes lead from node to node more than ${DEEPEST} times`)
  open.set(key, depth)
  validation.assumed = Infinity
  const results = resultsOf(validation, shape, focus, purpose)
  let [conforms, isHarmless]: [boolean | undefined, boolean] = [undefined, false]
  let violates = false
  try {
    let next = results.next()
    for (; !next.done; next = results.next()) {
      conforms = false
      violates ||= isViolation(next.value)
      yield next.value
    }
    conforms = next.value
    isHarmless = purpose === 'report' && !violates
    return conforms
  } finally {
    results.return(false)
    open.delete(key)
    const assumed = validation.assumed >= depth ? Infinity : validation.assumed
    // Undefined: an error was thrown before the first result.
    if (conforms !== undefined) answers.settle({ key, depth }, { conforms, isHarmless, assumed })
    validation.assumed = Math.min(outer, assumed)
  }
}

function* resultsOf(validation: Validation, shape: Shape, focus: Term, purpose: Purpose): Generator<Result, boolean> {
  const { index, evaluation } = validation
  const values = shape.path ? valuesAt(shape.path, focus, index) : [focus]
  let conforms = true
  for (const constraint of shape.constraints) {
    for (const found of constraint.check(focus, values, evaluation)) {
      conforms = false
      yield resultOf(focus, shape, constraint, found)
    }
  }
  for (const property of shape.properties) {
    for (const value of values) if (!(yield* validate(validation, property, value, purpose))) conforms = false
  }
  return conforms
}

const resultOf = (focus: Term, shape: Shape, constraint: Constraint, found: Found): Result => ({
  ...{ focus, shape, constraint, found },
  path: found.path ?? shape.path,
  value: found.value,
})
