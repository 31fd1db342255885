// The state of a document, made from the answer of its store. Pure: a thread reads large ones
// (documents/stored-state.ts).
import { blobId } from '../../versioning/git/fast-import.js'
import type { Problem } from '../problem.js'
import { canonicalLines } from '../rdf/canonical.js'
import { nTriplesOf } from '../rdf/graph.js'
import { NOT_N_TRIPLES } from '../rdf/read.js'

/** Canonical N-Triples, or Git's id of them. */
export type StateForm = 'text' | 'blob'

/** Undefined for an empty graph, which for the gateway does not exist. */
export function stateIn(nTriples: string, form: StateForm = 'text'): string | undefined | Problem {
  const lines = canonicalLines(nTriples)
  if (!lines) return NOT_N_TRIPLES
  if (lines.length === 0) return undefined
  const text = nTriplesOf({ lines })
  return form === 'blob' ? blobId(text) : text
}
