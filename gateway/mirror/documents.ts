// In charge of an application's documents seen as a whole: those in its store, and those in its repository.
import { SetbackError } from '../../versioning/failure.js'
import type { History } from '../../versioning/history.js'
import type { Repository } from '../../versioning/repository.js'
import { problemOf } from './journalled-store.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { wholeText } from '../stores/whole-text.js'

/** An application with a history, as far as its mirror is concerned. */
export interface Mirrored {
  readonly base: string
  readonly store: GraphStore
  readonly history: History
  readonly repository: Repository
  /** The file of a document in the repository. */
  pathOf(document: string): string
  /** The document of a file; undefined for a file that is none's. */
  documentOf(path: string): string | undefined
  /** Whether a graph is a document of this application. */
  isDocument(graph: string): boolean
  /** What is in doubt of a document is settled (settlement.ts). To be called under its lock. */
  settle(document: string): Promise<undefined | Problem>
  readonly now: () => number
}

/** What came of going through all documents. */
export interface Outcome {
  readonly documents: number
  readonly differences: Readonly<Partial<Record<Difference, number>>>
  /** Documents that became one commit, in a repository that had none. */
  readonly imported?: number
  /** Why the branch is behind what is in the journal, where it is for longer than a moment. */
  readonly behind?: string
}

/** Hears how far it is, and what differs. */
export type Tell = (event: MirrorEvent) => void

export type MirrorEvent =
  | { readonly event: 'progress'; readonly documents: number; readonly of: number }
  | {
      readonly event: 'difference'
      readonly document: string
      readonly difference: Difference
      readonly detail?: string
    }

/** `in doubt`: what became of a write is not known yet, or too many wait for the document. */
export const DIFFERENCES = [
  'changed',
  'missing in the repository',
  'missing in the store',
  'unreadable',
  'in doubt',
] as const
export type Difference = (typeof DIFFERENCES)[number]

export const BROKEN_OFF = problem('server.closing', 'It was broken off before it was done.')

/** How many documents are read or written at once. */
const AT_ONCE = 8
const TELL_EVERY = 100
/** Bytes of the names of all graphs. */
const MAX_NAMES = 1024 * 1024 * 1024

/** What a problem says of its document; undefined where it is about more than one. */
export function differenceOf({ failure }: Problem): Difference | undefined {
  if (failure === 'store.failed' || failure === 'store.too-large' || failure === 'update.form') return 'unreadable'
  return failure === 'store.in-doubt' || failure === 'server.overloaded' ? 'in doubt' : undefined
}

/** The names of the documents in the store. */
export async function documentsIn({ store, base, isDocument }: Mirrored): Promise<readonly string[] | Problem> {
  const query = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) }`
  const text = await wholeText(store.query(query, 'text/tab-separated-values'), MAX_NAMES)
  if (isFailure(text)) return text
  // SPARQL 1.1 TSV §4: a line of variables, then a term in each line.
  const [header, ...rows] = text.split(/\r?\n/)
  const names = rows.filter(Boolean).map((row) => /^<([^\s<>]*)>$/.exec(row)?.[1])
  if (header !== '?g' || names.includes(undefined)) {
    return problem('store.failed', 'The answer of the triplestore to what graphs there are is not understood.')
  }
  return (names as string[]).filter(isDocument)
}

/** Git's ids of the documents at the head of the branch. */
export async function blobsIn({
  repository,
  documentOf,
  isDocument,
}: Mirrored): Promise<Map<string, string> | Problem> {
  const blobs = new Map<string, string>()
  return orProblem(async () => {
    for await (const { path, blob } of repository.files()) {
      const document = documentOf(path)
      if (document !== undefined && isDocument(document)) blobs.set(document, blob)
    }
    return blobs
  })
}

/** Which documents store and history have, by their names alone. What is in doubt is in neither of the differences. */
export interface Names {
  readonly stored: readonly string[]
  /** How many are at the head of the branch, and how many with what is done laid over it that is not committed yet. */
  readonly atHead: number
  readonly recorded: number
  readonly onlyStored: readonly string[]
  readonly onlyRecorded: readonly string[]
}

/** A problem of the history where that cannot be told, else of the store. */
export async function namesIn(mirrored: Mirrored): Promise<Names | Problem> {
  const { history } = mirrored
  const stored = await documentsIn(mirrored)
  if (isFailure(stored)) return stored
  const later = new Map<string, boolean>()
  const blobs = await orProblem(async () => {
    for await (const { document, content } of history.uncommitted()) later.set(document, content !== undefined)
    return blobsIn(mirrored)
  })
  if (isFailure(blobs)) return blobs
  const recorded = new Set(blobs.keys())
  for (const [document, isThere] of later) {
    if (isThere) recorded.add(document)
    else recorded.delete(document)
  }
  const [there, doubtful] = [new Set(stored), new Set(history.open().map(({ document }) => document))]
  return {
    stored,
    atHead: blobs.size,
    recorded: recorded.size,
    onlyStored: stored.filter((document) => !recorded.has(document) && !doubtful.has(document)),
    onlyRecorded: [...recorded].filter((document) => !there.has(document) && !doubtful.has(document)),
  }
}

export async function orProblem<T>(task: () => Promise<T>): Promise<T | Problem> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof SetbackError) return problemOf(error.setback)
    throw error
  }
}

/** What comes of each item, in their order; some are dealt with at once, and no more are taken than that. */
export async function* inParallel<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = []
  for await (const item of items) {
    const result = work(item)
    // Thrown where it is waited for.
    result.catch(() => undefined)
    underWay.push(result)
    if (underWay.length >= AT_ONCE) yield await underWay.shift()!
  }
  while (underWay.length > 0) yield await underWay.shift()!
}

/** Tells how far it is, now and then, and at the end. */
export function makeProgress(tell: Tell, of: number): () => void {
  let documents = 0
  tell({ event: 'progress', documents, of })
  return () => {
    documents++
    if (documents % TELL_EVERY === 0 || documents === of) tell({ event: 'progress', documents, of })
  }
}

/** Why the branch is behind for longer than a moment, if it is. */
export async function whyBehind({ history }: Mirrored, patience: number): Promise<string | undefined> {
  if (await history.settled(patience)) return undefined
  const { parked, lastError, blocked } = history.status()
  return parked ?? lastError ?? blocked[0]?.reason
}
