// Keeps an application's repository equal to its store (design 6): reports differences, or commits them.
import type { Locks } from '../documents/locks.js'
import { type Problem, type ProblemCode, isFailure, problem } from '../problem.js'
import { type DocumentNames, type Mirrored, blobsIn, namesIn, whyBehind } from './all-documents.js'
import { walk } from './compare-documents.js'
import { orphansIn } from './find-orphans.js'
import { importDocuments } from './import.js'
import { otherGraphsIn } from './other-graphs.js'
import type { MirrorOutcome, Mismatch, Report } from './report.js'
import type { Author, SettlementSettings } from './settlement.js'
import { historyProblem } from './write-failures.js'

/** How long to wait for the history to read the branch, ms. */
const PATIENCE_MS = 30_000

interface Divergence {
  readonly mismatch: Mismatch
  /** The content of the document in the history. */
  readonly before: string | undefined
  /** The content of the document in the store. */
  readonly content: string | undefined
}

/** Undefined if store and history are equal. Call it under the document's lock. */
async function compare(
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
 * Journals the store's state of the document, if the history has another one. Call it under the document's lock, when
 * none of its changes is in doubt.
 */
async function sweepDocument(
  mirrored: Mirrored,
  document: string,
  author: Author,
): Promise<Mismatch | undefined | Problem> {
  if (!mirrored.isRecorded(document)) return undefined
  const found = await compare(mirrored, document)
  if (found === undefined || isFailure(found)) return found
  const { mismatch, ...states } = found
  const putBack = await mirrored.confirm()
  if (putBack) return putBack
  const entries = await mirrored.history.begin([{ document, ...states, ...author }])
  if (isFailure(entries)) return historyProblem(entries)
  mirrored.history.done(entries)
  return mismatch
}

export interface MirrorOptions {
  readonly locks: Locks
  readonly report: Report
  readonly signal?: AbortSignal | undefined
}

export interface SweepOptions extends MirrorOptions {
  /** Sweeps even a store that seems to have lost its documents. */
  readonly force?: boolean
}

/** How long to wait for commits, in ms: while clients write, some may be outstanding at any time. */
const COMMITS_MS = 2_000

/**
 * Reports the differences between the store and the tree at the head of the branch, orphans, and graphs that are not
 * documents. Changes nothing.
 */
export async function verify(mirrored: Mirrored, options: MirrorOptions): Promise<MirrorOutcome | Problem> {
  mirrored.history.refresh()
  const behind = await whyBehind(mirrored, COMMITS_MS)
  const examine = async (document: string): Promise<Mismatch | undefined | Problem> => {
    const found = await compare(mirrored, document)
    return found === undefined || isFailure(found) ? found : found.mismatch
  }
  const outcome = await walk(mirrored, examine, options)
  if (isFailure(outcome)) return outcome
  const orphans = await orphansIn(mirrored)
  if (isFailure(orphans)) return orphans
  const { store, sharers } = mirrored
  const blobs = await blobsIn(mirrored)
  if (isFailure(blobs)) return blobs
  const isKnown = (graph: string): boolean => sharers.isDocument(graph) || blobs.has(graph)
  const others = await otherGraphsIn(store, isKnown, sharers.bases, options.signal, sharers.mayBecome)
  if (isFailure(others)) return others
  return { ...outcome, ...(orphans && { orphans }), ...(others && { others }), ...(behind !== undefined && { behind }) }
}

/** Commits changes made behind the gateway: one commit for each document, or for many if the repository has none. */
export async function sweep(mirrored: Mirrored, { force, ...options }: SweepOptions): Promise<MirrorOutcome | Problem> {
  const { history, now } = mirrored
  history.refresh()
  await history.settled(COMMITS_MS)
  const names = await namesIn(mirrored)
  if (isFailure(names)) return names
  const lost = force ? undefined : whyLost(names, mirrored)
  if (lost !== undefined) return problem('history.failed', lost)
  const author = { method: 'SWEEP', agent: undefined, time: now() }
  const outcome =
    names.atHead === 0
      ? await importDocuments(mirrored, names.onlyStored, options)
      : await walk(mirrored, (document) => sweepDocument(mirrored, document, author), options)
  if (isFailure(outcome)) return outcome
  const behind = await whyBehind(mirrored, COMMITS_MS)
  return behind === undefined ? outcome : { ...outcome, behind }
}

/** Up to this many deletions are not suspicious. */
const FEW = 10

/** Why the store seems to have lost documents, or to be another store. */
function whyLost({ recorded, onlyRecorded }: DocumentNames, { store, repository }: Mirrored): string | undefined {
  const gone = onlyRecorded.length
  if (gone === 0 || (gone < recorded && (gone <= FEW || 2 * gone <= recorded))) return undefined
  return (
    `the triplestore ${store.name} lacks ${gone} of the ${recorded} documents that ${repository.name} has, and the sweep would ` +
    'commit their deletion. Check that it is the right store. Fill it with triplegate mirror rebuild, or commit the ' +
    'deletions with --force.'
  )
}

const NO_COMMIT: ReadonlySet<ProblemCode> = new Set(['store.too-large', 'store.unreadable', 'update.form'])

/** The sweeps that settle updates in doubt (settlement.ts). */
export const sweepsOf = (mirrored: Mirrored, locks: Locks): SettlementSettings['sweep'] => ({
  async document(document, author) {
    const found = await sweepDocument(mirrored, document, author)
    // Skips a document that no commit can take (too large, name too long) or that cannot be read: trying again would
    // change nothing.
    return isFailure(found) && !NO_COMMIT.has(found.failure) ? found : undefined
  },
  async all(author: Author) {
    const examine = (document: string) => sweepDocument(mirrored, document, author)
    const outcome = await walk(mirrored, examine, { locks, report: () => undefined, isAlone: true })
    if (isFailure(outcome)) return outcome
    return outcome.differences['in doubt'] ? problem('store.in-doubt', 'Some documents are in doubt.') : undefined
  },
})
