// In charge of a change as the journal has it on the disk: a line of JSON, and after it the content, if there is one. Pure.
import type { OpenEntry } from '../history.js'
import { SetbackError } from '../repository.js'

/** A change without its content. */
export type Entry = Omit<OpenEntry, 'content'> & {
  /** UTF-16 units of the content; undefined where the document is deleted. */
  readonly size: number | undefined
}

/** The id is its key, and the path is a function of the document. */
export const recordOf = ({ id: _id, path: _path, ...stored }: Entry, content: string | undefined): string =>
  JSON.stringify(stored) + (content === undefined ? '' : `\n${content}`)

/** @param pathOf throws where the document is none of the application's */
export function entryIn(id: string, record: string, pathOf: (document: string) => string): Entry {
  const stored = JSON.parse(record.split('\n', 1)[0]!) as Omit<Entry, 'id' | 'path'>
  return { ...stored, id, path: storedPath(stored.document, pathOf) }
}

export const contentIn = (record = ''): string | undefined => /\n(.*)$/s.exec(record)?.[1]

function storedPath(document: string, pathOf: (document: string) => string): string {
  try {
    return pathOf(document)
  } catch (error) {
    const detail =
      `The journal holds a change that is not committed yet, of ${document}: ${(error as Error).message}. ` +
      'Start with the former base once, until all is committed.'
    throw new SetbackError({ setback: 'failed', detail })
  }
}
