// Caches graphs as answered by the store: how long, how many bytes, and how writes affect them. Cached graphs are the
// same for every agent; access is decided before the look-up (design 5). Cache-Control and Pragma of requests are
// ignored, as RFC 9111 §5.2.1 allows: for clients the gateway is the origin and its cache the current state. Otherwise
// each reload in a browser (max-age=0) would query the store.
import { LRUCache } from 'lru-cache'
import type { GraphVersions } from './graph-versions.js'

/** A graph as of the store's answer. `value` is undefined if it did not exist, which is cached too. */
export interface Stored<Value> {
  readonly value: Value | undefined
  /** Milliseconds since the epoch: when the store answered. */
  readonly answeredAt: number
  /** The graph's version (graph-versions.ts) when it was requested. The entry is valid until that increases. */
  readonly version: number
}

export interface StoredGraphs<Value, Failure, Client = unknown> {
  /**
   * Returns the cached graph synchronously if it is fresh, otherwise the store's answer. Sends one request at a time
   * per graph.
   * @param client for whom the store is asked
   */
  get(graph: string, client?: Client): Stored<Value> | Promise<Stored<Value> | Failure>
  /**
   * Like `get`, for a graph that satisfies a condition known to `ask`. There is no value, and nothing is cached, if the
   * graph does not satisfy it or does not exist.
   */
  getWhere(graph: string, condition: string, client?: Client): Stored<Value> | Promise<Stored<Value> | Failure>
  /**
   * The cached graph if it is fresh, without asking the store. `at`: the time in ms, if the caller has read the clock.
   */
  cached(graph: string, at?: number): Stored<Value> | undefined
  /** True if `get` would answer synchronously. */
  has(graph: string): boolean
  /** The store's current answer, whatever is cached: a writer must not overwrite a state that it has not seen. */
  fetch(graph: string, client?: Client): Promise<Stored<Value> | Failure>
  /**
   * Stores the graph after a write; undefined if the write removed it. `asOf` is the graph's version before the write
   * was sent: if it has increased since, an update of the whole dataset may have followed.
   */
  put(graph: string, value: Value | undefined, asOf: number): void
  /** Adds bytes to the size of the value, for example for a representation made from it. */
  grown(graph: string, value: object, bytes: number): void
  bytes(): number
}

export interface StoredGraphsSettings<Value, Failure, Client = unknown> {
  /** 0: nothing is cached. */
  readonly maxBytes: number
  /** The maximum age of an entry in ms; undefined: valid until the graph is known to have changed. */
  readonly maxAge?: number | undefined
  /** RFC 5861 §4: how much older an entry may be if the store fails, in ms. */
  readonly staleIfError: number
  readonly versions: GraphVersions
  readonly now: () => number
  readonly ask: (graph: string, client: Client | undefined, asked: AskedGraph) => Promise<Value | undefined | Failure>
  /** Called when another client waits for the same answer. */
  readonly joined?: (graph: string, client: Client) => void
  readonly isFailure: (answer: Value | undefined | Failure) => answer is Failure
  readonly sizeOf: (value: Value) => number
}

export interface AskedGraph {
  /** True if a write waits for the answer. */
  readonly isForWrite?: boolean
  /** The condition of `getWhere`. */
  readonly condition?: string
}

/** The settings shared by all graph caches of an application. */
export type CacheSettings = Pick<
  StoredGraphsSettings<object, object>,
  'maxBytes' | 'maxAge' | 'staleIfError' | 'versions' | 'now'
>

/** The size of an entry apart from its value. */
const OVERHEAD_BYTES = 256

