// In charge of the first import: all documents of a store as one commit, in a repository that has none of them.
import { isSetback } from '../versioning/change.js'
import { makeUlids } from '../versioning/ulid.js'
import { problemOf } from './journalled-store.js'
import type { Log } from './log.js'
import {
  BROKEN_OFF,
  blobsIn,
  differenceOf,
  documentsIn,
  inParallel,
  makeProgress,
  type Difference,
  type Mirrored,
  type Outcome,
  type Tell,
} from './mirror-documents.js'
import { StartFailure } from './open-stores.js'
import { isProblem, type Problem } from './problem.js'
import { stateOf } from './settlement.js'
import { StoreBreak } from './store.js'

const INDEXED_MS = 120_000
const LOG_EVERY_MS = 5_000

/**
 * Commits all documents as they are read. Writes may go on beside it: their commits come after it. What cannot be read is
 * left out, and told.
 */
export async function importDocuments(
  mirrored: Mirrored,
  tell: Tell,
  signal?: AbortSignal,
): Promise<Outcome | Problem> {
  const { store, repository, history, pathOf, now } = mirrored
  const names = await documentsIn(mirrored)
  if (isProblem(names)) return names
  const differences: Partial<Record<Difference, number>> = {}
  let imported = 0

  async function* files(documents: readonly string[]): AsyncGenerator<{ path: string; content: string }> {
    const progress = makeProgress(tell, documents.length)
    const read = async (document: string) => ({ document, state: await stateOf(store, document) })
    for await (const { document, state } of inParallel(documents, read)) {
      if (signal?.aborted) throw new StoreBreak(BROKEN_OFF)
      progress()
      if (state === undefined) continue
      if (!isProblem(state)) {
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
      if (isSetback(commit)) return problemOf(commit)
    } catch (error) {
      if (error instanceof StoreBreak) return error.problem
      throw error
    }
    history.refresh()
    await history.settled(INDEXED_MS)
  }
  return { documents: names.length, differences, imported }
}

/**
 * The first import, where it has to be, before the gateway serves. A repository that cannot be reached now does not keep it
 * from that: it is told what is left to be done. Throws StartFailure where the store cannot be read.
 */
export async function importAtStart(mirrored: Mirrored, log: Log): Promise<void> {
  const { base, repository, now } = mirrored
  let told = now()
  const tell: Tell = (event) => {
    if (event.event === 'difference') log.error(event, 'a document is left out of the first import')
    else if (now() - told >= LOG_EVERY_MS) {
      told = now()
      log.info({ base, documents: event.documents, of: event.of }, 'importing documents into the repository')
    }
  }
  const blobs = await blobsIn(mirrored)
  if (!isProblem(blobs) && blobs.size > 0) return
  const outcome = isProblem(blobs) ? blobs : await importDocuments(mirrored, tell)
  if (!isProblem(outcome)) {
    const { imported } = outcome
    if (imported) log.info({ base, repository: repository.name, documents: imported }, 'imported as one commit')
  } else if (outcome.code.startsWith('history.')) {
    const mend = 'documents that were there before may be missing in the repository: run triplegate mirror sweep'
    log.warn({ base, repository: repository.name, problem: outcome.detail }, mend)
  } else throw new StartFailure(`${base}: the documents could not be imported into the repository. ${outcome.detail}`)
}
