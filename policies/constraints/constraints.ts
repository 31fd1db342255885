// In charge of the constraints of the ontologies (spec 4.1): a state of a document must satisfy their SHACL shapes, and an
// update must not remove a resource's types. Pure.
import type { DatasetCore, NamedNode, Quad, Term } from '@rdfjs/types'
import { failure, isFailure, type Failure } from '../failure.js'
import {
  isQueryConstraint,
  isSparqlConstraint,
  makeQueryCheck,
  spinReport,
  type QueryViolation,
  type RunQuery,
} from './query-constraints.js'
import { RDF_TYPE, SUB_CLASS_OF } from '../vocabulary.js'

/** `unusable`: the shapes cannot be evaluated. That says nothing about the document, and must not let it pass. */
export type ConstraintOutcome =
  { readonly conforms: true } | { readonly conforms: false; readonly report: readonly Quad[] } | Failure<'unusable'>

/** Checks a state of a document. After a failure the same check must not be used again. */
export type ConstraintCheck = (document: readonly Quad[], run?: RunQuery) => Promise<ConstraintOutcome>

const SH = 'http://www.w3.org/ns/shacl#'
const RDFS_CLASS = 'http://www.w3.org/2000/01/rdf-schema#Class'
const OWL_CLASS = 'http://www.w3.org/2002/07/owl#Class'
/** The most violations of one document that are reported. */
const REPORTED = 100

/** True where there may be a constraint: without SHACL's properties and spin:constraint nothing can be violated. */
export function constraintsIn(ontologies: Iterable<Quad>): boolean {
  for (const triple of ontologies) if (isOfShapes(triple) || isQueryConstraint(triple)) return true
  return false
}

const isOfShapes = ({ predicate }: Quad): boolean => predicate.value.startsWith(SH)

/**
 * The check of documents against the constraints in these ontologies: SHACL Core, sh:sparql on shapes with targets, and SPIN
 * (query-constraints.ts). sh:Violation refuses, weaker severities do not. Other features (sh:target, sh:js) make the shapes
 * unusable where they would have to be evaluated.
 */
export async function makeConstraintCheck(ontologies: readonly Quad[]): Promise<ConstraintCheck> {
  // Loaded only where there are shapes.
  const { default: Validator } = await import('rdf-validate-shacl')
  const rdf = new Validator([] as never).factory as unknown as Factory
  // The gateway decides which ontologies count: owl:imports are not followed.
  const targeted = new Set(ontologies.filter(isTargeting).map(({ subject }) => keyOf(subject)))
  const isRunHere = (triple: Quad): boolean => isSparqlConstraint(triple) && targeted.has(keyOf(triple.subject))
  const core = ontologies.filter((triple) => !isRunHere(triple))
  const validator = core.some(isOfShapes)
    ? new Validator(rdf.dataset(shapesOf(core, rdf)), { importGraph: () => rdf.dataset([]) })
    : undefined
  const unsupported = ontologies.find(({ predicate }) => predicate.value === SH + 'target')
  const hierarchy = hierarchyOf(ontologies)
  const checkQueries = makeQueryCheck(
    ontologies.filter((triple) => !isSparqlConstraint(triple) || isRunHere(triple)),
    (document) => makeSuperclasses(hierarchy, hierarchyOf(document)),
  )
  return async (document, run = NO_QUERIES) => {
    if (unsupported) return failure('unusable', `sh:target of ${unsupported.subject.value} is not supported`)
    const queried = checkQueries(document, run)
    if (isFailure(queried)) return queried
    try {
      const results = validator
        ? (await validator.validate(rdf.dataset(dataOf(document, ontologies, rdf)))).results
        : []
      const violations = violationsIn(results as unknown as Result[], document)
      if (violations.length === 0 && queried.length === 0) return { conforms: true }
      const isSparql = queried.some(({ kind }) => kind === 'sparql')
      return {
        conforms: false,
        report: [
          ...(violations.length > 0 || isSparql ? reportOf(violations.slice(0, REPORTED), queried, rdf) : []),
          ...queried.slice(0, REPORTED).flatMap((violation) => spinReport(violation, rdf)),
        ],
      }
    } catch (error) {
      return failure('unusable', (error as Error).message.split('\n')[0]!)
    }
  }
}

