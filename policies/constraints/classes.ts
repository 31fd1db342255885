// Classes: their superclasses, and the statements of the ontologies that complete a document's data. Pure.
import type { Quad, Term } from '@rdfjs/types'
import { RDF_TYPE, SUB_CLASS_OF } from '../vocabulary.js'
import { grouped, termKeyOf } from './graph.js'

/** The direct superclasses, by the key of the class. */
export type Hierarchy = ReadonlyMap<string, readonly Quad[]>

/** The superclasses of a class, including itself. */
export type Superclasses = (type: Term) => ReadonlyMap<string, Term>

export const hierarchyOf = (triples: Iterable<Quad>): Hierarchy =>
  bySubject(triples, ({ predicate, object }) => predicate.value === SUB_CLASS_OF && object.termType !== 'Literal')

/** Combines several hierarchies, which may contain cycles. */
export function makeSuperclasses(...hierarchies: readonly Hierarchy[]): Superclasses {
  const known = new Map<string, Map<string, Term>>()
  return (type) => {
    const found = known.get(termKeyOf(type))
    if (found) return found
    const reached = new Map([[termKeyOf(type), type]])
    for (const key of reached.keys()) {
      for (const { object } of hierarchies.flatMap((hierarchy) => hierarchy.get(key) ?? [])) {
        reached.set(termKeyOf(object), object)
      }
    }
    known.set(termKeyOf(type), reached)
    return reached
  }
}

/**
 * Statements of the ontologies about resources that the document does not describe: the types of resources that it
 * refers to, and the superclasses of classes that it uses. They complete the data graph.
 */
export function backgroundOf(
  document: readonly Quad[],
  ontologyTypes: ReadonlyMap<string, readonly Quad[]>,
  hierarchy: Hierarchy,
): readonly Quad[] {
  const described = new Set(document.map(({ subject }) => termKeyOf(subject)))
  const others = new Set(document.map(({ object }) => termKeyOf(object)).filter((key) => !described.has(key)))
  const types = [...others].flatMap((key) => ontologyTypes.get(key) ?? [])
  const used = [...document, ...types].filter(({ predicate }) => predicate.value === RDF_TYPE)
  const superclasses = makeSuperclasses(hierarchy)
  const classes = new Set(used.flatMap(({ object }) => [...superclasses(object).keys()]))
  return [...types, ...[...classes].filter((key) => !described.has(key)).flatMap((key) => hierarchy.get(key) ?? [])]
}

export const classesIn = (ontologies: Iterable<Quad>): ReadonlyMap<string, readonly Quad[]> =>
  bySubject(ontologies, ({ predicate }) => predicate.value === RDF_TYPE)

const bySubject = (triples: Iterable<Quad>, isWanted: (triple: Quad) => boolean) =>
  grouped([...triples].filter(isWanted), ({ subject }) => termKeyOf(subject))
