// Open entries of the journal, of which it is unknown whether the store has done them: the rule by which a start, a
// rebuild and a running gateway settle them (design 6).
import type { OpenEntry } from '../../versioning/history.js'
import { isFailure, type Problem } from '../problem.js'
import type { Mirrored } from './all-documents.js'
import { hasContent, makeSo } from './make-so.js'

/**
 * Settles open entries of one document, oldest first, when the store can no longer do them; returns those that are done.
 * Carries them out, since no client was told that they failed. Drops those that the store refuses, and those of writes
 * that the journal has only in part and the store has not done: such a write is done whole or not at all.
 */
export async function settleEntries(
  mirrored: Pick<Mirrored, 'history' | 'store' | 'states'>,
  entries: readonly OpenEntry[],
): Promise<readonly OpenEntry[] | Problem> {
  const { history } = mirrored
  const left = [...entries]
  for (let last = left.at(-1); last?.isPart; last = left.at(-1)) {
    const isDone = await hasContent(mirrored, last)
    if (isFailure(isDone)) return isDone
    if (isDone) break
    await history.undone(left.splice(-1))
  }
  const newest = left.at(-1)
  const failed = newest && !newest.isPart ? await makeSo(mirrored, newest) : undefined
  if (failed && !('unfit' in failed)) return failed
  if (failed) await history.undone(left)
  else history.done(left)
  return failed ? [] : left
}

/**
 * Of open entries, those that a store without content gets: not the last ones of a document if the journal has only a
 * part of their writes. One with a later entry was done, since that is begun only when the earlier one is settled.
 */
export function fitToFill(open: readonly OpenEntry[]): readonly OpenEntry[] {
  const followed = new Set<string>()
  const isFit = ({ document, isPart }: OpenEntry): boolean => {
    if (!isPart) followed.add(document)
    return followed.has(document)
  }
  return [...open].reverse().filter(isFit).reverse()
}