export function makeStoredGraphs<Value extends object, Failure extends object, Client = unknown>(
  settings: StoredGraphsSettings<Value, Failure, Client>,
): StoredGraphs<Value, Failure, Client> {
  const { maxAge = Infinity, staleIfError, versions, now, ask, joined, isFailure, sizeOf } = settings
  const { valid, store, grown, bytes } = makeEntries<Value>(settings)
  const shared = makeShared<Stored<Value> | Failure>()

  function fresh(graph: string, at = now()): Stored<Value> | undefined {
    const stored = valid(graph)
    return stored && at - stored.answeredAt <= maxAge ? stored : undefined
  }

  async function fetch(graph: string, client: Client | undefined, asked: AskedGraph): Promise<Stored<Value> | Failure> {
    const asOf = versions.of(graph)
    const answer = await ask(graph, client, asked)
    if (isFailure(answer)) return answer
    const answeredAt = now()
    const stored = { value: answer, answeredAt, version: asOf }
    if (answer === undefined && asked.condition !== undefined) return stored
    if (versions.of(graph) === asOf && versions.isSettled(graph, answeredAt)) {
      store(graph, stored, answer ? sizeOf(answer) : 0)
    }
    return stored
  }

  async function fetchOnce(graph: string, client?: Client, asked: AskedGraph = {}): Promise<Stored<Value> | Failure> {
    const join = (): void => void (client !== undefined && joined?.(graph, client))
    const key = asked.condition === undefined ? graph : `${asked.condition} ${graph}`
    const answer = await shared(key, versions.of(graph), () => fetch(graph, client, asked), join)
    // Stored answers have this property, failures do not.
    if ('answeredAt' in answer) return answer
    const stale = valid(graph)
    return stale && now() - stale.answeredAt <= maxAge + staleIfError ? stale : answer
  }

  return {
    get: (graph, client) => fresh(graph) ?? fetchOnce(graph, client),
    getWhere: (graph, condition, client) => fresh(graph) ?? fetchOnce(graph, client, { condition }),
    cached: fresh,
    has: (graph) => fresh(graph) !== undefined,
    fetch: (graph, client) => fetch(graph, client, { isForWrite: true }),
    put(graph, value, asOf) {
      const isLast = versions.isSettled(graph, now()) && versions.of(graph) === asOf
      versions.changed(graph)
      if (isLast) store(graph, { value, answeredAt: now(), version: versions.of(graph) }, value ? sizeOf(value) : 0)
    },
    grown,
    bytes,
  }
}

interface Entries<Value> {
  /** The entry, if it is not known to have changed. */
  valid(graph: string): Stored<Value> | undefined
  store(graph: string, stored: Stored<Value>, bytes: number): void
  grown(graph: string, value: object, bytes: number): void
  bytes(): number
}

function makeEntries<Value extends object>({
  maxBytes,
  versions,
}: Pick<StoredGraphsSettings<Value, never>, 'maxBytes' | 'versions'>): Entries<Value> {
  const cached = maxBytes > 0 ? new LRUCache<string, Stored<Value>>({ maxSize: maxBytes }) : undefined
  const store = (graph: string, stored: Stored<Value>, bytes: number): void => {
    cached?.set(graph, stored, { size: OVERHEAD_BYTES + graph.length + bytes })
  }
  return {
    valid(graph) {
      const stored = cached?.get(graph)
      return stored?.version === versions.of(graph) ? stored : undefined
    },
    store,
    grown(graph, value, bytes) {
      const stored = cached?.peek(graph)
      if (stored?.value !== value) return
      const { size = 0 } = cached!.info(graph) ?? {}
      // Setting the same value again would not update its size.
      cached!.delete(graph)
      cached!.set(graph, stored, { size: Math.max(1, size + bytes) })
    },
    bytes: () => cached?.calculatedSize ?? 0,
  }
}

/** One request at a time per graph. Further clients share it as long as the graph has the same version. */
function makeShared<Answer>(): (
  graph: string,
  version: number,
  send: () => Promise<Answer>,
  join: () => void,
) => Promise<Answer> {
  const underWay = new Map<string, { readonly version: number; readonly answer: Promise<Answer> }>()
  return (graph, version, send, join) => {
    const known = underWay.get(graph)
    if (known?.version === version) {
      join()
      return known.answer
    }
    const request = { version, answer: send() }
    underWay.set(graph, request)
    const done = (): void => void (underWay.get(graph) === request && underWay.delete(graph))
    request.answer.then(done, done)
    return request.answer
  }
}
