// Open entries of the journal, of which it is unknown whether the store has done them: the rules by which a start, a
// rebuild and a running gateway settle them (design 6).
import type { History, OpenEntry } from '../../versioning/history.js'
import { isFailure, type Problem } from '../problem.js'
import type { Mirrored } from './all-documents.js'
import { hasContent, makeSo } from './make-so.js'
import { isUnreadable } from './write-failures.js'

type Settled = Pick<Mirrored, 'history' | 'store' | 'states'>

/** The open entries that have a content, by document, oldest first. */
export function openByDocument(history: History): ReadonlyMap<string, readonly OpenEntry[]> {
  const byDocument = new Map<string, OpenEntry[]>()
  for (const entry of history.open().filter(({ unread }) => !unread)) {
    const entries = byDocument.get(entry.document)
    if (entries) entries.push(entry)
    else byDocument.set(entry.document, [entry])
  }
  return byDocument
}

/** The open entries of one document after `judgePart`, oldest first. */
interface Judged {
  /** Those that it has not dropped. */
  readonly left: readonly OpenEntry[]
  /** True if these are done, and the document must stay as it is in the store. */
  readonly stays: boolean
}

/**
 * Judges the last of the open entries of one document, oldest first, when the store can no longer do them. If the
 * journal has its write only in part, it is done if the store has its content, and otherwise dropped: such a write is
 * done whole or not at all. Entries before the last one are done, since an entry is begun only when those are settled.
 *
 * Call it before anything writes the document, whose content is the only sign. A document that cannot be read has
 * another content. It stays as it is, since the history may lack its state.
 * @param isPutBack true if the store lacks earlier changes of the document
 */
export async function judgePart(
  mirrored: Settled,
  entries: readonly OpenEntry[],
  isPutBack = false,
): Promise<Judged | Problem> {
  const { history } = mirrored
  const [last, earlier] = [entries.at(-1), entries.slice(0, -1)]
  if (!last?.isPart) return { left: entries, stays: false }
  const found = await isThere(mirrored, last, isPutBack)
  const unread = isFailure(found) && isUnreadable(found)
  if (isFailure(found) && !unread) return found
  const left = found === true ? entries : earlier
  if (left === earlier) await history.undone([last])
  const stays = found === true || (unread && !isPutBack)
  // An entry of which the journal has only a part is never carried out from the journal.
  if (stays || earlier.at(-1)?.isPart) history.done(left)
  return { left, stays }
}

/**
 * True if the store has the content of the entry. A store that was put back to an earlier state lacks documents in any
 * case, so that shows nothing.
 */
export const isThere = async (
  mirrored: Pick<Mirrored, 'store' | 'states'>,
  { document, content }: OpenEntry,
  isPutBack: boolean,
): Promise<boolean | Problem> =>
  isPutBack && content === undefined ? false : hasContent(mirrored, { document, content })

/**
 * Settles open entries of one document, oldest first, when the store can no longer do them; returns those that are done.
 * Carries them out, since no client was told that they failed. Drops those that the store refuses, and the last one if
 * it is a part of a write that the store has not done.
 */
export async function settleEntries(
  mirrored: Settled,
  entries: readonly OpenEntry[],
): Promise<readonly OpenEntry[] | Problem> {
  const { history } = mirrored
  const judged = await judgePart(mirrored, entries)
  if (isFailure(judged)) return judged
  const { left, stays } = judged
  const newest = left.at(-1)
  const failed = newest && !stays && !newest.isPart ? await makeSo(mirrored, newest) : undefined
  if (failed && !('unfit' in failed)) return failed
  if (failed) await history.undone(left)
  else history.done(left)
  return failed ? [] : left
}
