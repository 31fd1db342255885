// Which documents of a resumed import were written before the process was killed: their history knows. Later writes of
// others must stay.
import type { History } from '../../../versioning/history.js'
import { isFailure } from '../../problem.js'
import type { Context } from '../../request/context.js'
import type { BegunGroup } from './run-files.js'
import { importPlaceOf } from './write-as.js'

/** How long to wait for pending commits, in ms. */
const COMMITS_MS = 10_000
const NONE: ReadonlySet<string> = new Set()

/**
 * Those of these documents that were written, or deleted, since their group was begun. Without a history none is known.
 * @param from the number of the first document
 * @param begun the groups that an earlier process began, oldest first
 */
export async function writtenBefore(
  context: Context,
  { from, documents }: { readonly from: number; readonly documents: readonly string[] },
  begun: readonly BegunGroup[],
): Promise<ReadonlySet<string>> {
  const byHistory = new Map<History, Map<string, number>>()
  for (const [i, document] of documents.entries()) {
    const since = begun.find(({ upTo }) => upTo > from + i)?.at
    const place = importPlaceOf(context, document)
    const history = isFailure(place) ? undefined : place.application.mirrored?.history
    if (since === undefined || !history) continue
    const own = byHistory.get(history) ?? new Map<string, number>()
    byHistory.set(history, own.set(document, since))
  }
  if (byHistory.size === 0) return NONE
  const changed = await Promise.all(Array.from(byHistory, ([history, since]) => changedIn(history, since)))
  return new Set(changed.flat())
}

/** @param since for each document, in ms since the epoch */
async function changedIn(history: History, since: ReadonlyMap<string, number>): Promise<string[]> {
  const changed: string[] = []
  const isChanged = (document: string, time: number): boolean => time >= (since.get(document) ?? Infinity)
  if (!(await history.settled(COMMITS_MS))) {
    for await (const { document, time } of history.uncommitted()) if (isChanged(document, time)) changed.push(document)
  }
  for (const [document, at] of since) {
    const outline = await history.outline(document, 0)
    const versions = isFailure(outline) ? [] : await history.numbered(document, [outline.count - 1])
    const last = isFailure(versions) ? undefined : versions[0]
    // Versions have whole seconds.
    if (last && last.time >= at - (at % 1000)) changed.push(document)
  }
  return changed
}
