// In charge of a document as read from its store: its content, the facts that access and preconditions rest on, and the
// representations that have been made from it. What the store answered is kept (cache/stored-graphs.ts).
import { digestOf, entityTag } from '../../cache/entity-tag.js'
import {
  makeStoredGraphs,
  type Stored,
  type StoredGraphs,
  type StoredGraphsSettings,
} from '../../cache/stored-graphs.js'
import type { Application } from '../gateway.js'
import { graphOf, nTriplesOf, valuesOf, type Graph } from '../rdf/graph.js'
import { describeLarge } from './large-document.js'
import type { Trace } from '../log.js'
import type { Format } from '../http/media-type.js'
import { lastModifiedOf, typesOf } from './next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { ONE_PIECE } from '../http/ready-head.js'
import { readNTriples } from '../rdf/read.js'
import { noDecisions, type Decisions } from './remembered-decisions.js'
import { writeGraph } from '../rdf/write.js'
import type { Awaitable } from '../steps.js'
import type { GraphStore } from '../stores/store.js'
import { isDocumentUri } from '../http/target.js'
import { ACL } from '../rdf/vocabulary.js'

/** What is known of a document of any size: access rests on it. */
export interface Described {
  readonly iri: string
  readonly types: readonly string[]
  readonly owners: readonly string[]
  /** Milliseconds since the epoch. */
  readonly lastModified: number | undefined
  /** Decisions on this very state, by mode and agent: each holds while `version` is that of the rules. */
  readonly decisions: Decisions
}

export interface Document extends Described {
  /** Canonical N-Triples. */
  readonly nTriples: string
  /** The same for the same triples, on every instance (design 3). */
  readonly digest: string
  /** The triples: parsed again when they are asked for a second time, for they take far more room than their text. */
  graph(): Graph
  /** Made when first asked for, by the code of the format. */
  readonly representations: Map<string, Representation>
}

export interface Representation {
  readonly bytes: Buffer
  /** The same bytes, a character each, where they are few. */
  readonly text?: string
}

/** A document too large to be held: it is streamed (read-large.ts). */
export interface LargeDocument extends Described {
  /** The graph's version (graph-versions.ts) that this is known of. */
  readonly version: number
  /** Undefined until all of it has been streamed. */
  digest: string | undefined
}

export const isLarge = (document: Described): document is LargeDocument => 'version' in document

export type Documents = StoredGraphs<Document | LargeDocument, Problem>

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
    decisions: noDecisions(),
  }
}

/** In bytes of N-Triples. Every request about a document reads all of it: what grows by appending has to end somewhere. */
export const MAX_DOCUMENT = 32 * 1024 * 1024

/** About what is known of a large document. */
const LARGE_BYTES = 4096

/** What the application's documents are kept in, and asked for from. */
export const makeDocuments = (
  store: GraphStore,
  base: string,
  settings: Pick<StoredGraphsSettings<Document, Problem>, 'maxBytes' | 'maxAge' | 'staleIfError' | 'versions' | 'now'>,
): Documents =>
  makeStoredGraphs<Document | LargeDocument, Problem>({
    ...settings,
    isFailure: isFailure,
    sizeOf: (document) => (isLarge(document) ? LARGE_BYTES : 2 * document.nTriples.length),
    async ask(iri) {
      const version = settings.versions.of(iri)
      const nTriples = await store.read(iri)
      if (isFailure(nTriples) && nTriples.failure === 'store.too-large') return describeLarge(store, iri, base, version)
      if (nTriples === undefined || isFailure(nTriples)) return nTriples
      const triples = readNTriples(nTriples)
      if (!triples) return problem('store.failed', 'The triplestore answered with something that is not N-Triples.')
      return triples.length === 0 ? undefined : documentOf(iri, base, graphOf(triples))
    },
  })

/** The document as it is kept, else as the store answers. */
export function readDocument(
  { cache }: Application,
  iri: string,
  trace: Trace,
): Awaitable<Stored<Document | LargeDocument> | Problem> {
  const found = cache.documents.get(iri)
  return found instanceof Promise ? trace.store(found) : found
}

/** The document as the store answers now. */
export function readDocumentNow(
  { cache }: Application,
  iri: string,
  trace: Trace,
): Promise<Stored<Document | LargeDocument> | Problem> {
  return trace.store(cache.documents.fetch(iri))
}

/** Whether a URL of the application leads to this graph as its document: not one of the admin application under it. */
export const isDocumentOf = (
  { base, kind }: { readonly base: string; readonly kind: 'end-user' | 'admin' },
  adminBase: string,
  graph: string,
): boolean => graph.startsWith(base) && (kind === 'admin' || !graph.startsWith(adminBase)) && isDocumentUri(graph, base)

export const entityTagOf = ({ digest }: Document, { code }: Format): string => entityTag(digest, code)

/** The ready bytes of the document in a format. */
export function representationOf({ cache }: Application, document: Document, format: Format): Representation | Problem {
  const ready = document.representations.get(format.code)
  if (ready) return ready
  const written = writeGraph(document.graph(), format)
  if (isFailure(written)) return written
  const bytes = Buffer.from(written)
  const representation = { bytes, ...(bytes.length <= ONE_PIECE && { text: bytes.toString('latin1') }) }
  document.representations.set(format.code, representation)
  cache.documents.grown(document.iri, document, 2 * bytes.length)
  return representation
}
