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
/** In which way a document of the store and the one of the repository are not the same. */
export type Mismatch = (typeof MISMATCHES)[number]

export interface MirrorOutcome {
  readonly documents: number
  /** How many documents there are of each mismatch. */
  readonly differences: Readonly<Partial<Record<Mismatch, number>>>
  /** How many documents were committed together, in a repository that had none. */
  readonly imported?: number
  /** Of a verification. They are no difference. */
  readonly orphans?: Orphans
  /** Of a verification: graphs of the store that are no documents. They are no difference. */
  readonly others?: OtherGraphs
  /** Of a rebuild: the graphs that the store had beside its documents; null where that is not known. */
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
export const ABORTED = problem('server.closing', 'It was aborted before it had finished. Run it again.')

const UNREADABLE: ReadonlySet<ProblemCode> = new Set([
  'store.failed',
  'store.too-large',
  'store.unreadable',
  'update.form',
])

/**
 * The mismatch that a problem with one document stands for; undefined where the problem is with more than that
 * document.
 */
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

/** Reports the progress now and at the end, and in between every 100 documents. To be called for each document. */
export function makeMirrorProgress(report: Report, of: number): () => void {
  let documents = 0
  report({ event: 'progress', documents, of })
  return () => {
    documents++
    if (documents % PROGRESS_EVERY === 0 || documents === of) report({ event: 'progress', documents, of })
  }
}
