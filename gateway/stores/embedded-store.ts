// The embedded triplestore, in memory: the graphs as they were written, and a replica of them in an Oxigraph thread for
// queries and updates. Reads and writes of documents never wait for a query; the replica can always be filled again
// from the graphs.
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { namedNode } from 'oxigraph'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { makeReplica, type Effects, type Replica } from './embedded-replica.js'
import type { Engine, GraphText, StoreWork } from './embedded-worker.js'
import { makeQuadRoom, memoryFor, type QuadRoom } from './embedded-limits.js'
import { editText } from './edit-text.js'
import { excerptOf, type ExcerptKind } from './document-facts-query.js'
import { hasBlankNode, irisIn, linesIn, textOfLines, utf8Pieces } from './n-triples-lines.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import {
  MAX_GRAPH_BYTES,
  type Call,
  type GraphEdit,
  type GraphStore,
  type ReplaceCall,
  type UpdateCall,
} from './store.js'
import { MOST_ORDERING, OXIGRAPH } from './oxigraph-traits.js'
import { givenUp, makeTurns, type Turns } from './connection-slots.js'

export interface EmbeddedStoreSettings {
  /**
   * How many queries and updates may wait for their turn, and how many writes may wait for an update; one more is
   * `store.overloaded`.
   */
  readonly queue?: number
  /** How long a query or an update may run, in ms: then it is stopped, with `store.time`. */
  readonly queryTimeout?: number
  /** The bytes that Oxigraph may take in addition to its data: a query or update that needs more is `store.failed`. */
  readonly memory?: number
  /** The most quads: a write of more is `store.full`. */
  readonly mostQuads?: number
  readonly log?: Log
  /** A graph with more characters is not read whole. */
  readonly maxGraphLength?: number
  /** LANG gives tags as a store with this trait does (rdf/literal-forms.ts). */
  readonly formatsTags?: boolean
}

const UNREADABLE = { ...problem('store.refused', 'The embedded triplestore cannot read these triples, or the graph’s name.'), reason: '' } // prettier-ignore
const TOO_LARGE = problem('store.too-large', 'The graph is too large to be read whole.')
const CLOSED = problem('store.failed', 'The embedded triplestore is closed.')

interface Embedded {
  /** N-Triples by the graph's IRI; '' is the default graph, which only updates write. */
  readonly graphs: Map<string, string>
  /** The excerpts of long texts, by graph. */
  readonly excerpts: Map<string, Readonly<Partial<Record<ExcerptKind, string>>>>
  readonly replica: Replica
  readonly room: QuadRoom
  readonly writing: Turns
  readonly running: Turns
  blankNodes: number
  updating: boolean
  closed: boolean
}

/**
 * An empty store. Reads are answered at once; so are writes, unless an update runs: then they wait until it ends.
 * Queries and updates run one after the other and see every write that was answered before. A call whose signal aborts
 * is answered at once; its work is stopped, or finished, within half a second. An update applies all of its changes at
 * once, or none. Blank nodes come back with the store's own labels, all other terms as they were written.
 */
