// Which documents of a resumed import were written before the process was killed, and which ones others have changed:
// the log of their writes knows. Later writes of others must stay.
import type { History, LoggedChange } from '../../../versioning/history.js'
import { isContent } from '../../../versioning/log/content.js'
import { isFailure } from '../../problem.js'
import type { Context } from '../../request/context.js'
import type { BegunGroup } from './run-files.js'
import { importPlaceOf } from './write-as.js'

/** How long to wait for a branch to be read, in ms. */
const PATIENCE_MS = 10_000

export interface DoneBefore {
  /** The import has written these. */
  readonly written: ReadonlySet<string>
  /** The import has not written these, and others have changed them, or may have. */
  readonly changed: ReadonlySet<string>
}

/**
 * What has happened to these documents since their group was begun. Without a log nothing is known.
 * @param from the number of the first document
 * @param begun the groups that an earlier process began, oldest first
 */
export async function writtenBefore(
  context: Context,
  { from, documents }: { readonly from: number; readonly documents: readonly string[] },
  begun: readonly BegunGroup[],
): Promise<DoneBefore> {
  const byHistory = new Map<History, Map<string, number>>()
  for (const [i, document] of documents.entries()) {
    const since = begun.find(({ upTo }) => upTo > from + i)?.position
    const place = importPlaceOf(context, document)
    const history = isFailure(place) ? undefined : place.application.mirrored?.history
    if (since === undefined || !history) continue
    const own = byHistory.get(history) ?? new Map<string, number>()
    byHistory.set(history, own.set(document, since))
  }
  const done = { written: new Set<string>(), changed: new Set<string>() }
  for (const [history, since] of byHistory) await examine(history, since, context.agent.webId, done)
  return done
}

/** @param since for each document, the position of the log when its group was begun */
async function examine(
  history: History,
  since: ReadonlyMap<string, number>,
  agent: string | undefined,
  { written, changed }: Readonly<Record<keyof DoneBefore, Set<string>>>,
): Promise<void> {
  const documents = new Set(since.keys())
  const changes = await history.log.changesSince(Math.min(...since.values()), documents)
  const byDocument = new Map<string, LoggedChange[]>()
  const isKnown = changes !== undefined && !isFailure(changes)
  for (const change of isKnown ? changes : []) {
    if (change.position <= since.get(change.document)!) continue
    const own = byDocument.get(change.document) ?? []
    byDocument.set(change.document, [...own, change])
  }
  for (const document of documents) {
    const own = byDocument.get(document) ?? []
    if (await isWritten(history, document, own, agent)) written.add(document)
    else if (!isKnown || own.some((change) => !isOf(agent, change))) changed.add(document)
  }
}

/** True if it is a write as the import's own. */
const isOf = (agent: string | undefined, change: LoggedChange): boolean =>
  change.agent === agent && change.content !== undefined && ['PUT', 'POST'].includes(change.method)

/**
 * The log also has writes that the store has refused. So if no change of others follows, the document must have the
 * content of the write.
 */
async function isWritten(
  history: History,
  document: string,
  changes: readonly LoggedChange[],
  agent: string | undefined,
): Promise<boolean> {
  const other = changes.findLastIndex((change) => !isOf(agent, change))
  if (changes.slice(0, Math.max(other, 0)).some((change) => isOf(agent, change))) return true
  const last = changes.slice(other + 1)
  if (last.length === 0) return false
  const latest = await history.latest(document, PATIENCE_MS)
  if (latest === undefined) return false
  // The branch cannot be read: a write in the log was most likely carried out.
  if (isFailure(latest)) return true
  for (const { content } of last) if (content && (await isContent(content, latest))) return true
  return false
}
