// The constraints of the ontologies (spec 4.1): a document must satisfy their SHACL shapes and SPIN constraints. Pure.
import type { Quad, Term } from '@rdfjs/types'
import { failure, isFailure, type Failure } from '../failure.js'
import { backgroundOf, hierarchyOf, makeSuperclasses, classesIn } from './classes.js'
import { distinct, indexOf, termKeyOf, SH, type Factory, type Grown, type TripleIndex } from './graph.js'
import { reportOf } from './report.js'
import type { RunQuery } from './shape.js'
import { makeShapes } from './shapes.js'
import { makeSpinCheck, spinReport } from './spin.js'
import { Unusable } from './unusable.js'
import { isViolation, validated, type Data, type Result } from './validation.js'

/** `unusable`: the shapes cannot be evaluated. This says nothing about the document, which must not pass. */
export type ConstraintOutcome =
  { readonly conforms: true } | { readonly conforms: false; readonly report: readonly Quad[] } | Failure<'unusable'>

/** Checks a state of a document. */
export type ConstraintCheck = (document: readonly Quad[], means?: CheckMeans) => ConstraintOutcome

export interface CheckMeans {
  /** Runs queries on the data graph. */
  queries?(dataGraph: readonly Quad[]): RunQuery
  /** True for an IRI that has its own document, and is checked there. */
  isElsewhere?(iri: string): boolean
  readonly grown?: Grown
}

export interface ShapeReading {
  readonly rdf: Factory
  /** True for an IRI that replaces a blank node of an ontology. */
  readonly isSkolem?: (iri: string) => boolean
}

/** The most violations reported for a document. */
const REPORTED = 100
/**
 * If many nodes share a long value, each result repeats it. So results are reported only until their values have this
 * many characters.
 */
const REPORTED_CHARACTERS = 1024 * 1024

/**
 * Checks documents against the constraints in these ontologies: SHACL with SPARQL-based constraints, and SPIN. Results
 * with sh:Violation refuse a document, weaker severities do not.
 */
export function makeConstraintCheck(ontologies: readonly Quad[], { rdf, isSkolem }: ShapeReading): ConstraintCheck {
  const index = indexOf(ontologies)
  const [hierarchy, types] = [hierarchyOf(ontologies), classesIn(ontologies)]
  const isBlank = (node: Term): boolean =>
    node.termType === 'BlankNode' || (node.termType === 'NamedNode' && isSkolem?.(node.value) === true)
  const shapes = makeShapes(index, ontologies, makeSuperclasses(hierarchy), isBlank)
  const unsupported = UNSUPPORTED.flatMap((name) => ontologies.filter(({ predicate }) => predicate.value === SH + name))
  const spin = makeSpinCheck(ontologies)
  return (document, { queries = () => NO_QUERIES, isElsewhere = () => false, grown } = {}) => {
    const [first] = unsupported
    if (first) return failure('unusable', `${first.predicate.value} of ${first.subject.value} is not supported`)
    const graph = [...document, ...backgroundOf(document, types, hierarchy)]
    const data = dataOf(
      document,
      indexOf(graph, grown),
      makeSuperclasses(hierarchy, hierarchyOf(document)),
      (node) => index.about(node).length > 0 || (node.termType === 'NamedNode' && isElsewhere(node.value)),
    )
    try {
      const run = queries(graph)
      const violations = violationsOf(validated(shapes, data, run))
      const spinViolations = spin(data, run)
      if (isFailure(spinViolations)) return spinViolations
      if (violations.length + spinViolations.length === 0) return { conforms: true }
      return {
        conforms: false,
        report: [
          ...(violations.length > 0 ? reportOf(violations, index, rdf) : []),
          ...spinViolations.slice(0, REPORTED).flatMap((violation) => spinReport(violation, rdf)),
        ],
      }
    } catch (error) {
      if (error instanceof Unusable) return failure('unusable', error.message)
      throw error
    }
  }
}

/** SHACL §1.5 entailment and SHACL-AF targets: the documents that they apply to cannot be determined. */
const UNSUPPORTED = ['target', 'entailment']

const NO_QUERIES: RunQuery = () => failure('unusable', 'queries are not available here')

function dataOf(
  document: readonly Quad[],
  index: TripleIndex,
  superclasses: Data['superclasses'],
  isElsewhere: (node: Term) => boolean,
): Data {
  const subjects = distinct(document.map(({ subject }) => subject))
  const described = new Set(subjects.map(termKeyOf))
  const isOther = (node: Term): boolean => !described.has(termKeyOf(node)) && !isElsewhere(node)
  const others = distinct(document.map(({ object }) => object)).filter(isOther)
  return { index, subjects, others, superclasses }
}

function violationsOf(results: Iterable<Result>): readonly Result[] {
  const violations: Result[] = []
  let characters = 0
  for (const result of results) {
    if (!isViolation(result)) continue
    characters += result.value?.value.length ?? 0
    if (violations.push(result) === REPORTED || characters > REPORTED_CHARACTERS) break
  }
  return violations
}
