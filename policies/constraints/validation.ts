// Validates nodes against shapes (SHACL §3.4): recursion, known answers, results. Pure.
import { RDF_TYPE } from '../vocabulary.js'
import type { Superclasses } from './classes.js'
import { SH, type TripleIndex, termKeyOf } from './graph.js'
import { type ShapePath, valuesAt } from './paths.js'
import type { Constraint, Evaluation, Found, RunQuery, Shape } from './shape.js'
import type { Shapes, Targeted } from './shapes.js'
import { Unusable } from './unusable.js'
import type { Term } from '@rdfjs/types'

/** Whether a node conforms to a shape, and whether it is known to have no results that refuse the document. */
interface Resolve {
  readonly conforms: boolean
  readonly isHarmless: boolean
  /** The least depth of a pair of node and shape that is still being checked, and that the answer assumes to conform. */
  readonly assumed: number
}

/**
 * Known answers by shape and node, so that no answer is computed again if many shapes lead to it. An answer that
 * depends on an assumption about a pair is kept while that pair is open, and afterwards if the assumption was right. So
 * a pair is repeated at most once for each pair that does not conform, and once each time its violations are reported.
 */
function makeAnswers() {
  const answers = new Map<string, Resolve>()
  const resting = new Map<number, string[]>()
  function remember(key: string, answer: Resolve): void {
    answers.set(key, answer)
    if (answer.assumed === Infinity) return
    const others = resting.get(answer.assumed)
    if (others) others.push(key)
    else resting.set(answer.assumed, [key])
  }
  return {
    get: (key: string) => answers.get(key),
    /** Records the answer about a pair that was open at this depth. */
    settle({ key, depth }: { readonly key: string; readonly depth: number }, answer: Resolve): void {
      const { conforms, isHarmless, assumed } = answer
      const keys = resting.get(depth) ?? []
      resting.delete(depth)
      for (const other of keys) {
        const its = answers.get(other)
        if (its?.assumed !== depth) continue
        if (conforms) remember(other, { ...its, assumed })
        else if (its.conforms) answers.delete(other)
        else answers.set(other, NOT_CONFORMING)
      }
      remember(key, conforms || isHarmless ? answer : NOT_CONFORMING)
    },
  }
}

const NOT_CONFORMING: Resolve = { conforms: false, isHarmless: false, assumed: Infinity }

/** SHACL §3.6.2 */
export interface Result {
  readonly focus: Term
  readonly path: ShapePath | undefined
  readonly value: Term | undefined
  readonly shape: Shape
  readonly constraint: Constraint
  readonly found: Found
}

/** Weaker severities do not refuse documents. */
export const isViolation = ({ shape }: Result): boolean => shape.severity.value === `${SH}Violation`

export interface Data {
  readonly index: TripleIndex
  /** Nodes that are subjects of the document. */
  readonly subjects: readonly Term[]
  /** Other nodes of the document that are checked too. */
  readonly others: readonly Term[]
  readonly superclasses: Superclasses
}

/** The memory of a known answer beside its key. */
const ANSWER_BYTES = 200
/** The most steps that shapes may lead from node to node. They take stack space. */
const DEEPEST = 1000

/** Yields the results one after the other. Throws Unusable. */
export function* validated(shapes: Shapes, data: Data, run: RunQuery): Generator<Result> {
  const validation = makeValidation(shapes, data, run)
  for (const target of shapes.targeted) {
    for (const focus of focusNodes(target, data)) yield* validate(validation, target.node, focus, 'report')
  }
}

/** SHACL §2.1.3, limited to nodes of the document. A shape that names another node does not concern this document. */
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
  /** Pairs of shape and node being validated, with their depth. */
  readonly open: Map<string, number>
  /** The depth of the lowest pair about which something was assumed. */
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
 * Yields the results, and returns whether the node conforms. SHACL §3.4.3 leaves recursion undefined; here a node
 * conforms unless something contradicts it.
 */
function* validate(validation: Validation, node: Term, focus: Term, purpose: Purpose): Generator<Result, boolean> {
  const { shapes, index, answers, open } = validation
  const shape = shapes.at(node)
  if (!shape) return true
  const key = `${termKeyOf(node)} ${termKeyOf(focus)}`
  index.grown(ANSWER_BYTES + 2 * key.length)
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
    // Undefined if an error was thrown before the first result.
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
