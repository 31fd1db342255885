// Types of resources, which an update must not remove (LinkedDataHub 6.5). Pure.
import type { Quad } from '@rdfjs/types'
import { RDF_TYPE } from '../vocabulary.js'
import { termKeyOf } from './graph.js'

/**
 * The IRI of a resource that had a type and still has properties, but no longer has a type; undefined if there is none.
 * Constraints and access depend on types (LinkedDataHub 6.5).
 */
export function typeLost(before: Iterable<Quad>, after: Iterable<Quad>): string | undefined {
  const typed = new Set<string>()
  const untyped = new Set<string>()
  for (const { subject, predicate } of before) if (predicate.value === RDF_TYPE) typed.add(termKeyOf(subject))
  for (const { subject } of after) if (typed.has(termKeyOf(subject))) untyped.add(termKeyOf(subject))
  for (const { subject, predicate } of after) if (predicate.value === RDF_TYPE) untyped.delete(termKeyOf(subject))
  return untyped.values().next().value
}
