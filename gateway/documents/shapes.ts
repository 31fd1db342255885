// In charge of the dataspace's SHACL shapes: those in the ontology documents of the admin application, read when first
// needed and again after one of them has changed. The constraints of documents (spec 4.1) rest on them.
import { graphOf, nTriplesOf } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import type { GraphStore } from '../stores/store.js'
import { wholeText } from '../stores/whole-text.js'
import { shapesIn } from '../../policies/constraints/constraints.js'

/** The ontologies' triples as canonical N-Triples; `version` names this state of them. */
export interface Shapes {
  readonly version: string
  readonly nTriples: string
}

export interface Ontologies {
  /** Undefined when no ontology document holds a shape: then there is nothing to check. */
  shapes(): Promise<Shapes | undefined | Problem>
  /** A graph of the admin application has changed; or it may, until then (ms since the epoch). */
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
    const triples = readNTriples(text)
    if (!triples) return problem('store.failed', 'The triplestore answered with something that is not N-Triples.')
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
      // A failure is not kept, and neither is what was read before a change.
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
