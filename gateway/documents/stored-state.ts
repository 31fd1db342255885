// In charge of the state of a document in the store, as canonical N-Triples.
import { graphOf, nTriplesOf } from '../rdf/graph.js'
import { readStored } from '../rdf/read.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'

/** Undefined for an empty graph: to the gateway it does not exist. */
export function canonicalNTriples(text: string): string | undefined | Problem {
  const triples = readStored(text)
  return isFailure(triples) ? triples : nTriplesOf(graphOf(triples)) || undefined
}

/** The document as the store has it, in canonical N-Triples; undefined when it does not exist. */
export async function storedState(store: GraphStore, document: string): Promise<string | undefined | Problem> {
  const stored = await store.read(document)
  return stored === undefined || isFailure(stored) ? stored : canonicalNTriples(stored)
}
