// In charge of importing documents that were not written through the gateway: many documents of a store as one commit.
import { makeUlids } from '../../versioning/journal/ulid.js'
import { isFailure, type Problem } from '../problem.js'
import { StoreBreak } from '../stores/store.js'
import { inParallel, type Mirrored } from './mirrored.js'
import { ABORTED, makeMismatches, makeProgress, mismatchOf, type MirrorOutcome, type Report } from './report.js'
import { historyProblem } from './write-failures.js'

const INDEXED_MS = 120_000

export interface ImportOptions {
  readonly report: Report
  readonly signal?: AbortSignal | undefined
}

/**
 * Commits these documents while it reads them. Clients may write meanwhile: those commits come later. Documents that cannot
 * be read are left out and reported.
 */
export async function importDocuments(
  mirrored: Mirrored,
  names: readonly string[],
  { report, signal }: ImportOptions,
): Promise<MirrorOutcome | Problem> {
  const { store, repository, history, pathOf, now, states } = mirrored
  const mismatches = makeMismatches(report)
  let imported = 0

  async function* files(): AsyncGenerator<{ path: string; content: string }> {
    const progress = makeProgress(report, names.length)
    const read = async (document: string) => ({ document, state: await states.stored(store, document) })
    for await (const { document, state } of inParallel(names, read)) {
      if (signal?.aborted) throw new StoreBreak(ABORTED)
      progress()
      if (state === undefined) continue
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

  if (names.length > 0) {
    const change = { id: makeUlids(now)(), method: 'SWEEP', agent: undefined, time: now() }
    try {
      const commit = await repository.commitFiles(files(), change)
      if (isFailure(commit)) return historyProblem(commit)
    } catch (error) {
      if (error instanceof StoreBreak) return error.problem
      throw error
    }
    history.refresh()
    await history.settled(INDEXED_MS)
  }
  return { documents: names.length, differences: mismatches.counts, imported }
}
