// In charge of keeping graphs as the store answered them: for how long, in how many bytes, and what a write makes of them.
// What is kept is nobody's in particular; who may have it is decided before it is looked up (design 5).
// Cache-Control and Pragma of a request are left alone, as a cache may (RFC 9111 §5.2.1): to clients this is the origin, and
// what it keeps is what is there. Otherwise each reload in a browser (max-age=0) would be a question at the store.
import { LRUCache } from 'lru-cache'
import type { GraphVersions } from './graph-versions.js'

/** A graph as it was when the store answered. `value` is undefined when there was none: that is kept too. */
export interface Stored<Value> {
  readonly value: Value | undefined
  /** Milliseconds since the epoch: when the store answered. */
  readonly answeredAt: number
  /** The graph's version (graph-versions.ts) when it was asked for: it is valid until that has grown. */
  readonly version: number
}

export interface StoredGraphs<Value, Failure> {
  /** The cached answer where it is fresh, at once; else the answer of the store: one question at a time for a graph. */
  get(graph: string): Stored<Value> | Promise<Stored<Value> | Failure>
  /** What the store answers now, whatever is kept: for writers, who must not write over what they have not seen. */
  fetch(graph: string): Promise<Stored<Value> | Failure>
  /**
   * What a write has put there; undefined when it has removed the graph. `asOf` is the graph's version before the store
   * was asked: had it grown since, an update of the whole dataset could have come after the write.
   */
  put(graph: string, value: Value | undefined, asOf: number): void
  /** The value has grown by so many bytes, as by a representation made from it. */
  grown(graph: string, value: Value, bytes: number): void
  bytes(): number
}

export interface StoredGraphsSettings<Value, Failure> {
  /** 0: nothing is kept. */
  readonly maxBytes: number
  /** How old an answer may get, in ms; undefined: until it is known to have changed. */
  readonly maxAge?: number | undefined
  /** RFC 5861 §4: how much older than that it may be served when the store fails, in ms. */
  readonly staleIfError: number
  readonly versions: GraphVersions
  readonly now: () => number
  readonly ask: (graph: string) => Promise<Value | undefined | Failure>
  readonly isFailure: (answer: Value | undefined | Failure) => answer is Failure
  readonly sizeOf: (value: Value) => number
}

/** What an entry takes beside its value. */
const OVERHEAD_BYTES = 256

export function makeStoredGraphs<Value extends object, Failure extends object>(
  settings: StoredGraphsSettings<Value, Failure>,
): StoredGraphs<Value, Failure> {
  const { maxBytes, maxAge = Infinity, staleIfError, versions, now, ask, isFailure, sizeOf } = settings
  const kept = maxBytes > 0 ? new LRUCache<string, Stored<Value>>({ maxSize: maxBytes }) : undefined
  const underWay = new Map<string, { readonly version: number; readonly answer: Promise<Stored<Value> | Failure> }>()

  const keep = (graph: string, stored: Stored<Value>, bytes: number): void => {
    kept?.set(graph, stored, { size: OVERHEAD_BYTES + graph.length + bytes })
  }

  async function fetch(graph: string): Promise<Stored<Value> | Failure> {
    const asOf = versions.of(graph)
    const answer = await ask(graph)
    if (isFailure(answer)) return answer
    const answeredAt = now()
    const stored = { value: answer, answeredAt, version: asOf }
    if (versions.of(graph) === asOf && versions.isSettled(graph, answeredAt)) {
      keep(graph, stored, answer ? sizeOf(answer) : 0)
    }
    return stored
  }

  /** What is kept and not known to have changed. */
  const valid = (graph: string): Stored<Value> | undefined => {
    const stored = kept?.get(graph)
    return stored?.version === versions.of(graph) ? stored : undefined
  }
  const isFresh = ({ answeredAt }: Stored<Value>): boolean => now() - answeredAt <= maxAge

  async function fetchOnce(graph: string): Promise<Stored<Value> | Failure> {
    const version = versions.of(graph)
    const asking = underWay.get(graph)
    const asked = asking?.version === version ? asking : { version, answer: fetch(graph) }
    if (asked !== asking) {
      underWay.set(graph, asked)
      const done = (): void => void (underWay.get(graph) === asked && underWay.delete(graph))
      asked.answer.then(done, done)
    }
    const answer = await asked.answer
    // A stored answer has a time, a failure has none.
    if ('answeredAt' in answer) return answer
    const stale = valid(graph)
    return stale && now() - stale.answeredAt <= maxAge + staleIfError ? stale : answer
  }

  return {
    get(graph) {
      const stored = valid(graph)
      return stored && isFresh(stored) ? stored : fetchOnce(graph)
    },
    fetch,
    put(graph, value, asOf) {
      const isLast = versions.of(graph) === asOf
      versions.changed(graph)
      if (isLast) keep(graph, { value, answeredAt: now(), version: versions.of(graph) }, value ? sizeOf(value) : 0)
    },
    grown(graph, value, bytes) {
      const stored = kept?.peek(graph)
      if (stored?.value !== value) return
      const entry = kept!.info(graph)
      keep(graph, stored, (entry?.size ?? 0) - OVERHEAD_BYTES - graph.length + bytes)
    },
    bytes: () => kept?.calculatedSize ?? 0,
  }
}
