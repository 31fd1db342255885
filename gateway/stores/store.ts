// The interface to a triplestore, the same for all stores.
// http-store.ts speaks SPARQL 1.1 Protocol and Graph Store Protocol; embedded-store.ts runs Oxigraph in a worker.
import type { Readable } from 'node:stream'
import type { Problem } from '../problem.js'
import type { StoreTraits } from '../sparql/rights/restrict-query.js'
import type { ExcerptKind } from './document-facts-query.js'
import type { Asker } from './fair-queue.js'

/** The options of each call. The signal stops it at once, at the store too. */
export interface Call {
  readonly signal?: AbortSignal
  /** The asker of a query: askers take turns. Undefined: the gateway itself. */
  readonly asker?: Asker
  /** For a query about a graph: true if a write waits for the answer, not a reader. */
  readonly isForWrite?: boolean
}

/** A graph after an update: N-Triples, empty if the update removed the graph. */
export type GraphChange = readonly [graph: string, nTriples: string]

export interface ReplaceCall extends Call {
  /** The text is canonical (rdf/graph.ts), so an embedded store need not parse it. */
  readonly canonical?: true
  /** The current content of the store, also canonical, if that is certain: then only the difference may be sent. */
  readonly before?: string | undefined
}

export interface UpdateCall extends Call {
  /** Receives the changes of an update before a store that `announces` applies them. A problem stops the update. */
  readonly announce?: (changes: readonly GraphChange[]) => Promise<undefined | Problem>
}

/** The changes of a graph, in canonical lines. */
export interface GraphEdit {
  /** An IRI, or DEFAULT_GRAPH (sparql/language/graph-sets.ts). */
  readonly graph: string
  /** First removes all lines of the graph. */
  readonly isCleared: boolean
  /** Removing a missing line is not a failure. */
  readonly removed: readonly string[]
  readonly added: readonly string[]
  /** The whole graph afterwards, if known: canonical, '' if it is removed. */
  readonly after?: string
}

export interface GraphStore {
  /** For log lines and messages: never holds credentials. */
  readonly name: string
  /**
   * The graph, or DEFAULT_GRAPH (sparql/language/graph-sets.ts), as N-Triples; undefined when the store has no triple
   * in it. Never half a graph. `store.too-large` if it is too large for memory.
   */
  read(graph: string, call?: Call): Promise<string | undefined | Problem>
  /**
   * A few triples of the graph (document-facts-query.ts) as N-Triples, in a time that does not depend on its size;
   * undefined if the store has no triple in it. Slow queries do not delay it.
   */
  excerpt(graph: string, kind: ExcerptKind, call?: Call): Promise<string | undefined | Problem>
  /**
   * The graph as `read` returns it, if it states that its own IRI has this type. Undefined if it does not, if the store
   * has no triple in it, or if it is long. Absent if it would save no request.
   */
  readTyped?(graph: string, type: string, call?: Call): Promise<string | undefined | Problem>
  /** Reads a graph of any size piece by piece. The iteration throws like that of `query`. */
  stream(graph: string, call?: Call): Promise<AsyncIterable<Uint8Array> | undefined | Problem>
  /** Makes the graph hold exactly these N-Triples (not empty), atomically. */
  replace(graph: string, nTriples: string, call?: ReplaceCall): Promise<undefined | Problem>
  /** Removes the graph; removing a missing graph is not a failure. */
  remove(graph: string, call?: Call): Promise<undefined | Problem>
  /**
   * A SPARQL query over the dataset; `accept` is the media type of the answer, whose bytes are streamed. The iteration
   * throws a StoreBreak if the answer breaks off, so that half an answer never looks complete.
   */
  query(sparql: string, accept: string, call?: Call): Promise<AsyncIterable<Uint8Array> | Problem>
  /** True if the store calls `announce` for each update. */
  readonly announces?: true
  /** How the store answers queries, if this is known. */
  readonly traits?: StoreTraits
  /**
   * The most work of ordering patterns (sparql/language/ordering-work.ts) that a query may cause, if more would block
   * all other clients.
   */
  readonly mostOrdering?: number
  /** A SPARQL update over the dataset. */
  update(sparql: string, call?: UpdateCall): Promise<undefined | Problem>
  /** Present if calls on several graphs can share a request (grouped-store.ts). */
  readonly together?: Together
  /**
   * Makes all of these changes as one update, or none: `update.form` if SPARQL cannot express them. `announce` is not
   * called.
   */
  edit(edits: readonly GraphEdit[], call?: Call): Promise<undefined | Problem>
  /** The whole dataset as N-Quads, in one state, piece by piece. Absent if the store does not support it. */
  quads?(call?: Call): Promise<AsyncIterable<Uint8Array> | Problem>
  /** Adds N-Quads, as one transaction. Their blank nodes are new ones. */
  addQuads?(nQuads: string | Readable, call?: Call): Promise<undefined | Problem>
  /**
   * Waits for the running calls. Then no request reaches the store until the returned function is called: calls wait,
   * for a time, and then are `store.overloaded`.
   */
  pause?(signal: AbortSignal): Promise<(() => void) | Problem>
  /** Asks whether the store answers a query now, or has been paused. */
  ready(call?: Call): Promise<undefined | Problem>
  close(): Promise<void>
}

/** SPARQL sent by the gateway itself: slow queries and updates of clients do not delay it. */
export interface Together {
  /** The answer to a SELECT as TSV; `store.too-large` above MOST_TOGETHER. */
  select(query: string): Promise<string | undefined | Problem>
  update(update: string): Promise<undefined | Problem>
  /** True if the store is known to write terms in TSV as they are stored, and to run an update as one transaction. */
  isKnown(): boolean
}

/** The largest answer about several graphs, in bytes. */
export const MOST_TOGETHER = 512 * 1024

/** The largest graph that is read whole, in bytes. */
export const MAX_GRAPH_BYTES = 64 * 1024 * 1024

/** Thrown by the iteration over an answer that broke off: carries the problem. */
export class StoreBreak extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** How long the store may still carry out a write after the gateway has given it up, in ms. */
export const LATEST_WRITE_MS = 130_000
