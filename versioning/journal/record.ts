// A change as the journal stores it: a line of JSON, followed by the content, if it has one. Pure.
import { SetbackError } from '../failure.js'
import type { OpenEntry } from '../history.js'

/** A change without its content. */
export type JournalEntry = Omit<OpenEntry, 'content'> & {
  /** UTF-16 units of the content; undefined if the document is deleted. */
  readonly size: number | undefined
}

/** The record has neither the id, which is the key, nor the path, which follows from the document. */
export const recordOf = ({ id: _id, path: _path, ...stored }: JournalEntry, content: string | undefined): string =>
  JSON.stringify(stored) + (content === undefined ? '' : `\n${content}`)

/** @param pathOf throws for a document of another application */
export function entryIn(id: string, record: string, pathOf: (document: string) => string): JournalEntry {
  const stored = JSON.parse(record.split('\n', 1)[0]!) as Omit<JournalEntry, 'id' | 'path'>
  return { ...stored, id, path: storedPath(stored.document, pathOf) }
}

export function contentIn(record = ''): string | undefined {
  const end = record.indexOf('\n')
  return end < 0 ? undefined : record.slice(end + 1)
}

function storedPath(document: string, pathOf: (document: string) => string): string {
  try {
    return pathOf(document)
  } catch (error) {
    const detail =
      `The journal holds a change that is not committed yet, of ${document}: ${(error as Error).message}. ` +
      'Start once with the former base, until all changes are committed.'
    throw new SetbackError({ failure: 'failed', detail })
  }
}
