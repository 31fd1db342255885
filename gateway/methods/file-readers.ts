// Documents that begin to describe a file without bringing it: their readers may read it where the writer may.
import { isSha1 } from '../files/files.js'
import { uploadsOf } from '../files/sweep-files.js'
import { isWhole, type Document } from '../documents/document.js'
import { isFailure, type Problem } from '../problem.js'
import { linesBeginning } from '../rdf/sorted-lines.js'
import { NFO, RDF } from '../rdf/vocabulary.js'
import { mayReadFile } from '../request/file-access.js'
import type { WrittenChange, Writing } from './write-rules.js'

/** Of one write: each takes a question to the store. */
const MOST_FILES = 100

/**
 * A document that begins to describe a file gives its readers the right to read it only if the writer brings the file or may read it.
 * A right of an earlier document with this name, or of an earlier state of this one, ends here. Call it before the document is written.
 */
export async function recordFiles(
  { application }: Pick<Writing, 'application'>,
  { current, next, by, brought = [] }: WrittenChange,
): Promise<undefined | Problem> {
  if (!next) return undefined
  const { files } = application
  const { iri } = next.document
  const before = new Set(current && isWhole(current) ? described(current, application) : [])
  const fresh = described(next.document, application).filter((sha1) => !before.has(sha1) && !brought.includes(sha1))
  for (const [i, sha1] of fresh.entries()) {
    if (!(await files.find(sha1))) continue
    const mayRead = by !== undefined && i < MOST_FILES && (await mayReadFile(by.context, sha1))
    if (isFailure(mayRead)) return mayRead
    const failed = await (mayRead ? files.addDocument(sha1, iri) : files.removeDocument(sha1, iri))
    if (failed) return failed
  }
  return undefined
}

function described({ nTriples }: Document, application: Writing['application']): string[] {
  const uploads = `<${uploadsOf(application)}`
  const typing = `> <${RDF('type')}> <${NFO('FileDataObject')}> .`
  return linesBeginning(nTriples, uploads)
    .filter((line) => line.endsWith(typing))
    .map((line) => line.slice(uploads.length, -typing.length))
    .filter(isSha1)
}