/** Of shapes whose nodes can be found without evaluating other shapes. */
const isTargeting = ({ subject, predicate, object }: Quad): boolean =>
  /^http:\/\/www\.w3\.org\/ns\/shacl#target(?:Class|Node|SubjectsOf|ObjectsOf)$/.test(predicate.value) ||
  (subject.termType === 'NamedNode' && predicate.value === RDF_TYPE && [RDFS_CLASS, OWL_CLASS].includes(object.value))

const NO_QUERIES: RunQuery = () => failure('unusable', 'no queries are run here')

/** The used part of the validator's RDF/JS environment and results, whose types depend on packages without types. */
interface Factory {
  dataset(quads: Iterable<Quad>): DatasetCore
  namedNode(iri: string): NamedNode
  blankNode(): Term
  literal(value: string, datatype: NamedNode): Term
  quad(subject: Term, predicate: Term, object: Term): Quad
}
interface Result {
  readonly focusNode: Term
  readonly severity: Term
  readonly path: Term | null
  readonly value: Term | null
  readonly message: readonly Term[]
  readonly sourceConstraintComponent: Term
  readonly sourceShape: Term
  readonly dataset: DatasetCore
}

/**
 * The shapes graph. The validator does not survive circles in rdfs:subClassOf, and uses it only to find the nodes that
 * are classes (SHACL §2.1.3.3). So each class is typed directly, instances of owl:Class included.
 */
function shapesOf(ontologies: readonly Quad[], rdf: Factory): Quad[] {
  const superclasses = makeSuperclasses(hierarchyOf(ontologies))
  const isMetaclass = (type: Term): boolean => superclasses(type).has(RDFS_CLASS) || superclasses(type).has(OWL_CLASS)
  return ontologies.flatMap((triple) => {
    const { subject, predicate, object } = triple
    if (predicate.value === SUB_CLASS_OF) return []
    const isClass = predicate.value === RDF_TYPE && isMetaclass(object)
    return isClass ? [triple, rdf.quad(subject, predicate, rdf.namedNode(RDFS_CLASS))] : [triple]
  })
}

/**
 * The data graph: the document, the types that the ontologies give to the resources it points at, and each used class as
 * a direct subclass of all its superclasses. Classes that are subclasses of each other cannot be stated so (see
 * shapesOf): an instance of one gets the types of all.
 */
function dataOf(document: readonly Quad[], ontologies: readonly Quad[], rdf: Factory): Quad[] {
  const superclasses = makeSuperclasses(hierarchyOf(ontologies), hierarchyOf(document))
  const isCircular = (type: Term, superclass: Term): boolean => superclasses(superclass).has(keyOf(type))
  const subjects = new Set(document.map(({ subject }) => keyOf(subject)))
  const elsewhere = new Set(document.map(({ object }) => keyOf(object)).filter((key) => !subjects.has(key)))
  const data = [
    ...document.filter((t) => t.predicate.value !== SUB_CLASS_OF || !isCircular(t.subject, t.object)),
    ...ontologies.filter((t) => t.predicate.value === RDF_TYPE && elsewhere.has(keyOf(t.subject))),
  ]
  const subClassOf = rdf.namedNode(SUB_CLASS_OF)
  for (const { subject, predicate, object } of data.filter((t) => t.predicate.value === RDF_TYPE)) {
    for (const superclass of superclasses(object).values()) {
      const circular = isCircular(object, superclass)
      data.push(circular ? rdf.quad(subject, predicate, superclass) : rdf.quad(object, subClassOf, superclass))
    }
  }
  return data
}

/** The violations of nodes that the document describes: not of nodes that it only points at, or that a shape names. */
function violationsIn(results: readonly Result[], document: readonly Quad[]): Result[] {
  const described = new Set(document.map(({ subject }) => keyOf(subject)))
  const isOwn = (node: Term): boolean => node.termType === 'Literal' || described.has(keyOf(node))
  return results.filter(({ severity, focusNode }) => severity.value === SH + 'Violation' && isOwn(focusNode))
}

