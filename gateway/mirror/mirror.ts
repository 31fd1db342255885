// In charge of keeping an application's repository equal to its store (design 6): what differs is told, or is committed.
import { blobId } from '../../versioning/git/fast-import.js'
import { problemOf } from './journalled-store.js'
import { everyWrite, type Locks, type Release } from '../documents/lock.js'
import {
  BROKEN_OFF,
  blobsIn,
  differenceOf,
  documentsIn,
  inParallel,
  makeProgress,
  namesIn,
  whyBehind,
  type Difference,
  type Mirrored,
  type Names,
  type Outcome,
  type Tell,
} from './documents.js'
import { areSame } from '../rdf/same-graph.js'
import { importDocuments } from './import.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { stateOf, type Author, type SettlementSettings } from './settlement.js'

export type { Difference, MirrorEvent, Mirrored, Outcome, Tell } from './documents.js'

/** How long is waited for the branch to be read, ms. */
const PATIENCE_MS = 30_000
/** And for commits: while others write, there may be some outstanding at any time. */
const COMMITS_MS = 2_000

/** Says what differs between the store and the tree at the head of the branch. Nothing is changed. */
export async function verify(
  mirrored: Mirrored,
  locks: Locks,
  tell: Tell,
  signal?: AbortSignal,
): Promise<Outcome | Problem> {
  mirrored.history.refresh()
  const behind = await whyBehind(mirrored, COMMITS_MS)
  const examine = async (document: string): Promise<Difference | undefined | Problem> => {
    const found = await compare(mirrored, document)
    return found === undefined || isFailure(found) ? found : found.difference
  }
  const outcome = await walk(mirrored, underLocks(mirrored, locks, besideWrites(mirrored), examine), tell, signal)
  return isFailure(outcome) || behind === undefined ? outcome : { ...outcome, behind }
}

/**
 * Commits what was changed behind the gateway, a commit for each document; all in one where the repository has none.
 * @param force even where the store seems to have lost its documents
 */
export async function sweep(
  mirrored: Mirrored,
  locks: Locks,
  tell: Tell,
  signal?: AbortSignal,
  force = false,
): Promise<Outcome | Problem> {
  const { history, now } = mirrored
  history.refresh()
  await history.settled(COMMITS_MS)
  const names = await namesIn(mirrored)
  if (isFailure(names)) return names
  const lost = force ? undefined : whyLost(names, mirrored)
  if (lost !== undefined) return problem('history.failed', lost)
  const author = { method: 'SWEEP', agent: undefined, time: now() }
  const examine = (document: string) => sweepDocument(mirrored, document, author)
  const outcome =
    names.atHead === 0
      ? await importDocuments(mirrored, names.onlyStored, tell, signal)
      : await walk(mirrored, underLocks(mirrored, locks, besideWrites(mirrored), examine), tell, signal)
  if (isFailure(outcome)) return outcome
  const behind = await whyBehind(mirrored, COMMITS_MS)
  return behind === undefined ? outcome : { ...outcome, behind }
}

/** So many deletions are looked at by nobody twice. */
const FEW = 10

/** Why it seems that the store has lost documents, or is another. */
function whyLost({ recorded, onlyRecorded }: Names, { store, repository }: Mirrored): string | undefined {
  const gone = onlyRecorded.length
  if (gone === 0 || (gone < recorded && (gone <= FEW || 2 * gone <= recorded))) return undefined
  return (
    `the triplestore ${store.name} lacks ${gone} of the ${recorded} documents that ${repository.name} has, and that would ` +
    'be committed. Is it the right one? Fill it with triplegate mirror rebuild, or commit the deletions with --force.'
  )
}

/** As `sweep`, in the name of whose update it was, while no other write is let in: each document is locked, and no more. */
export function sweepAll(
  mirrored: Mirrored,
  locks: Locks,
  author: Author,
  tell: Tell = () => undefined,
): Promise<Outcome | Problem> {
  const examine = (document: string) => sweepDocument(mirrored, document, author)
  return walk(
    mirrored,
    underLocks(mirrored, locks, (document) => [[document, 'exclusive']], examine),
    tell,
  )
}

/**
 * Journals the state of the document in the store, where the history has another. To be called under its lock, when none of
 * its own changes is in doubt.
 */
