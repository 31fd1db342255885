// Excerpts of the last content of each deleted document: decisions on access to its history need them, and must not
// read the whole content.
import type { NewChange } from '../history.js'
import { blobId } from '../git/fast-import.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'

/** Gives the part of a document's content that is stored. */
export type ExcerptOf = (document: string, nTriples: string) => string

/** The key is followed by the document; the value is Git's id of the content, a line end, and the excerpt. */
const EXCERPT = 'x'
/** Longer excerpts are not stored; in UTF-16 units. */
const LONGEST = 256 * 1024

/** The operations that store the excerpts of the documents which these changes delete. */
export const excerptsOfDeleted = (changes: readonly NewChange[], excerptOf: ExcerptOf): DatabaseOperation[] =>
  changes.flatMap(({ document, before, content, unread }) => {
    if (content !== undefined) return []
    // Remove the excerpt of an earlier deletion: it does not belong to this one.
    if (before === undefined || unread) return [del(EXCERPT + document)]
    return [remembering(document, blobId(before), excerptOf(document, before))]
  })

export function remembering(document: string, blob: string, excerpt: string): DatabaseOperation {
  return excerpt.length > LONGEST ? del(EXCERPT + document) : put(EXCERPT + document, `${blob}\n${excerpt}`)
}

/** @param blob the deleted content; undefined: whatever content was deleted last */
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