/** SHACL §3.6: the report, of the violating nodes only, without the shapes that the validator adds. */
function reportOf(violations: readonly Result[], queried: readonly QueryViolation[], rdf: Factory): Quad[] {
  const sh = (name: string): NamedNode => rdf.namedNode(SH + name)
  const report = rdf.blankNode()
  const isFalse = rdf.literal('false', rdf.namedNode('http://www.w3.org/2001/XMLSchema#boolean'))
  const type = rdf.namedNode(RDF_TYPE)
  const triples = [rdf.quad(report, type, sh('ValidationReport')), rdf.quad(report, sh('conforms'), isFalse)]
  for (const violation of violations) {
    const { focusNode, path, value, message, severity, sourceConstraintComponent, sourceShape } = violation
    const result = rdf.blankNode()
    const say = (property: string, term: Term): number => triples.push(rdf.quad(result, sh(property), term))
    triples.push(rdf.quad(report, sh('result'), result), rdf.quad(result, type, sh('ValidationResult')))
    say('focusNode', focusNode)
    say('resultSeverity', severity)
    say('sourceConstraintComponent', sourceConstraintComponent)
    if (sourceShape.termType === 'NamedNode') say('sourceShape', sourceShape)
    if (path) say('resultPath', path)
    if (path) triples.push(...pathIn(violation.dataset, path))
    if (value) say('value', value)
    for (const text of message) say('resultMessage', text)
  }
  for (const { kind, focus, value, messages } of queried.slice(0, REPORTED)) {
    if (kind !== 'sparql') continue
    const result = rdf.blankNode()
    const say = (property: string, term: Term): number => triples.push(rdf.quad(result, sh(property), term))
    triples.push(rdf.quad(report, sh('result'), result), rdf.quad(result, type, sh('ValidationResult')))
    say('focusNode', focus)
    say('resultSeverity', sh('Violation'))
    say('sourceConstraintComponent', sh('SPARQLConstraintComponent'))
    if (value) say('value', value)
    for (const text of messages) say('resultMessage', text)
  }
  return triples
}

/** SHACL §2.3.1: a property path that is no single property is a structure of blank nodes. */
function pathIn(shapes: DatasetCore, start: Term): Quad[] {
  const triples: Quad[] = []
  const seen = new Map([[keyOf(start), start]])
  for (const node of seen.values()) {
    if (node.termType !== 'BlankNode') continue
    for (const triple of shapes.match(node, null, null)) {
      triples.push(triple)
      seen.set(keyOf(triple.object), triple.object)
    }
  }
  return triples
}

/**
 * The IRI of a resource that had a type, still has properties, and no longer has a type. An update must not do that:
 * constraints and access depend on types (LinkedDataHub 6.5). Undefined where there is none.
 */
export function typeLost(before: Iterable<Quad>, after: Iterable<Quad>): string | undefined {
  const typed = new Set<string>()
  const untyped = new Set<string>()
  for (const { subject, predicate } of before) if (predicate.value === RDF_TYPE) typed.add(keyOf(subject))
  for (const { subject } of after) if (typed.has(keyOf(subject))) untyped.add(keyOf(subject))
  for (const { subject, predicate } of after) if (predicate.value === RDF_TYPE) untyped.delete(keyOf(subject))
  return untyped.values().next().value
}

/** A class or another node as the key of a map. */
const keyOf = (node: Term): string => (node.termType === 'BlankNode' ? `_:${node.value}` : node.value)

/** The direct superclasses, by the key of the class. */
type Hierarchy = ReadonlyMap<string, readonly Term[]>

function hierarchyOf(triples: Iterable<Quad>): Hierarchy {
  const hierarchy = new Map<string, Term[]>()
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== SUB_CLASS_OF || object.termType === 'Literal') continue
    const superclasses = hierarchy.get(keyOf(subject))
    if (superclasses) superclasses.push(object)
    else hierarchy.set(keyOf(subject), [object])
  }
  return hierarchy
}

/** Finds the superclasses of a class, itself included, in several hierarchies together, which may contain circles. */
function makeSuperclasses(...hierarchies: Hierarchy[]): (type: Term) => ReadonlyMap<string, Term> {
  const known = new Map<string, Map<string, Term>>()
  return (type) => {
    const found = known.get(keyOf(type))
    if (found) return found
    const reached = new Map([[keyOf(type), type]])
    for (const key of reached.keys()) {
      for (const superclass of hierarchies.flatMap((hierarchy) => hierarchy.get(key) ?? [])) {
        reached.set(keyOf(superclass), superclass)
      }
    }
    known.set(keyOf(type), reached)
    return reached
  }
}
