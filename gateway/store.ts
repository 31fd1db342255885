// In charge of the interface to a triplestore: what the gateway asks of one, whatever is behind it.
// http-store.ts speaks SPARQL 1.1 Protocol and Graph Store Protocol; embedded-store.ts runs Oxigraph in a worker.
import type { Problem } from './problem.js'

/** What goes with each call: the signal ends it at the store too, at once. */
export interface Call {
  readonly signal?: AbortSignal
}

export interface GraphStore {
  /** For log lines and messages: never holds credentials. */
  readonly name: string
  /** The graph as N-Triples; undefined when the store has no triple in it. Never half a graph. */
  read(graph: string, call?: Call): Promise<string | undefined | Problem>
  /** Makes the graph hold exactly these N-Triples (not empty), atomically. */
  replace(graph: string, nTriples: string, call?: Call): Promise<undefined | Problem>
  /** Removes the graph; one that is not there is no failure. */
  remove(graph: string, call?: Call): Promise<undefined | Problem>
  /**
   * A SPARQL query over the dataset; `accept` is the media type wanted. The bytes come as the store sends them. The
   * iteration throws a StoreBreak where the answer breaks off, so that half an answer is never taken for a whole one.
   */
  query(sparql: string, accept: string, call?: Call): Promise<AsyncIterable<Uint8Array> | Problem>
  /** A SPARQL update over the dataset. */
  update(sparql: string, call?: Call): Promise<undefined | Problem>
  /** Whether the store answers a query now. */
  ready(call?: Call): Promise<undefined | Problem>
  close(): Promise<void>
}

/** Thrown by the iteration over an answer that broke off: carries the problem that it is. */
export class StoreBreak extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}
