// In charge of filling an empty store from the repository and the journal.
import type { OpenEntry } from '../versioning/history.js'
import type { Locks } from './lock.js'
import { verify } from './mirror.js'
import {
  blobsIn,
  inParallel,
  makeProgress,
  orProblem,
  namesIn,
  type Mirrored,
  type Outcome,
  type Tell,
} from './mirror-documents.js'
import { isProblem, type Problem } from './problem.js'

/** The store has documents of the application, so many: nothing was done. */
export interface Occupied {
  readonly occupied: number
}

export interface RebuildOptions {
  /** Writes what the repository has over what the store has. Documents that the repository has not are left in any case. */
  readonly force: boolean
  readonly tell: Tell
}

/** Fills the store, and verifies it then. For a store that no gateway is in front of. */
export async function rebuild(
  mirrored: Mirrored,
  locks: Locks,
  { force, tell }: RebuildOptions,
): Promise<Outcome | Occupied | Problem> {
  const there = await documentsIn(mirrored)
  if (isProblem(there)) return there
  if (there.length > 0 && !force) return { occupied: there.length }
  const failed = await fillStore(mirrored, tell)
  return failed ?? verify(mirrored, locks, tell)
}

/**
 * What is committed, and what is in the journal laid over it. Documents that the store cannot read are left out, and told:
 * so many.
 */
export async function fillStore(mirrored: Mirrored, tell: Tell): Promise<number | Problem> {
  const { store, repository, history, documentOf, isDocument } = mirrored
  const put = (document: string, content: string | undefined): Promise<undefined | Problem> =>
    content === undefined ? store.remove(document) : store.replace(document, content)
  async function* committed(): AsyncGenerator<{ document: string; content: string }> {
    for await (const { path, content } of repository.contents()) {
      const document = documentOf(path)
      if (document !== undefined && isDocument(document)) yield { document, content }
    }
  }
  // Read first, laid over what is committed: a commit made meanwhile is in either.
  const later = new Map<string, string | undefined>()
  const filled = await orProblem(async () => {
    for await (const { document, content } of history.uncommitted()) later.set(document, content)
    const blobs = await blobsIn(mirrored)
    if (isProblem(blobs)) return blobs
    const progress = makeProgress(tell, blobs.size)
    for await (const failed of inParallel(committed(), ({ document, content }) => put(document, content))) {
      if (failed) return failed
      progress()
    }
    return undefined
  })
  if (filled) return filled
  // What was begun when the process ended is done: nobody was told that it was not. What an update made is not known.
  const [unread, open] = [history.open().filter(isUnread), history.open().filter((entry) => !isUnread(entry))]
  for (const { document, content } of open) later.set(document, content)
  for (const [document, content] of later) {
    const failed = await put(document, content)
    if (failed) return failed
  }
  await history.done(open)
  await history.undone(unread)
  return undefined
}

const isUnread = ({ unread }: OpenEntry): boolean => unread !== undefined
