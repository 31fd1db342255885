// In charge of documents that begin to describe a file without bringing it: their readers may read it where the writer may.
import { isSha1 } from '../files/files.js'
import { uploadsOf } from '../files/sweep-files.js'
import { isWhole, type Document } from '../documents/document.js'
import { isFailure, type Problem } from '../problem.js'
import { linesBeginning } from '../rdf/sorted-lines.js'
import { NFO, RDF } from '../rdf/vocabulary.js'
import type { Context } from '../request/context.js'
import { mayReadFile } from '../request/file-access.js'

/** Of one write: each takes a question to the store. */
const MOST_FILES = 100

/** Call it before the document is written. */
export async function recordFiles(
  context: Context,
  current: Document | undefined,
  next: Document,
): Promise<undefined | Problem> {
  const { application } = context
  const before = new Set(current && isWhole(current) ? described(current, application) : [])
  const fresh = described(next, application).filter((sha1) => !before.has(sha1))
  for (const sha1 of fresh.slice(0, MOST_FILES)) {
    const documents = await application.files.documentsOf(sha1)
    if (documents.has(next.iri) || !(await application.files.find(sha1))) continue
    const mayRead = await mayReadFile(context, sha1)
    if (isFailure(mayRead)) return mayRead
    const failed = mayRead ? await application.files.addDocument(sha1, next.iri) : undefined
    if (failed) return failed
  }
  return undefined
}

function described({ nTriples }: Document, application: Context['application']): string[] {
  const uploads = `<${uploadsOf(application)}`
  const typing = `> <${RDF('type')}> <${NFO('FileDataObject')}> .`
  return linesBeginning(nTriples, uploads)
    .filter((line) => line.endsWith(typing))
    .map((line) => line.slice(uploads.length, -typing.length))
    .filter(isSha1)
}
