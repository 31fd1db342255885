// In charge of a dataspace's SHACL shapes, on which the constraints of documents rest (spec 4.1): they are read from the
// ontology documents of the admin application when first needed, and again after one of these has changed.
import { graphOf, nTriplesOf } from '../rdf/graph.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { wholeText } from '../stores/whole-text.js'
import { readStored } from '../rdf/read.js'
import { shapesIn } from '../../policies/constraints/constraints.js'

export interface Shapes {
  /** Names this state of the ontology documents. */
  readonly version: string
  /** All triples of the ontology documents, as canonical N-Triples. */
  readonly nTriples: string
}

export interface Ontologies {
  /** Undefined when no ontology document has a shape: then there is nothing to check. */
  shapes(): Promise<Shapes | undefined | Problem>
  /** A graph of the admin application has changed; or it may change until `until` (ms since the epoch). */
  changed(graph: string, until?: number): void
}

const LIMIT = 16 * 1024 * 1024

export function makeOntologies(store: GraphStore, adminBase: string, now: () => number): Ontologies {
  const folder = `${adminBase}ontologies/`
  let version = 0
  let doubtUntil = 0
  let reading: Promise<Shapes | undefined | Problem> | undefined

  async function read(): Promise<Shapes | undefined | Problem> {
    const asOf = version
    const query = `CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${folder}")) }`
    const text = await wholeText(store.query(query, 'application/n-triples'), LIMIT)
    if (isFailure(text)) return text
    const triples = readStored(text)
    if (isFailure(triples)) return triples
    return shapesIn(triples) ? { version: `${adminBase}#${asOf}`, nTriples: nTriplesOf(graphOf(triples)) } : undefined
  }

  const renew = (): void => {
    version++
    reading = undefined
  }

  return {
    async shapes() {
      const asked = (reading ??= read())
      const shapes = await asked
      // Failures are not remembered, nor is a state that a write in doubt may still change.
      if ((isFailure(shapes) || now() < doubtUntil) && reading === asked) renew()
      return shapes
    },
    changed(graph, until = 0) {
      if (!graph.startsWith(folder)) return
      doubtUntil = Math.max(doubtUntil, until)
      renew()
    },
  }
}
