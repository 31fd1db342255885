// In charge of the embedded triplestore, in memory: the graphs as they were written, and a replica of them in an Oxigraph
// thread for queries and updates. Documents are read and written here, and never wait for a query; whatever becomes of
// the replica, it is filled again from here.
import { namedNode } from 'oxigraph'
import { makeReplica } from './embedded-replica.js'
import type { Work } from './embedded-worker.js'
import type { Outcome } from './embedded-thread.js'
import { hasBlankNode, irisIn, linesIn, textOf } from './n-triples-lines.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { MAX_GRAPH_BYTES, type Call, type GraphStore, type UpdateCall } from './store.js'
import { givenUp, makeTurns } from './turns.js'
import { utf8Pieces } from './utf8-pieces.js'

export interface EmbeddedStoreSettings {
  /** How many queries and updates may wait for their turn, and how many writes for an update: beyond it `store.overloaded`. */
  readonly queue?: number
  /** ms that a query or an update may run: then it is ended, and `store.time`. */
  readonly queryTimeout?: number
  /** Bytes that Oxigraph may take: a query or an update that needs more is `store.failed`. */
  readonly memory?: number
  /** A graph of more characters than this is not read whole. */
  readonly maxGraphLength?: number
}

const UNREADABLE = problem(
  'store.refused',
  'The embedded triplestore cannot read these triples, or the name of the graph.',
)
const TOO_LARGE = problem('store.too-large', 'The graph is too large to be read whole.')
const CLOSED = problem('store.failed', 'The embedded triplestore is closed.')

/**
 * An empty store. Reads are answered at once; so are writes, unless an update runs, for whose end they wait. Queries and
 * updates run one after the other and see every write that was answered before. One whose signal aborts is answered at
 * once; it ends, or is done, within half a second. An update changes all that it changes at once, or nothing. Blank nodes
 * come back with labels of the store's own, all other terms as they were written.
 */
export function openEmbeddedStore(
  name: string,
  {
    queue = 256,
    queryTimeout = 30_000,
    memory = 2 ** 30,
    maxGraphLength = MAX_GRAPH_BYTES,
  }: EmbeddedStoreSettings = {},
): Promise<GraphStore> {
  /** N-Triples by the graph's IRI; '' is the default graph, which only updates write. */
  const graphs = new Map<string, string>()
  const writing = makeTurns(1, queue)
  const running = makeTurns(1, queue)
  const replica = makeReplica(graphs, memory, queryTimeout)
  let blankNodes = 0
  let updating = false
  let closed = false

  function put(graph: string, text: string): void {
    if (text) graphs.set(graph, text)
    else graphs.delete(graph)
  }

  async function write(graph: string, text: string, signal?: AbortSignal): Promise<undefined | Problem> {
    if (signal?.aborted) return givenUp(signal)
    if (updating) {
      const release = await writing.take(signal)
      if (isFailure(release)) return release
      release()
    }
    if (closed) return CLOSED
    put(graph, text)
    replica.changed(graph)
    return undefined
  }

  async function runUpdate(work: Work, { signal, announce }: UpdateCall): Promise<Outcome> {
    // A replica that has to be filled is filled before writes have to wait.
    const filled = await replica.run({ kind: 'follow' }, signal)
    if (isFailure(filled)) return filled
    updating = true
    const release = await writing.take(signal)
    try {
      const outcome = isFailure(release) ? release : closed ? CLOSED : await replica.run(work, signal)
      if (isFailure(outcome)) return outcome
      let refused: Problem | 'not yet' | undefined = 'not yet'
      try {
        refused = await announce?.(outcome.changes)
        return refused ?? outcome
      } finally {
        for (const [graph, text] of outcome.changes) {
          if (refused) replica.changed(graph)
          else put(graph, text)
        }
      }
    } finally {
      updating = false
      if (!isFailure(release)) release()
    }
  }

  async function inTurn(work: Work, call: UpdateCall): Promise<Outcome> {
    const { signal } = call
    const release = await running.take(signal)
    if (isFailure(release)) return release
    const outcome = closed
      ? Promise.resolve(CLOSED)
      : work.kind === 'update'
        ? runUpdate(work, call)
        : replica.run(work, signal)
    void outcome.finally(release)
    return unlessAborted(outcome, signal)
  }

  const label = (): ((written: string) => string) => {
    const labels = new Map<string, string>()
    return (written) => {
      const own = labels.get(written) ?? `_:b${++blankNodes}`
      labels.set(written, own)
      return own
    }
  }

  return Promise.resolve<GraphStore>({
    name,
    async read(graph, { signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      const text = graphs.get(graph)
      return closed ? CLOSED : text && text.length > maxGraphLength ? TOO_LARGE : text
    },
    async stream(graph, { signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      const text = graphs.get(graph)
      return closed ? CLOSED : text === undefined ? undefined : eachOf(utf8Pieces(text))
    },
    async replace(graph, nTriples, { signal }: Call = {}) {
      const lines = linesIn(nTriples, label())
      if (!lines || !isGraphName(graph) || !areStorable(lines)) return UNREADABLE
      return write(graph, textOf(lines), signal)
    },
    async remove(graph, { signal }: Call = {}) {
      return isGraphName(graph) ? write(graph, '', signal) : UNREADABLE
    },
    async query(sparql, accept, call: Call = {}) {
      const outcome = await inTurn({ kind: 'query', sparql, accept }, call)
      return isFailure(outcome) ? outcome : piecesOf(outcome.pieces)
    },
    announces: true,
    async update(sparql, call: UpdateCall = {}) {
      const outcome = await inTurn({ kind: 'update', sparql }, call)
      return isFailure(outcome) ? outcome : undefined
    },
    async ready({ signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      return closed ? CLOSED : undefined
    },
    async close() {
      closed = true
      await replica.close()
    },
  })
}

// Every object of the WebAssembly module has it, though its types do not say so.
const free = (object: object): void => (object as { free(): void }).free()

/** The absolute IRIs of RDF: as Oxigraph has them, since it must take them. */
function isGraphName(graph: string): boolean {
  try {
    free(namedNode(graph))
    return true
  } catch {
    return false
  }
}

/** A triple with a blank node goes into Oxigraph by another way, which takes only what RFC 3987 allows. */
const areStorable = (lines: ReadonlySet<string>): boolean =>
  [...lines].every((line) => !hasBlankNode(line) || irisIn(line).every(isGraphName))

function unlessAborted<T>(outcome: Promise<T>, signal: AbortSignal | undefined): Promise<T | Problem> {
  if (!signal) return outcome
  return new Promise((resolve) => {
    const leave = () => resolve(givenUp(signal))
    signal.addEventListener('abort', leave, { once: true })
    void outcome.then((value) => {
      signal.removeEventListener('abort', leave)
      resolve(value)
    })
  })
}

async function* eachOf(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** Each piece is let go of as it is read. */
async function* piecesOf(pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  pieces.reverse()
  for (let piece = pieces.pop(); piece; piece = pieces.pop()) yield piece
}
