// In charge of the constraints of the ontologies (spec 4.1): whether a state of a document satisfies their SHACL shapes,
// and whether an update has taken a resource's types away. Pure.
import type { DatasetCore, NamedNode, Quad, Term } from '@rdfjs/types'
import { hierarchyOf, keyOf, makeSuperclasses } from './class-hierarchy.js'
import { RDF_TYPE, SUB_CLASS_OF } from '../vocabulary.js'

/** `fault`: the shapes cannot be evaluated. That says nothing about the document, and must not let it pass. */
export type Outcome =
  | { readonly kind: 'conforms' }
  | { readonly kind: 'violated'; readonly report: readonly Quad[] }
  | { readonly kind: 'fault'; readonly fault: string }

/** Checks a state of a document. After a `fault` the same check must not be used again. */
export type Check = (document: readonly Quad[]) => Promise<Outcome>

const SH = 'http://www.w3.org/ns/shacl#'
const RDFS_CLASS = 'http://www.w3.org/2000/01/rdf-schema#Class'
const OWL_CLASS = 'http://www.w3.org/2002/07/owl#Class'
/** Further violations of one document are not reported. */
const REPORTED = 100

/** Whether there is a shape: without a property from SHACL's namespace nothing can be violated. */
export function shapesIn(ontologies: Iterable<Quad>): boolean {
  for (const { predicate } of ontologies) if (predicate.value.startsWith(SH)) return true
  return false
}

/**
 * The check of documents against the shapes in these ontologies. sh:Violation refuses, weaker severities do not. What
 * SHACL Core lacks (sh:target, sh:sparql, sh:js) is a `fault` where it would have to be evaluated.
 */
export async function makeCheck(ontologies: readonly Quad[]): Promise<Check> {
  // Loaded where there are shapes only.
  const { default: Validator } = await import('rdf-validate-shacl')
  const rdf = new Validator([] as never).factory as unknown as Factory
  // The gateway decides which ontologies count: owl:imports are not followed.
  const validator = new Validator(rdf.dataset(shapesOf(ontologies, rdf)), { importGraph: () => rdf.dataset([]) })
  const targeted = ontologies.find(({ predicate }) => predicate.value === SH + 'target')
  return async (document) => {
    if (targeted) return { kind: 'fault', fault: `sh:target of ${targeted.subject.value} is not supported` }
    try {
      const { results } = await validator.validate(rdf.dataset(dataOf(document, ontologies, rdf)))
      const violations = violationsIn(results as unknown as Result[], document)
      if (violations.length === 0) return { kind: 'conforms' }
      return { kind: 'violated', report: reportOf(violations.slice(0, REPORTED), rdf) }
    } catch (error) {
      return { kind: 'fault', fault: (error as Error).message.split('\n')[0]! }
    }
  }
}

/** What is used of the validator's own RDF/JS environment and results, whose types rest on packages without types. */
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
 * The shapes graph. The validator does not survive circles in rdfs:subClassOf, and asks of it only which nodes are
 * classes (SHACL §2.1.3.3), so that is said directly. Those of owl:Class are.
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
 * The data graph: the document, the types that the ontologies give to what it points at, and each used class as a direct
 * subclass of all its superclasses. Classes that are subclasses of each other cannot be told so (see shapesOf): an
 * instance of one is given the types of all.
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

/** The violations of nodes that the document describes: what it points at, and what a shape names, is not its own. */
function violationsIn(results: readonly Result[], document: readonly Quad[]): Result[] {
  const described = new Set(document.map(({ subject }) => keyOf(subject)))
  const isOwn = (node: Term): boolean => node.termType === 'Literal' || described.has(keyOf(node))
  return results.filter(({ severity, focusNode }) => severity.value === SH + 'Violation' && isOwn(focusNode))
}

/** SHACL §3.6: the report, of the violating nodes only, without the shapes that the validator copies in. */
function reportOf(violations: readonly Result[], rdf: Factory): Quad[] {
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
 * The IRI of a resource that had a type, still has properties but has no type any more: an update must not do that, since
 * constraints and access rest on types (LinkedDataHub). Undefined where there is none.
 */
export function typeLost(before: Iterable<Quad>, after: Iterable<Quad>): string | undefined {
  const typed = new Set<string>()
  const untyped = new Set<string>()
  for (const { subject, predicate } of before) if (predicate.value === RDF_TYPE) typed.add(keyOf(subject))
  for (const { subject } of after) if (typed.has(keyOf(subject))) untyped.add(keyOf(subject))
  for (const { subject, predicate } of after) if (predicate.value === RDF_TYPE) untyped.delete(keyOf(subject))
  return untyped.values().next().value
}
