// All documents of an application: those in its store, and those in its repository.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { History } from '../../versioning/history.js'
import { caughtSetback } from '../../versioning/failure.js'
import type { Repository } from '../../versioning/repository.js'
import type { States } from '../documents/stored-state.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { eachGraph } from '../stores/graph-names.js'
import { select } from '../stores/select.js'
import { makeSliceTurns } from '../stores/slices.js'
import { historyProblem } from './write-failures.js'

/** An application with a history or a log: its store and its repository, which are kept equal. */
export interface Mirrored {
  /** There is a log, and no history: the repository has no versions but the newest. */
  readonly isLog?: boolean
  readonly base: string
  readonly store: GraphStore
  readonly history: History
  readonly repository: Repository
  readonly states: States
  /** The file of a document in the repository. */
  pathOf(document: string): string
  /** The document of a file; undefined for a file that is not a document's. */
  documentOf(path: string): string | undefined
  /** True if a graph is a document of this application. */
  isDocument(graph: string): boolean
  /**
   * True if writes of a graph become versions of it: graphs that are not documents have versions from their first write
   * on.
   */
  isRecorded(graph: string): boolean
  /** The applications that share the store: their bases, and whether a graph is a document of one of them. */
  readonly sharers: {
    readonly bases: readonly string[]
    isDocument(graph: string): boolean
    /** True if a graph may get this name. */
    mayBecome?(graph: string): boolean
  }
  /** Settles the writes in doubt to a document (settlement.ts). Call it under the document's lock. */
  settle(document: string): Promise<undefined | Problem>
  /** A problem if the store was restored to an earlier state: content read from it must not become a version. */
  confirm(): Promise<undefined | Problem>
  readonly now: () => number
}

/** The names of the documents in the store. */
export async function documentsIn({ store, isDocument }: Mirrored): Promise<readonly string[] | Problem> {
  const names: string[] = []
  const failed = await eachGraph(store, {}, (graph) => {
    if (isDocument(graph)) names.push(graph)
  })
  return failed ?? names
}

/** Git's ids of the documents at the head of the branch, and of other graphs there. */
export async function blobsIn({
  repository,
  documentOf,
  isRecorded,
}: Mirrored): Promise<Map<string, string> | Problem> {
  const blobs = new Map<string, string>()
  const turn = makeSliceTurns()
  return orProblem(async () => {
    for await (const { path, blob } of repository.files()) {
      const document = documentOf(path)
      if (document !== undefined && isRecorded(document)) blobs.set(document, blob)
      await turn()
    }
    return blobs
  })
}

/** The documents of store and history, by name only. */
export interface DocumentNames {
  readonly stored: readonly string[]
  /** How many documents are at the head of the branch. */
  readonly atHead: number
  /** How many documents the history has: those at the head, after the changes that are done but not committed yet. */
  readonly recorded: number
  /** Documents with a write in doubt are in neither list. */
  readonly onlyStored: readonly string[]
  readonly onlyRecorded: readonly string[]
}

/** If they cannot be listed: a problem of the history (`history.…`), otherwise of the store. */
export async function namesIn(mirrored: Mirrored): Promise<DocumentNames | Problem> {
  const { history } = mirrored
  const stored = await documentsIn(mirrored)
  if (isFailure(stored)) return stored
  const existsLater = new Map<string, boolean>()
  const blobs = await orProblem(async () => {
    for await (const { document, content } of history.uncommitted()) existsLater.set(document, content !== undefined)
    return blobsIn(mirrored)
  })
  if (isFailure(blobs)) return blobs
  const recorded = new Set<string>()
  for await (const slice of inSlices(blobs.keys()))
    for (const document of slice) if (mirrored.isDocument(document)) recorded.add(document)
  for (const [document, exists] of existsLater) {
    if (exists && mirrored.isDocument(document)) recorded.add(document)
    else recorded.delete(document)
  }
  const [inStore, inDoubt] = [new Set<string>(), new Set(history.open().map(({ document }) => document))]
  const [onlyStored, onlyRecorded]: [string[], string[]] = [[], []]
  for await (const slice of inSlices(stored))
    for (const document of slice) {
      inStore.add(document)
      if (!recorded.has(document) && !inDoubt.has(document)) onlyStored.push(document)
    }
  for await (const slice of inSlices(recorded))
    for (const document of slice) if (!inStore.has(document) && !inDoubt.has(document)) onlyRecorded.push(document)
  return { stored, atHead: blobs.size, recorded: recorded.size, onlyStored, onlyRecorded }
}

/** True if the store has a document. Goes through all of its graphs only if it has none. */
export async function hasDocuments(mirrored: Mirrored): Promise<boolean | Problem> {
  const { store, base, isDocument } = mirrored
  const first = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) } LIMIT ${SOME}`
  const rows = await select(store, first, ['g'], {})
  if (isFailure(rows)) return rows
  if (rows.some(([graph]) => graph?.termType === 'NamedNode' && isDocument(graph.value))) return true
  if (rows.length < SOME) return false
  const all = await documentsIn(mirrored)
  return isFailure(all) ? all : all.length > 0
}

/** How many graphs are checked first. */
const SOME = 100

export async function orProblem<T>(task: () => Promise<T>): Promise<T | Problem> {
  try {
    return await task()
  } catch (error) {
    return historyProblem(caughtSetback(error))
  }
}

/** How many items are handled before other work runs. */
const SLICE = 1_000

/** Splits long lists, so that they do not delay the event loop. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<readonly T[]> {
  let slice: T[] = []
  for (const item of items) {
    if (slice.push(item) < SLICE) continue
    yield slice
    slice = []
    await eventLoopTurn()
  }
  yield slice
}

/** How many documents are read or written at a time. */
const AT_ONCE = 8

/** The results in the order of the items. Takes an item only when it can be worked on. */
export async function* inParallel<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  atOnce = AT_ONCE,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = []
  for await (const item of items) {
    const result = work(item)
    // A rejection is thrown below, when the result is awaited.
    result.catch(() => undefined)
    underWay.push(result)
    if (underWay.length >= atOnce) yield await underWay.shift()!
  }
  while (underWay.length > 0) yield await underWay.shift()!
}

/** Why the branch still lacks changes of the journal after `patience` ms; undefined if it has them. */
export async function whyBehind({ history }: Mirrored, patience: number): Promise<string | undefined> {
  if (await history.settled(patience)) return undefined
  const { parked, lastError, blocked } = history.status()
  return parked ?? lastError ?? blocked[0]?.reason
}
