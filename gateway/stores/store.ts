// In charge of the interface to a triplestore: what the gateway asks of one, whatever is behind it.
// http-store.ts speaks SPARQL 1.1 Protocol and Graph Store Protocol; embedded-store.ts runs Oxigraph in a worker.
import type { Problem } from '../problem.js'

/** What goes with each call: the signal ends it at the store too, at once. */
export interface Call {
  readonly signal?: AbortSignal
}

/** A graph as an update makes it: N-Triples, empty where nothing is left of it. */
export type GraphChange = readonly [graph: string, nTriples: string]

export interface UpdateCall extends Call {
  /** What a store that `announces` is about to change, before any of it is in force; a problem: then nothing is done. */
  readonly announce?: (changes: readonly GraphChange[]) => Promise<undefined | Problem>
}

export interface GraphStore {
  /** For log lines and messages: never holds credentials. */
  readonly name: string
  /**
   * The graph as N-Triples; undefined when the store has no triple in it. Never half a graph. `store.too-large` where it
   * would not fit into memory beside others.
   */
  read(graph: string, call?: Call): Promise<string | undefined | Problem>
  /** The same of any size, piece by piece as it comes. The iteration is that of `query`. */
  stream(graph: string, call?: Call): Promise<AsyncIterable<Uint8Array> | undefined | Problem>
  /** Makes the graph hold exactly these N-Triples (not empty), atomically. */
  replace(graph: string, nTriples: string, call?: Call): Promise<undefined | Problem>
  /** Removes the graph; one that is not there is no failure. */
  remove(graph: string, call?: Call): Promise<undefined | Problem>
  /**
   * A SPARQL query over the dataset; `accept` is the media type wanted. The bytes come as the store sends them. The
   * iteration throws a StoreBreak where the answer breaks off, so that half an answer is never taken for a whole one.
   */
  query(sparql: string, accept: string, call?: Call): Promise<AsyncIterable<Uint8Array> | Problem>
  /** Whether it tells what an update changes. */
  readonly announces?: true
  /** A SPARQL update over the dataset. */
  update(sparql: string, call?: UpdateCall): Promise<undefined | Problem>
  /** Whether the store answers a query now. */
  ready(call?: Call): Promise<undefined | Problem>
  close(): Promise<void>
}

/** The largest graph that is read whole, in bytes. */
export const MAX_GRAPH_BYTES = 64 * 1024 * 1024

/** Thrown by the iteration over an answer that broke off: carries the problem that it is. */
export class StoreBreak extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** How long after a write was given up the store may still do it, in ms: no store takes longer. */
export const LATEST_WRITE_MS = 130_000
