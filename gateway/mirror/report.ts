// The report of a run over all documents of an application: its events, and its outcome.
import { problem, type Problem, type ProblemCode } from '../problem.js'
import type { Orphans } from './find-orphans.js'
import type { KnownOtherGraphs, OtherGraphs } from './other-graphs.js'

/** `in doubt`: the outcome of a write is not known yet, or too many requests wait for the document. */
export const MISMATCHES = [
  'changed',
  'missing in the repository',
  'missing in the store',
  'unreadable',
  'in doubt',
] as const
/** How a document of the store differs from the repository's. */
export type Mismatch = (typeof MISMATCHES)[number]

export interface MirrorOutcome {
  readonly documents: number
  /** The number of documents with each mismatch. */
  readonly differences: Readonly<Partial<Record<Mismatch, number>>>
  /** The number of documents committed together, in a repository that had none. */
  readonly imported?: number
  /** The orphans that a verification has found. They do not count as differences. */
  readonly orphans?: Orphans
  /** The graphs of the store that are not documents, found by a verification. They do not count as differences. */
  readonly others?: OtherGraphs
  /** The graphs that the store had in addition to its documents, found by a rebuild; null if unknown. */
  readonly notRebuilt?: KnownOtherGraphs | null
  /** Why the branch lacks changes that the journal has, if that lasts for longer than a moment. */
  readonly behind?: string
}

export type MirrorEvent =
  | { readonly event: 'progress'; readonly documents: number; readonly of: number }
  | {
      readonly event: 'difference'
      readonly document: string
      readonly difference: Mismatch
      readonly detail?: string
    }

/** Receives each event as it happens. */
export type Report = (event: MirrorEvent) => void

/** The outcome of a run that its client has aborted. */
export const ABORTED = problem('server.closing', 'The run was aborted. Start it again.')

const UNREADABLE: ReadonlySet<ProblemCode> = new Set([
  'store.failed',
  'store.too-large',
  'store.unreadable',
  'update.form',
])

/** The mismatch for a problem with one document; undefined if the problem concerns more than that document. */
export function mismatchOf({ failure }: Problem): Mismatch | undefined {
  if (UNREADABLE.has(failure)) return 'unreadable'
  return failure === 'store.in-doubt' || failure === 'server.overloaded' ? 'in doubt' : undefined
}

export interface Mismatches {
  readonly counts: Partial<Record<Mismatch, number>>
  /** Counts a mismatch and reports it. */
  add(document: string, mismatch: Mismatch, detail?: string): void
}

export function makeMismatches(report: Report): Mismatches {
  const counts: Partial<Record<Mismatch, number>> = {}
  return {
    counts,
    add(document, difference, detail) {
      counts[difference] = (counts[difference] ?? 0) + 1
      report({ event: 'difference', document, difference, ...(detail !== undefined && { detail }) })
    },
  }
}

const PROGRESS_EVERY = 100

/** Reports the progress now, after every 100 documents, and at the end. Call it for each document. */
export function makeMirrorProgress(report: Report, of: number): () => void {
  let documents = 0
  report({ event: 'progress', documents, of })
  return () => {
    documents++
    if (documents % PROGRESS_EVERY === 0 || documents === of) report({ event: 'progress', documents, of })
  }
}
