// Compares all documents of an application while clients continue to write: those that may differ between store and
// branch are examined, each under its lock.
import { everyWrite, underLocks, type Lock, type Locks } from '../documents/locks.js'
import { isFailure, type Problem } from '../problem.js'
import { blobsIn, documentsIn, inParallel, inSlices, type Mirrored } from './all-documents.js'
import {
  ABORTED,
  makeMismatches,
  makeMirrorProgress,
  mismatchOf,
  type MirrorOutcome,
  type Mismatch,
  type Report,
} from './report.js'

export type Examine = (document: string) => Promise<Mismatch | undefined | Problem>

export interface WalkOptions {
  readonly locks: Locks
  readonly report: Report
  readonly signal?: AbortSignal | undefined
  /** The caller holds the lock of all writes of the application; the walk locks only each document. */
  readonly isAlone?: boolean
}

/**
 * Compares all documents of the store with the tree at the head. Documents that differ, or whose last changes are not
 * on the branch yet, are settled and examined under their locks.
 */
export async function walk(
  mirrored: Mirrored,
  examine: Examine,
  options: WalkOptions,
): Promise<MirrorOutcome | Problem> {
  const { report, signal } = options
  // The journal is read before the branch: a change that is committed meanwhile is in at least one of the two.
  const journalled = new Set(mirrored.history.journalled())
  const blobs = await blobsIn(mirrored)
  if (isFailure(blobs)) return blobs
  const names = await documentsIn(mirrored)
  if (isFailure(names)) return names
  const stored = new Set<string>()
  for await (const slice of inSlices(names)) for (const document of slice) stored.add(document)
  const suspects: string[] = []
  for await (const slice of inSlices(blobs.keys())) suspects.push(...slice.filter((document) => !stored.has(document)))
  for await (const slice of inSlices(journalled))
    suspects.push(...slice.filter((document) => !stored.has(document) && !blobs.has(document)))
  const documents = names.length + suspects.length
  const progress = makeMirrorProgress(report, documents)
  const { store, states } = mirrored
  for await (const { document, state } of states.each(store, names, 'blob')) {
    if (signal?.aborted) return ABORTED
    if (isFailure(state) && mismatchOf(state) === undefined) return state
    const isAtHead = typeof state === 'string' && state === blobs.get(document)
    if (isAtHead && !journalled.has(document)) progress()
    else suspects.push(document)
  }
  const mismatches = makeMismatches(report)
  const look = async (document: string) => ({ document, found: await settled(mirrored, document, examine, options) })
  for await (const { document, found } of inParallel(suspects, look)) {
    if (signal?.aborted) return ABORTED
    const mismatch = isFailure(found) ? mismatchOf(found) : found
    if (isFailure(found) && !mismatch) return found
    if (mismatch) mismatches.add(document, mismatch, isFailure(found) ? found.detail : undefined)
    progress()
  }
  return { documents, differences: mismatches.counts }
}

/** Examines the document when none of its writes is in doubt, and while no update runs that may change any document. */
function settled(
  mirrored: Mirrored,
  document: string,
  examine: Examine,
  { locks, isAlone }: WalkOptions,
): ReturnType<Examine> {
  const beside: Lock[] = isAlone ? [] : [everyWrite(mirrored, 'shared')]
  return underLocks({ locks }, [...beside, [document, 'exclusive']], async () => {
    return (await mirrored.settle(document)) ?? (await examine(document))
  })
}