export async function openEmbeddedStore(name: string, settings: EmbeddedStoreSettings = {}): Promise<GraphStore> {
  const { queue = 256, queryTimeout = 30_000, maxGraphLength = MAX_GRAPH_BYTES } = settings
  const room = makeQuadRoom(name, settings)
  const graphs = new Map<string, string>()
  const state: Embedded = {
    ...{ graphs, room },
    excerpts: new Map(),
    replica: makeReplica(graphs, () => engineFor(settings, room), queryTimeout),
    writing: makeTurns(1, queue),
    running: makeTurns(1, queue),
    blankNodes: 0,
    updating: false,
    closed: false,
  }
  return {
    name,
    async read(graph, { signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      const text = graphs.get(graph === DEFAULT_GRAPH ? '' : graph)
      return state.closed ? CLOSED : text && text.length > maxGraphLength ? TOO_LARGE : text
    },
    async excerpt(graph, kind, { signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      if (state.closed) return CLOSED
      const text = graphs.get(graph)
      return text === undefined ? undefined : (state.excerpts.get(graph)?.[kind] ?? excerptOf(text, graph, kind))
    },
    async stream(graph, { signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      const text = graphs.get(graph)
      return state.closed ? CLOSED : text === undefined ? undefined : eachOf(utf8Pieces(text))
    },
    async replace(graph, nTriples, call = {}) {
      const text = isGraphName(graph) ? storable(state, nTriples, call) : undefined
      return text === undefined ? UNREADABLE : write(state, [[graph, text]], call.signal)
    },
    remove: async (graph, { signal }: Call = {}) =>
      isGraphName(graph) ? write(state, [[graph, '']], signal) : UNREADABLE,
    async query(sparql, accept, call: Call = {}) {
      const effects = await inTurn(state, { kind: 'query', sparql, accept }, call)
      return isFailure(effects) ? effects : piecesOf(effects.pieces)
    },
    announces: true,
    traits: OXIGRAPH,
    mostOrdering: MOST_ORDERING,
    async update(sparql, call: UpdateCall = {}) {
      const effects = await inTurn(state, { kind: 'update', sparql }, call)
      return isFailure(effects) ? effects : undefined
    },
    edit: (edits, call: Call = {}) => edit(state, edits, call),
    async ready({ signal }: Call = {}) {
      if (signal?.aborted) return givenUp(signal)
      return state.closed ? CLOSED : undefined
    },
    async close() {
      state.closed = true
      await state.replica.close()
    },
  }
}

const engineFor = ({ memory = 2 ** 30, formatsTags = false }: EmbeddedStoreSettings, room: QuadRoom): Engine => ({
  memory: memoryFor(room.held(), memory),
  formatsTags,
})

/** Longer texts are searched when they are written: otherwise the time of an answer would reveal their length. */
const SHORT = 64 * 1024

function put({ graphs, excerpts, room }: Embedded, graph: string, text: string): void {
  room.changes(graphs.get(graph), text)
  if (text) graphs.set(graph, text)
  else graphs.delete(graph)
  if (text.length <= SHORT) excerpts.delete(graph)
  else excerpts.set(graph, { facts: excerptOf(text, graph, 'facts'), profile: excerptOf(text, graph, 'profile') })
}

async function write(state: Embedded, texts: readonly GraphText[], signal?: AbortSignal): Promise<undefined | Problem> {
  if (signal?.aborted) return givenUp(signal)
  if (state.updating) {
    const release = await state.writing.take(signal)
    if (isFailure(release)) return release
    release()
  }
  return state.closed ? CLOSED : (roomFor(state, texts) ?? putAll(state, texts))
}

const roomFor = ({ graphs, room }: Embedded, texts: readonly GraphText[]): Problem | undefined =>
  room.refuses(texts.map(([graph, text]) => [graphs.get(graph), text]))

function putAll(state: Embedded, texts: readonly GraphText[]): undefined {
  for (const [graph, text] of texts) {
    put(state, graph, text)
    state.replica.changed(graph)
  }
}

/** Changes to graphs with unknown content need an update, which can fail together with all other changes. */
async function edit(state: Embedded, edits: readonly GraphEdit[], call: Call): Promise<undefined | Problem> {
  const [texts, unknown]: [[string, string][], GraphEdit[]] = [[], []]
  for (const { graph, after, ...rest } of edits) {
    const text = after === undefined || !isGraphName(graph) ? undefined : storable(state, after, { canonical: true })
    if (after === undefined) unknown.push({ graph, ...rest })
    else if (text === undefined) return UNREADABLE
    else texts.push([graph, text])
  }
  if (unknown.length === 0) return write(state, texts, call.signal)
  const sparql = await editText(unknown)
  if (isFailure(sparql)) return sparql
  const work = { kind: 'update', sparql } as const
  const effects = await inTurn(state, work, {
    ...call,
    announce: async () => roomFor(state, texts) ?? putAll(state, texts),
  })
  return isFailure(effects) ? effects : undefined
}

/** Runs a query or an update when its turn comes. */
async function inTurn(state: Embedded, work: StoreWork, call: UpdateCall): Promise<Effects | Problem> {
  const { signal, asker } = call
  const release = await state.running.take(signal, asker)
  if (isFailure(release)) return release
  const effects = state.closed
    ? Promise.resolve(CLOSED)
    : work.kind === 'update'
      ? runUpdate(state, work, call)
      : state.replica.run(work, signal)
  void effects.then(release, release)
  return unlessAborted(effects, signal)
}

async function runUpdate(state: Embedded, work: StoreWork, call: UpdateCall): Promise<Effects | Problem> {
  // Fills an empty replica before writes have to wait.
  const filled = await state.replica.run({ kind: 'follow' }, call.signal)
  if (isFailure(filled)) return filled
  state.updating = true
  const release = await state.writing.take(call.signal)
  try {
    if (isFailure(release)) return release
    const effects = state.closed ? CLOSED : await state.replica.run(work, call.signal)
    return isFailure(effects) ? effects : await applyUpdate(state, effects, call)
  } finally {
    state.updating = false
    if (!isFailure(release)) release()
  }
}

/** Applies the changes that an update made in the replica. If the caller refuses them, the replica must undo them. */
async function applyUpdate(state: Embedded, effects: Effects, { announce }: UpdateCall): Promise<Effects | Problem> {
  let refused: Problem | 'not yet' | undefined = 'not yet'
  try {
    refused = roomFor(state, effects.changes) ?? (await announce?.(effects.changes))
    return refused ?? effects
  } finally {
    for (const [graph, text] of effects.changes) {
      if (refused) state.replica.changed(graph)
      else put(state, graph, text)
    }
  }
}

/** The text as it is stored; undefined if it cannot be stored. */
function storable(state: Embedded, nTriples: string, { canonical }: ReplaceCall): string | undefined {
  if (canonical && !mayHaveBlankNodes(nTriples)) return nTriples
  const lines = linesIn(nTriples, makeLabels(state))
  return lines && areStorable(lines) ? textOfLines(lines) : undefined
}

/** The store's own label for each label of a text. */
function makeLabels(state: Embedded): (written: string) => string {
  const labels = new Map<string, string>()
  return (written) => {
    const own = labels.get(written) ?? `_:b${++state.blankNodes}`
    labels.set(written, own)
    return own
  }
}

// Every object of the WebAssembly module has `free`, though its types do not say so.
const free = (object: object): void => (object as { free(): void }).free()

/** The absolute IRIs of RDF, as Oxigraph reads them, since it must accept them. */
function isGraphName(graph: string): boolean {
  try {
    free(namedNode(graph))
    return true
  } catch {
    return false
  }
}

/** Triples with a blank node are loaded into Oxigraph differently, which allows only IRIs of RFC 3987. */
const areStorable = (lines: ReadonlySet<string>): boolean =>
  [...lines].every((line) => !hasBlankNode(line) || irisIn(line).every(isGraphName))

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T | Problem> {
  if (!signal) return result
  return new Promise((resolve, reject) => {
    const leave = () => resolve(givenUp(signal))
    signal.addEventListener('abort', leave, { once: true })
    void result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

async function* eachOf(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** Frees each piece once it has been read. */
async function* piecesOf(pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  pieces.reverse()
  for (let piece = pieces.pop(); piece; piece = pieces.pop()) yield piece
}
