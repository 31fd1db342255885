// Fills an empty store from the repository and the journal.
import type { Locks } from '../documents/locks.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { keepPosition } from './bring-up.js'
import { makeSo } from './make-so.js'
import { verify } from './mirror.js'
import { judgePart, openByDocument } from './open-entries.js'
import { blobsIn, inParallel, namesIn, orProblem, type Mirrored } from './all-documents.js'
import { makeMirrorProgress, type MirrorOutcome, type Report } from './report.js'

/** The store has this many documents of the application, so nothing was done. */
export interface Occupied {
  readonly occupied: number
}

export interface RebuildOptions {
  readonly locks: Locks
  readonly log: Log
  readonly report: Report
  /** Overwrites documents of the store with those of the repository. Documents that the repository lacks are kept. */
  readonly force: boolean
}

/** Fills the store, then verifies it. For a store that no gateway serves. */
export async function rebuild(
  mirrored: Mirrored,
  { locks, log, report, force }: RebuildOptions,
): Promise<MirrorOutcome | Occupied | Problem> {
  const names = await namesIn(mirrored)
  if (isFailure(names)) return names
  if (names.recorded === 0) {
    return problem('history.failed', `${mirrored.repository.name} has no documents: there is nothing to rebuild from.`)
  }
  if (names.stored.length > 0 && !force) return { occupied: names.stored.length }
  const unreadable = await fillStore(mirrored, report)
  if (isFailure(unreadable)) return unreadable
  const failed = await keepPosition({ ...mirrored, log })
  if (failed) return failed
  const outcome = await verify(mirrored, { locks, report })
  if (isFailure(outcome) || unreadable === 0) return outcome
  return { ...outcome, differences: { ...outcome.differences, unreadable } }
}

/**
 * Writes the documents of the branch to the store, then those of the journal over them. Documents that the store cannot
 * read are left out and reported; the result is their number.
 */
export async function fillStore(mirrored: Mirrored, report: Report): Promise<number | Problem> {
  const { history } = mirrored
  const unsettled = await settleToFill(mirrored)
  if (unsettled) return unsettled
  let unreadable = 0
  const put = async (state: State): Promise<undefined | Problem> => {
    const done = await write(mirrored, state, report)
    if (done === 'unreadable') unreadable++
    return isFailure(done) ? done : undefined
  }
  // The journal is read before the branch, and written to the store after it: a change that is committed meanwhile is
  // in at least one of the two.
  const later = new Map<string, string | undefined>()
  const failed = await orProblem(async () => {
    for await (const { document, content } of history.uncommitted()) later.set(document, content)
    const blobs = await blobsIn(mirrored)
    if (isFailure(blobs)) return blobs
    const progress = makeMirrorProgress(report, blobs.size)
    for await (const failed of inParallel(committed(mirrored), put)) {
      if (failed) return failed
      progress()
    }
    return undefined
  })
  if (failed) return failed
  for (const [document, content] of later) {
    const failed = await put({ document, content })
    if (failed) return failed
  }
  return unreadable
}

/**
 * Settles the open entries, before any document is written. They count as done, since no client was told otherwise.
 * Only writes are lost whose effects had not been read yet: updates; and of writes that the journal has only in part,
 * those whose content the store does not have.
 */
async function settleToFill(mirrored: Mirrored): Promise<undefined | Problem> {
  const { history } = mirrored
  for (const entries of openByDocument(history).values()) {
    const judged = await judgePart(mirrored, entries, true)
    if (isFailure(judged)) return judged
    history.done(judged.left)
  }
  await history.undone(history.open())
  return undefined
}

interface State {
  readonly document: string
  readonly content: string | undefined
}

async function* committed({ repository, documentOf, isRecorded }: Mirrored): AsyncGenerator<State> {
  for await (const { path, content } of repository.contents()) {
    const document = documentOf(path)
    if (document !== undefined && isRecorded(document)) yield { document, content }
  }
}

/** Writes this state of the document to the store. A state that the store cannot read is reported. */
async function write(
  mirrored: Mirrored,
  { document, content }: State,
  report: Report,
): Promise<undefined | 'unreadable' | Problem> {
  const failed = await makeSo(mirrored, { document, content }, { canonical: false })
  if (!failed) return undefined
  if (!('unfit' in failed)) return { ...failed, detail: `${document}: ${failed.detail}` }
  const detail = `${failed.unfit.detail} ${await placeOf(mirrored, document)}`
  report({ event: 'difference', document, difference: 'unreadable', detail })
  return 'unreadable'
}

/** Tells the operator which file to look at. */
async function placeOf({ history, pathOf }: Mirrored, document: string): Promise<string> {
  const outline = await history.outline(document, INDEXED_MS)
  const last = isFailure(outline) ? [] : await history.numbered(document, [outline.count - 1])
  const commit = isFailure(last) ? undefined : last[0]?.commit
  return `It is ${pathOf(document)}${commit === undefined ? '' : ` at commit ${commit}`}.`
}

const INDEXED_MS = 2_000
