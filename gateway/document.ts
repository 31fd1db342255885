// In charge of a document as read from its store: its content, the facts that access and preconditions rest on, and the
// representations that have been made from it. What the store answered is kept (cache/stored-graphs.ts).
import { digestOf, entityTag } from '../cache/entity-tag.js'
import { makeStoredGraphs, type Stored, type StoredGraphs, type StoredGraphsSettings } from '../cache/stored-graphs.js'
import type { Decision } from '../policies/decide.js'
import type { Application } from './gateway.js'
import { graphOf, nTriplesOf, valuesOf, type Graph } from './graph.js'
import type { Trace } from './log.js'
import type { Format } from './negotiate.js'
import { lastModifiedOf, typesOf } from './next-state.js'
import { isProblem, problem, type Problem } from './problem.js'
import { readNTriples } from './rdf-read.js'
import { writeGraph } from './rdf-write.js'
import type { GraphStore } from './store.js'
import { ACL } from './vocabulary.js'

export interface Document {
  readonly iri: string
  /** Canonical N-Triples. */
  readonly nTriples: string
  readonly types: readonly string[]
  readonly owners: readonly string[]
  /** Milliseconds since the epoch. */
  readonly lastModified: number | undefined
  /** The same for the same triples, on every instance (design 3). */
  readonly digest: string
  /** The triples: parsed again when they are asked for a second time, for they take far more room than their text. */
  graph(): Graph
  /** Made when first asked for, by the code of the format. */
  readonly representations: Map<string, Buffer>
  /** Decisions on this very state, by agent and mode: each holds while `version` is that of the rules. */
  readonly decisions: Map<string, Remembered>
}

export interface Remembered {
  readonly version: number
  readonly decision: Decision
  /** The fields of a 200 by the code of the format, names and values in turn, without Age. */
  readonly heads: Map<string, readonly string[]>
}

export type Documents = StoredGraphs<Document, Problem>

export function documentOf(iri: string, base: string, graph: Graph): Document {
  const nTriples = nTriplesOf(graph)
  let parsed: Graph | undefined = graph
  return {
    iri,
    nTriples,
    types: typesOf(graph, iri, base),
    owners: valuesOf(graph, iri, ACL('owner')),
    lastModified: lastModifiedOf(graph, iri),
    digest: digestOf(graph.lines),
    graph() {
      const triples = parsed ?? graphOf(readNTriples(nTriples)!)
      parsed = undefined
      return triples
    },
    representations: new Map(),
    decisions: new Map(),
  }
}

/** What the application's documents are kept in, and asked for from. */
export const makeDocuments = (
  store: GraphStore,
  base: string,
  settings: Pick<StoredGraphsSettings<Document, Problem>, 'maxBytes' | 'maxAge' | 'staleIfError' | 'versions' | 'now'>,
): Documents =>
  makeStoredGraphs<Document, Problem>({
    ...settings,
    isFailure: isProblem,
    sizeOf: ({ nTriples }) => 2 * nTriples.length,
    async ask(iri) {
      const nTriples = await store.read(iri)
      if (nTriples === undefined || isProblem(nTriples)) return nTriples
      const triples = readNTriples(nTriples)
      if (!triples) return problem('store.failed', 'The triplestore answered with something that is not N-Triples.')
      return triples.length === 0 ? undefined : documentOf(iri, base, graphOf(triples))
    },
  })

/** The document as it is kept, else as the store answers. */
export function readDocument({ cache }: Application, iri: string, trace: Trace): Promise<Stored<Document> | Problem> {
  return trace.store(cache.documents.get(iri))
}

/** The document as the store answers now. */
export function readDocumentNow(
  { cache }: Application,
  iri: string,
  trace: Trace,
): Promise<Stored<Document> | Problem> {
  return trace.store(cache.documents.fetch(iri))
}

export const entityTagOf = ({ digest }: Document, { code }: Format): string => entityTag(digest, code)

/** The ready bytes of the document in a format. */
export function representationOf({ cache }: Application, document: Document, format: Format): Buffer | Problem {
  const ready = document.representations.get(format.code)
  if (ready) return ready
  const written = writeGraph(document.graph(), format)
  if (isProblem(written)) return written
  const bytes = Buffer.from(written)
  document.representations.set(format.code, bytes)
  cache.documents.grown(document.iri, document, bytes.length)
  return bytes
}
