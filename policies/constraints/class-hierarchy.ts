// In charge of rdfs:subClassOf: the superclasses of a class, in hierarchies that may hold circles. Pure.
import type { Quad, Term } from '@rdfjs/types'
import { SUB_CLASS_OF } from '../vocabulary.js'

/** A class or another node as the key of a map. */
export const keyOf = (node: Term): string => (node.termType === 'BlankNode' ? `_:${node.value}` : node.value)

/** The direct superclasses, by the key of the class. */
export type Hierarchy = ReadonlyMap<string, readonly Term[]>

export function hierarchyOf(triples: Iterable<Quad>): Hierarchy {
  const hierarchy = new Map<string, Term[]>()
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== SUB_CLASS_OF || object.termType === 'Literal') continue
    const superclasses = hierarchy.get(keyOf(subject))
    if (superclasses) superclasses.push(object)
    else hierarchy.set(keyOf(subject), [object])
  }
  return hierarchy
}

/** Finds the superclasses of a class, itself included, in several hierarchies taken together; each is looked up once. */
export function makeSuperclasses(...hierarchies: Hierarchy[]): (type: Term) => ReadonlyMap<string, Term> {
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
