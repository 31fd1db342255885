// Which entries of the log are valid. Each entry was decided on some state, perhaps an old one; it is valid if nothing
// that its decision has read has changed since. So a valid entry has the same effect as if its request were decided at
// its position in the log. Pure: the same log gives the same state everywhere.
import { createHash } from 'node:crypto'
import type { LogEntry, ReadAt } from './entry.js'
import { agedPositions, changedAt, lastOf, NO_POSITIONS, type RecentPositions } from './recent-positions.js'

/**
 * The changes of at least this many entries are remembered, or of MOST_NAMES names. An entry that was decided on an
 * earlier state is void. At 2,000 writes a second that is more than half a minute.
 */
const WINDOW = 65_536
const MOST_NAMES = 2 * WINDOW

export interface LogState {
  /** The number of entries so far, void ones among them. */
  readonly position: number
  /** A digest of the log up to here, as 64 hexadecimal digits. */
  readonly chain: string
  /** For each graph, the last valid entry that changed it. */
  readonly graphs: RecentPositions
  /** For each container, the last valid entry that created or deleted a document directly below it. */
  readonly children: RecentPositions
  /** The position of the last valid entry. */
  readonly validAt: number
  /** The position of the last valid entry that changed rules. */
  readonly rulesAt: number
  /** Changes after `since` are known; those after `newerSince` are the newer generation. */
  readonly known: readonly [since: number, newerSince: number]
  readonly window: number
}

/** Why an entry is void. Its writer then decides again, on a later state. */
export type Void = 'basis' | 'read' | 'children' | 'rules' | 'old' | 'future'

/** @param log the IRI of the log: no other log has the same chain */
export const emptyLog = (log: string, window = WINDOW): LogState => ({
  ...{ position: 0, chain: digest(log), graphs: NO_POSITIONS, children: NO_POSITIONS },
  ...{ validAt: 0, rulesAt: 0, known: [0, 0], window },
})

/** The state after the entry, and why it is void, if it is. @param text the entry as `entryText` writes it */
export function applyEntry(state: LogState, entry: LogEntry, text: string): readonly [LogState, Void | undefined] {
  const position = state.position + 1
  const reason = whyVoid(state, entry)
  const isAging =
    position - state.known[1] >= state.window || Math.max(state.graphs.size, state.children.size) >= MOST_NAMES
  const age = isAging ? agedPositions : (recent: RecentPositions) => recent
  const known = isAging ? ([state.known[1], position] as const) : state.known
  const next: LogState = { ...state, position, known, chain: chainAfter(state.chain, text) }
  if (reason) return [{ ...next, graphs: age(state.graphs), children: age(state.children) }, reason]
  const { parts, kind } = entry
  const graphs = parts.map(({ document }) => document)
  const containers = parts.flatMap(({ container }) => container ?? [])
  return [
    {
      ...next,
      graphs: age(changedAt(state.graphs, graphs, position)),
      children: age(changedAt(state.children, containers, position)),
      validAt: position,
      rulesAt: kind === 'rules' ? position : state.rulesAt,
    },
    undefined,
  ]
}

function whyVoid({ position, known, ...state }: LogState, entry: LogEntry): Void | undefined {
  const { parts, read, readAll, children, rules } = entry
  const given = [...parts.map(({ basis }) => basis), ...[...read, ...children].map(([, at]) => at), readAll ?? position]
  // The entry was decided on entries that this log has lost.
  if (given.some((at) => at > position) || rules > position) return 'future'
  if (given.some((at) => at < known[0])) return 'old'
  const isLater =
    (recent: RecentPositions) =>
    ([name, at]: ReadAt) =>
      lastOf(recent, name) > at
  // This also refuses the second copy of an entry that is sent twice: the first has changed its documents.
  if (parts.some(({ document, basis }) => lastOf(state.graphs, document) > basis)) return 'basis'
  if (read.some(isLater(state.graphs)) || (readAll !== undefined && state.validAt > readAll)) return 'read'
  if (children.some(isLater(state.children))) return 'children'
  return state.rulesAt > rules ? 'rules' : undefined
}

/** A digest of the entry and of all before it. */
export const chainAfter = (chain: string, text: string): string => digest(`${chain}\n${text}`)

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
