// In charge of importing documents that were not written through the gateway: many of a store as one commit.
import { makeUlids } from '../../versioning/journal/ulid.js'
import { problemOf } from './journalled-store.js'
import {
  BROKEN_OFF,
  differenceOf,
  inParallel,
  makeProgress,
  type Difference,
  type Mirrored,
  type Outcome,
  type Tell,
} from './documents.js'
import { isFailure, type Problem } from '../problem.js'
import { stateOf } from './settlement.js'
import { StoreBreak } from '../stores/store.js'

const INDEXED_MS = 120_000

/**
 * Commits these documents as they are read. Writes may go on beside it: their commits come after it. What cannot be read is
 * left out, and told.
 */
export async function importDocuments(
  mirrored: Mirrored,
  names: readonly string[],
  tell: Tell,
  signal?: AbortSignal,
): Promise<Outcome | Problem> {
  const { store, repository, history, pathOf, now } = mirrored
  const differences: Partial<Record<Difference, number>> = {}
  let imported = 0

  async function* files(documents: readonly string[]): AsyncGenerator<{ path: string; content: string }> {
    const progress = makeProgress(tell, documents.length)
    const read = async (document: string) => ({ document, state: await stateOf(store, document) })
    for await (const { document, state } of inParallel(documents, read)) {
      if (signal?.aborted) throw new StoreBreak(BROKEN_OFF)
      progress()
      if (state === undefined) continue
      if (!isFailure(state)) {
        imported++
        yield { path: pathOf(document), content: state }
        continue
      }
      const difference = differenceOf(state)
      if (!difference) throw new StoreBreak(state)
      differences[difference] = (differences[difference] ?? 0) + 1
      tell({ event: 'difference', document, difference, detail: state.detail })
    }
  }

  if (names.length > 0) {
    const change = { id: makeUlids(now)(), method: 'SWEEP', agent: undefined, time: now() }
    try {
      const commit = await repository.commitFiles(files(names), change)
      if (isFailure(commit)) return problemOf(commit)
    } catch (error) {
      if (error instanceof StoreBreak) return error.problem
      throw error
    }
    history.refresh()
    await history.settled(INDEXED_MS)
  }
  return { documents: names.length, differences, imported }
}
