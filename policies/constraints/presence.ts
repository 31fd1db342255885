// Whether ontologies have constraints at all, decided without loading the code that reads them. Pure.
import type { Quad } from '@rdfjs/types'
import { SH } from './graph.js'

const SPIN_CONSTRAINT = 'http://spinrdf.org/spin#constraint'

export const isSpin = ({ predicate }: Quad): boolean => predicate.value === SPIN_CONSTRAINT

/** True if there may be a constraint: without properties of SHACL and spin:constraint nothing can be violated. */
export function constraintsIn(ontologies: Iterable<Quad>): boolean {
  for (const triple of ontologies) if (triple.predicate.value.startsWith(SH) || isSpin(triple)) return true
  return false
}
