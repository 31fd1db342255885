// In charge of filling an empty store from the repository and the journal.
import type { OpenEntry } from '../../versioning/history.js'
import type { Locks } from '../documents/lock.js'
import { verify } from './mirror.js'
import {
  blobsIn,
  inParallel,
  makeProgress,
  namesIn,
  orProblem,
  type Mirrored,
  type Outcome,
  type Tell,
} from './documents.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import type { GraphStore } from '../stores/store.js'

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
  const names = await namesIn(mirrored)
  if (isFailure(names)) return names
  if (names.recorded === 0) {
    return problem('history.failed', `${mirrored.repository.name} has no documents: there is nothing to rebuild from.`)
  }
  if (names.stored.length > 0 && !force) return { occupied: names.stored.length }
  const unreadable = await fillStore(mirrored, tell)
  if (isFailure(unreadable)) return unreadable
  const outcome = await verify(mirrored, locks, tell)
  if (isFailure(outcome) || unreadable === 0) return outcome
  return { ...outcome, differences: { ...outcome.differences, unreadable } }
}

/**
 * What is committed, and what is in the journal laid over it. Documents that the store cannot read are left out, and told:
 * so many.
 */
export async function fillStore(mirrored: Mirrored, tell: Tell): Promise<number | Problem> {
  const { store, repository, history, documentOf, isDocument } = mirrored
  let unreadable = 0
  async function put({ document, content }: State): Promise<undefined | Problem> {
    const failed = await (content === undefined ? store.remove(document) : store.replace(document, content))
    if (!failed) return undefined
    if (!(await isUnreadable(store, content, failed))) return { ...failed, detail: `${document}: ${failed.detail}` }
    unreadable++
    const detail = `${failed.detail} ${await placeOf(mirrored, document)}`
    tell({ event: 'difference', document, difference: 'unreadable', detail })
    return undefined
  }
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
    if (isFailure(blobs)) return blobs
    const progress = makeProgress(tell, blobs.size)
    for await (const failed of inParallel(committed(), put)) {
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
    const failed = await put({ document, content })
    if (failed) return failed
  }
  await history.done(open)
  await history.undone(unread)
  return unreadable
}

interface State {
  readonly document: string
  readonly content: string | undefined
}

/** Whether it is this very text that the store does not take: it takes others. */
async function isUnreadable(store: GraphStore, content: string | undefined, { failure }: Problem): Promise<boolean> {
  if (content === undefined) return false
  if (!readNTriples(content)) return true
  return failure === 'store.refused' && (await store.update('INSERT DATA {}')) === undefined
}

/** Where to look for what is wrong. */
async function placeOf({ history, pathOf }: Mirrored, document: string): Promise<string> {
  const found = await history.versions(document, INDEXED_MS)
  const commit = isFailure(found) ? undefined : found.versions.at(-1)?.commit
  return `It is ${pathOf(document)}${commit === undefined ? '' : ` as at commit ${commit}`}.`
}

const INDEXED_MS = 2_000

const isUnread = ({ unread }: OpenEntry): boolean => unread !== undefined
