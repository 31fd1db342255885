// Settles writes in doubt, which are in the journal although it is unknown whether the store has done them. When the
// store can no longer do them, a document gets the content of its entry, and the effects of an update are read (design
// 6).
import type { VersionedChange } from '../../versioning/change.js'
import type { History, OpenEntry } from '../../versioning/history.js'
import { underLocks, type Locks } from '../documents/locks.js'
import type { States } from '../documents/stored-state.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { settleEntries } from './open-entries.js'
import { DOUBT_FIELDS, DOUBT_MS, FENCE } from './write-failures.js'

export type Author = Pick<VersionedChange, 'method' | 'agent' | 'time'>

export interface SettlementSettings {
  readonly store: GraphStore
  readonly history: History
  /** Journals the store's states of one document or of all, if the history has others. */
  readonly sweep: {
    /** Call it under the document's lock. */
    document(document: string, author: Author): Promise<undefined | Problem>
    all(author: Author): Promise<undefined | Problem>
  }
  readonly locks: Locks
  readonly states: States
  readonly log: Log
}

/** A request to the store that ends doubts (FENCE). */
interface Fence {
  readonly sent: number
  readonly failed: Promise<undefined | Problem>
}

/** All writes of an application that are in doubt. Times are those of performance.now(). */
export interface Doubts extends SettlementSettings {
  /** The start of this process: entries that an earlier process left are in doubt since then. */
  readonly opened: number
  /** Since when a change is in doubt, by its id. */
  readonly since: Map<string, number>
  /** Functions to call when a change turns out to be done, by its id. */
  readonly late: Map<string, () => void>
  /** Updates of any document whose changes are not all in the journal yet. */
  readonly unswept: Set<OpenEntry>
  /** The one that the store has not answered yet. */
  fence?: Fence | undefined
}

/** Undefined if no change of this document is in doubt (any more). Call it under the document's lock. */
export async function settleDocument(doubts: Doubts, document: string): Promise<undefined | Problem> {
  const { history, sweep, unswept } = doubts
  const open = history.open(document).filter(({ unread }) => unread !== 'dataset')
  const written = await settleWritten(doubts, open.filter(({ unread }) => !unread)) // prettier-ignore
  if (written) return written
  // Settle updates last: the sweep attributes every unclaimed change to them.
  for (const entry of open.filter(({ unread }) => unread)) {
    const failed = (await whyOpen(doubts, entry)) ?? (await sweep.document(document, authorOf(entry)))
    if (failed) return failed
    await history.undone([entry])
    forget(doubts, entry, true)
  }
  for (const entry of unswept) {
    const failed = (await whyRunning(doubts, entry)) ?? (await sweep.document(document, authorOf(entry)))
    if (failed) return failed
  }
  return undefined
}

/** @param entries those of one document that have its content */
async function settleWritten(doubts: Doubts, entries: readonly OpenEntry[]): Promise<undefined | Problem> {
  if (entries.length === 0) return undefined
  for (const entry of entries) {
    // Entries of a log are applied by applier.ts.
    const open = doubts.since.has(entry.id) ? await whyOpen(doubts, entry) : inDoubt()
    if (open) return open
  }
  const done = await settleEntries(doubts, entries)
  if (isFailure(done)) return done
  for (const entry of entries) forget(doubts, entry, done.includes(entry))
  return undefined
}

function forget({ since, late }: Doubts, { id }: OpenEntry, isDone: boolean): void {
  if (isDone) late.get(id)?.()
  late.delete(id)
  since.delete(id)
}

/** Undefined if the store can no longer do the write, if it has not done it yet. */
async function whyOpen(doubts: Doubts, { id }: OpenEntry): Promise<undefined | Problem> {
  const since = doubts.since.get(id) ?? doubts.opened
  if (performance.now() - since < DOUBT_MS) return inDoubt()
  // One fence is sent for all writes whose doubt was old enough then.
  const fence = doubts.fence && doubts.fence.sent >= since + DOUBT_MS ? doubts.fence : sendFence(doubts)
  const failed = await fence.failed
  // The store may be busy with the very write that is in doubt.
  return failed?.failure === 'store.time' ? inDoubt() : failed
}

/** A store executes writes one after the other: once it has done this update, it will do no earlier write any more. */
function sendFence(doubts: Doubts): Fence {
  const failed = doubts.store.update(FENCE)
  const fence = { sent: performance.now(), failed }
  doubts.fence = fence
  const isOver = (): void => void (doubts.fence === fence && (doubts.fence = undefined))
  failed.then(isOver, isOver)
  return fence
}

/** Undefined if the update of any document is over, which is asked once. Its effects are swept after that. */
async function whyRunning(doubts: Doubts, entry: OpenEntry): Promise<undefined | Problem> {
  const open = doubts.since.has(entry.id) ? await whyOpen(doubts, entry) : undefined
  if (!open) doubts.since.delete(entry.id)
  return open
}

/** Settles as many writes in doubt as can be settled now. */
export async function settleEach(doubts: Doubts): Promise<void> {
  const { history, sweep, locks, since, unswept } = doubts
  const open = history.open()
  // Entries can also be settled elsewhere, for example by a commit that is found at the start.
  for (const one of [since, doubts.late])
    for (const id of one.keys()) if (!open.some((entry) => entry.id === id)) one.delete(id)
  const inDoubt = open.filter(({ id, unread }) => since.has(id) && unread !== 'dataset')
  for (const document of new Set(inDoubt.map((entry) => entry.document))) {
    // An entry that fails here, or whose lock has too many waiters, is tried again in the next run.
    await underLocks({ locks }, [[document, 'exclusive']], () => settleDocument(doubts, document))
  }
  for (const entry of unswept) {
    if (await whyRunning(doubts, entry)) continue
    if (await sweep.all(authorOf(entry))) continue
    await history.undone([entry])
    unswept.delete(entry)
    since.delete(entry.id)
  }
}

const authorOf = ({ agent, time }: OpenEntry): Author => ({ method: 'UPDATE', agent, time })

const inDoubt = (): Problem =>
  problem(
    'store.in-doubt',
    'The outcome of an earlier write to this document is still unknown. Retry shortly.',
    DOUBT_FIELDS,
  )