export async function sweepDocument(
  mirrored: Mirrored,
  document: string,
  author: Author,
): Promise<Difference | undefined | Problem> {
  if (!mirrored.isDocument(document)) return undefined
  const found = await compare(mirrored, document)
  if (found === undefined || isFailure(found)) return found
  const { difference, ...states } = found
  const entries = await mirrored.history.begin([{ document, ...states, ...author }])
  if (isFailure(entries)) return problemOf(entries)
  await mirrored.history.done(entries)
  return difference
}

/** What settlement.ts asks for. What can be no version is left out (too large, too long a name); what is in doubt is a reason to come back. */
export const sweepsOf = (mirrored: Mirrored, locks: Locks): SettlementSettings['sweep'] => ({
  async document(document, author) {
    const found = await sweepDocument(mirrored, document, author)
    return isFailure(found) && found.failure !== 'store.too-large' && found.failure !== 'update.form'
      ? found
      : undefined
  },
  async all(author) {
    const outcome = await sweepAll(mirrored, locks, author)
    if (isFailure(outcome)) return outcome
    return outcome.differences['in doubt'] ? problem('store.in-doubt', 'Some documents are in doubt.') : undefined
  },
})

interface Compared {
  readonly difference: Difference
  readonly before: string | undefined
  readonly content: string | undefined
}

/** Undefined where store and history have the same. To be called under the document's lock. */
async function compare({ store, history }: Mirrored, document: string): Promise<Compared | undefined | Problem> {
  const content = await stateOf(store, document)
  if (isFailure(content)) return content
  const before = await history.latest(document, PATIENCE_MS)
  if (isFailure(before)) return problemOf(before)
  if (areSame(before, content)) return undefined
  const difference =
    before === undefined ? 'missing in the repository' : content === undefined ? 'missing in the store' : 'changed'
  return { difference, before, content }
}

type Examine = (document: string) => Promise<Difference | undefined | Problem>
type Held = (document: string) => readonly (readonly [name: string, mode: 'exclusive' | 'shared'])[]

/** Not while an update is under way that may change any document. */
const besideWrites =
  (mirrored: Mirrored): Held =>
  (document) => [everyWrite(mirrored, 'shared'), [document, 'exclusive']]

const underLocks =
  ({ settle }: Mirrored, locks: Locks, held: Held, examine: Examine): Examine =>
  async (document) => {
    const releases: Release[] = []
    try {
      for (const [name, mode] of held(document)) {
        const release = await locks.acquire(name, mode)
        if (!release) return problem('server.overloaded', 'Too many writes to this document are waiting.')
        releases.push(release)
      }
      return (await settle(document)) ?? (await examine(document))
    } finally {
      for (const release of releases) release()
    }
  }

/**
 * All documents are held against the tree at the head. Those that are not the same there, and those whose last changes are
 * not on the branch yet, are examined under their locks.
 */
async function walk(
  mirrored: Mirrored,
  examine: Examine,
  tell: Tell,
  signal?: AbortSignal,
): Promise<Outcome | Problem> {
  // Before the branch is read, so that what is committed meanwhile is in one of the two.
  const journalled = new Set(mirrored.history.journalled())
  const blobs = await blobsIn(mirrored)
  if (isFailure(blobs)) return blobs
  const names = await documentsIn(mirrored)
  if (isFailure(names)) return names
  const stored = new Set(names)
  const known = new Set([...blobs.keys(), ...journalled])
  const suspects = [...known].filter((document) => !stored.has(document))
  const documents = names.length + suspects.length
  const progress = makeProgress(tell, documents)
  const read = async (document: string) => ({ document, state: await stateOf(mirrored.store, document) })
  for await (const { document, state } of inParallel(names, read)) {
    if (signal?.aborted) return BROKEN_OFF
    if (isFailure(state) && differenceOf(state) === undefined) return state
    const isAtHead = typeof state === 'string' && blobId(state) === blobs.get(document)
    if (isAtHead && !journalled.has(document)) progress()
    else suspects.push(document)
  }
  const differences: Partial<Record<Difference, number>> = {}
  const look = async (document: string) => ({ document, found: await examine(document) })
  for await (const { document, found } of inParallel(suspects, look)) {
    if (signal?.aborted) return BROKEN_OFF
    const difference = isFailure(found) ? differenceOf(found) : found
    if (isFailure(found) && !difference) return found
    if (difference) {
      differences[difference] = (differences[difference] ?? 0) + 1
      tell({ event: 'difference', document, difference, ...(isFailure(found) && { detail: found.detail }) })
    }
    progress()
  }
  return { documents, differences }
}
