// The order in which the relay commits changes: which come next, one by one or many, and which must wait.
import type { OperatorLog } from '../history.js'
import type { Journal } from './journal.js'
import type { JournalEntry } from './record.js'

export interface CommitTurns {
  readonly journal: Journal
  readonly log: OperatorLog
  /** The most changes that the repository commits at once. */
  readonly batch: number
  /** Fewer after a failure, since a smaller batch may succeed; as many again after successes. */
  most: number
  /** Documents whose own changes cannot be committed, with the reason. */
  readonly blocked: Map<string, string>
  /** Documents whose changes were denied when they were tried last. */
  readonly denied: Set<string>
  /** So many changes are committed one by one: one of them is unfit. */
  singly: number
}

export const makeCommitTurns = (options: Pick<CommitTurns, 'journal' | 'log' | 'batch'>): CommitTurns => ({
  ...options,
  most: options.batch,
  blocked: new Map(),
  denied: new Set(),
  singly: 0,
})

/** The changes to commit next. Those of denied documents come when there are no others. */
export function nextInTurn(turns: CommitTurns): readonly JournalEntry[] {
  const { journal, denied, singly } = turns
  const most = singly > 0 ? 1 : turns.most
  const entries = journal.ready(most, mustWait(turns))
  if (entries.length > 0 || denied.size === 0) return entries
  denied.clear()
  return journal.ready(most, mustWait(turns))
}

/** A change of another document, after one of this document was denied: a rule may refuse this document only. */
export function anotherInTurn(turns: CommitTurns, document: string): JournalEntry | undefined {
  turns.denied.add(document)
  return turns.journal.ready(1, mustWait(turns))[0]
}

export function learn(turns: CommitTurns, tried: number, hasFailed: boolean): void {
  turns.most = hasFailed ? Math.max(1, Math.floor(tried / 2)) : Math.min(turns.batch, Math.max(turns.most, 2 * tried))
}

/** Commits no further changes of the document. */
export function block(turns: CommitTurns, document: string, reason: string): undefined {
  turns.blocked.set(document, reason)
  turns.singly = 0
  turns.log.error({ document, reason }, 'A change of a document cannot be committed; its later changes wait.')
}

const mustWait =
  ({ blocked, denied }: CommitTurns) =>
  (document: string): boolean =>
    blocked.has(document) || denied.has(document)
