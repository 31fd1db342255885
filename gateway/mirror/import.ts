// Imports documents that were not written through the gateway: many documents of a store in few commits.
import { makeUlids } from '../../versioning/journal/ulid.js'
import { isFailure, type Problem } from '../problem.js'
import { StoreBreak } from '../stores/store.js'
import type { Mirrored } from './all-documents.js'
import { ABORTED, makeMismatches, makeMirrorProgress, mismatchOf, type MirrorOutcome, type Report } from './report.js'
import { historyProblem } from './write-failures.js'

/**
 * The number of documents in one commit. Commits of writes wait for it, and an interrupted import continues after the
 * last one.
 */
const BATCH = 5_000

export interface ImportOptions {
  readonly report: Report
  readonly signal?: AbortSignal | undefined
}

/**
 * Commits these documents while it reads them. Clients may write meanwhile: those commits come later. Documents that
 * cannot be read are left out and reported.
 */
export async function importDocuments(
  mirrored: Mirrored,
  names: readonly string[],
  { report, signal }: ImportOptions,
): Promise<MirrorOutcome | Problem> {
  const { store, repository, history, pathOf, now, states } = mirrored
  const mismatches = makeMismatches(report)
  const progress = makeMirrorProgress(report, names.length)
  const nextId = makeUlids(now)
  let imported = 0

  async function* files(documents: readonly string[]): AsyncGenerator<{ path: string; content: string }> {
    for await (const { document, state } of states.each(store, documents, 'text')) {
      if (signal?.aborted) throw new StoreBreak(ABORTED)
      progress()
      // A write has already made a version of the state before it.
      if (state === undefined || history.isJournalled(document)) continue
      if (!isFailure(state)) {
        imported++
        yield { path: pathOf(document), content: state }
        continue
      }
      const mismatch = mismatchOf(state)
      if (!mismatch) throw new StoreBreak(state)
      mismatches.add(document, mismatch, state.detail)
    }
  }

  for (let at = 0; at < names.length; at += BATCH) {
    const change = { id: nextId(), method: 'SWEEP', agent: undefined, time: now() }
    try {
      const commit = await repository.commitFiles(files(names.slice(at, at + BATCH)), change)
      if (isFailure(commit)) return historyProblem(commit)
    } catch (error) {
      if (error instanceof StoreBreak) return error.problem
      throw error
    }
    history.refresh()
  }
  return { documents: names.length, differences: mismatches.counts, imported }
}
