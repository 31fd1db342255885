// In charge of the state of a document in the store, as canonical N-Triples.
import { canonicalLines } from '../rdf/canonical.js'
import { nTriplesOf } from '../rdf/graph.js'
import { NOT_N_TRIPLES } from '../rdf/read.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'

/** Undefined for an empty graph: to the gateway it does not exist. */
export function canonicalNTriples(text: string): string | undefined | Problem {
  const lines = canonicalLines(text)
  return lines ? nTriplesOf({ lines }) || undefined : NOT_N_TRIPLES
}

/** The document as the store has it, in canonical N-Triples; undefined when it does not exist. */
export async function storedState(store: GraphStore, document: string): Promise<string | undefined | Problem> {
  const stored = await store.read(document)
  return stored === undefined || isFailure(stored) ? stored : canonicalNTriples(stored)
}
