// In charge of validating nodes against shapes (SHACL §3.4): recursion, what is known already, results. Pure.
import type { Term } from '@rdfjs/types'
import type { Superclasses } from './classes.js'
import { keyOf, type TripleIndex } from './graph.js'
import { RDF_TYPE } from '../vocabulary.js'
import { valuesAt, type Path } from './paths.js'
import type { Constraint, Evaluation, Found, RunQuery, Shape } from './shape.js'
import type { Shapes, Targeted } from './shapes.js'
import { Unusable } from './unusable.js'

/** SHACL §3.6.2 */
export interface Result {
  readonly focus: Term
  readonly path: Path | undefined
  readonly value: Term | undefined
  readonly shape: Shape
  readonly constraint: Constraint
  readonly found: Found
}

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
  const { validate } = makeValidator(shapes, data, run)
  for (const target of shapes.targeted) {
    for (const focus of focusNodes(target, data)) yield* validate(target.node, focus)
  }
}

/** SHACL §2.1.3: of the nodes of the document. A shape that names any other node is not about this document. */
function focusNodes(target: Targeted, { index, subjects, others, superclasses }: Data): readonly Term[] {
  const classes = target.classes.map(keyOf)
  const nodes = new Set(target.nodes.map(keyOf))
  const isTarget = (node: Term): boolean =>
    nodes.has(keyOf(node)) ||
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

function makeValidator(shapes: Shapes, { index, superclasses }: Data, run: RunQuery) {
  /** Known answers, by shape and node, that rest on no assumption. */
  const known = new Map<string, boolean>()
  /** Pairs of shape and node that are being validated, with their depth. */
  const open = new Map<string, number>()
  /** The lowest pair about which something has been assumed. */
  let assumed = Infinity

  /** SHACL §3.4.3 leaves recursion undefined. Here a node conforms to a shape as long as nothing says otherwise. */
  function* validate(node: Term, focus: Term): Generator<Result> {
    const shape = shapes.at(node)
    const key = `${keyOf(node)} ${keyOf(focus)}`
    if (!shape || known.get(key) === true) return
    const before = open.get(key)
    if (before !== undefined) {
      assumed = Math.min(assumed, before)
      return
    }
    const [outer, depth] = [assumed, open.size]
    if (depth >= DEEPEST) throw new Unusable(`shapes lead from node to node more than ${DEEPEST} times`)
    open.set(key, depth)
    assumed = Infinity
    let conforms: boolean | undefined
    try {
      for (const result of resultsOf(shape, focus)) {
        conforms = false
        yield result
      }
      conforms ??= true
    } finally {
      open.delete(key)
      const isCertain = assumed >= depth
      if (isCertain && conforms !== undefined) known.set(key, conforms)
      assumed = isCertain ? outer : Math.min(outer, assumed)
    }
  }

  function* resultsOf(shape: Shape, focus: Term): Generator<Result> {
    const values = shape.path ? valuesAt(shape.path, focus, index) : [focus]
    for (const constraint of shape.constraints) {
      for (const found of constraint.check(focus, values, evaluation)) yield resultOf(focus, shape, constraint, found)
    }
    for (const property of shape.properties) for (const value of values) yield* validate(property, value)
  }

  const evaluation: Evaluation = {
    data: index,
    run,
    isInstance: (node, type) => isInstanceOf(index, superclasses, node, [keyOf(type)]),
    conforms(focus, node) {
      const answer = known.get(`${keyOf(node)} ${keyOf(focus)}`)
      if (answer !== undefined) return answer
      const results = validate(node, focus)
      const conforms = results.next().done === true
      results.return(undefined)
      return conforms
    },
  }
  return { validate }
}

const resultOf = (focus: Term, shape: Shape, constraint: Constraint, found: Found): Result => ({
  ...{ focus, shape, constraint, found },
  path: found.path ?? shape.path,
  value: found.value,
})
