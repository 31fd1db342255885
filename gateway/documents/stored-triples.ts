// In charge of reading the N-Triples that a triplestore answers with.
import { graphOf, nTriplesOf, type Quad } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'

export const storedTriples = (text: string): Quad[] | Problem =>
  readNTriples(text) ?? problem('store.failed', 'The triplestore answered with something that is not N-Triples.')

/** Undefined for an empty graph: to the gateway it does not exist. */
export function canonicalNTriples(text: string): string | undefined | Problem {
  const triples = storedTriples(text)
  return isFailure(triples) ? triples : nTriplesOf(graphOf(triples)) || undefined
}

/** The document as the store has it, in canonical N-Triples; undefined when it does not exist. */
export async function storedState(store: GraphStore, document: string): Promise<string | undefined | Problem> {
  const stored = await store.read(document)
  return stored === undefined || isFailure(stored) ? stored : canonicalNTriples(stored)
}
