// Comparing a document of the store with the one of the history, and of journalling the difference.
import { isFailure, type Problem } from '../problem.js'
import type { Mirrored } from './all-documents.js'
import type { Mismatch } from './report.js'
import type { Author } from './settlement.js'
import { historyProblem } from './write-failures.js'

/** How long to wait for the history to read the branch, ms. */
const PATIENCE_MS = 30_000

export interface Divergence {
  readonly mismatch: Mismatch
  /** The document in the history. */
  readonly before: string | undefined
  /** The document in the store. */
  readonly content: string | undefined
}

/** Undefined where store and history have the same. To be called under the document's lock. */
export async function compare(
  { store, history, states }: Mirrored,
  document: string,
): Promise<Divergence | undefined | Problem> {
  const content = await states.stored(store, document)
  if (isFailure(content)) return content
  const before = await history.latest(document, PATIENCE_MS)
  if (isFailure(before)) return historyProblem(before)
  const same = await states.areSame(before, content)
  if (isFailure(same)) return same
  if (same) return undefined
  const mismatch =
    before === undefined ? 'missing in the repository' : content === undefined ? 'missing in the store' : 'changed'
  return { mismatch, before, content }
}

/**
 * Journals the document as the store has it, where the history has another state. To be called under its lock, when none of
 * its own changes is in doubt.
 */
export async function sweepDocument(
  mirrored: Mirrored,
  document: string,
  author: Author,
): Promise<Mismatch | undefined | Problem> {
  if (!mirrored.isRecorded(document)) return undefined
  const found = await compare(mirrored, document)
  if (found === undefined || isFailure(found)) return found
  const { mismatch, ...states } = found
  const entries = await mirrored.history.begin([{ document, ...states, ...author }])
  if (isFailure(entries)) return historyProblem(entries)
  await mirrored.history.done(entries)
  return mismatch
}
