// What is remembered of the last content of each deleted document: decisions on its history rest on it, and must
// not cost the reading of the content.
import type { NewChange } from '../history.js'
import { blobId } from '../git/fast-import.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'

/** The part of a document's content that is remembered. */
export type ExcerptOf = (document: string, nTriples: string) => string

/** By document: Git's id of the content, a line end, the excerpt. One each, that of its last deletion. */
const EXCERPT = 'x'
/** A longer one is not remembered, in UTF-16 units. */
const LONGEST = 256 * 1024

/** The operations that remember the contents which these changes delete. */
export const excerptsOfDeleted = (changes: readonly NewChange[], excerptOf: ExcerptOf): DatabaseOperation[] =>
  changes.flatMap(({ document, before, content, unread }) => {
    if (content !== undefined) return []
    // The excerpt of an earlier deletion is not that of this one.
    if (before === undefined || unread) return [del(EXCERPT + document)]
    return [remembering(document, blobId(before), excerptOf(document, before))]
  })

export function remembering(document: string, blob: string, excerpt: string): DatabaseOperation {
  return excerpt.length > LONGEST ? del(EXCERPT + document) : put(EXCERPT + document, `${blob}\n${excerpt}`)
}

/** @param blob undefined: of the last deletion, whatever was deleted */
export async function rememberedExcerpt(
  database: Database,
  document: string,
  blob: string | undefined,
): Promise<string | undefined> {
  const stored = await database.get(EXCERPT + document)
  const end = stored?.indexOf('\n') ?? -1
  return stored === undefined || (blob !== undefined && stored.slice(0, end) !== blob)
    ? undefined
    : stored.slice(end + 1)
}
