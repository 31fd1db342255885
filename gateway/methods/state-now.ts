// In charge of the state that a write rests on, read from the store under the lock of its document.
import { isLarge, isWhole, type Document } from '../documents/document.js'
import { keptOfFacts, type DocumentFacts } from '../documents/facts.js'
import { uploadsOf } from '../files/sweep-files.js'
import { isFailure, type Problem } from '../problem.js'
import { lookUpDocument, type Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { isConditional } from './write-conditions.js'
import { isByImport, isLargeContent, type WriteRequest } from './write-request.js'

/**
 * The facts, with the content where the write needs it. A PUT replaces the content, and keeps facts alone. It needs no more where no
 * condition, no history, no description of a file and no import does, and where the document was small when it was last seen: a
 * large one is not replaced.
 */
export async function stateNow(
  context: Context,
  iri: string,
  asked: WriteRequest,
  isContentNeeded: boolean,
): Promise<Facts | Problem> {
  const { application, request } = context
  const { documents, facts: known } = application.cache
  const seen = documents.cached(iri) ?? known.cached(iri)
  const wasSmall = seen?.value !== undefined && isWhole(seen.value)
  const isContentKept =
    asked.method !== 'PUT' || isByImport(asked) || application.mirrored !== undefined || describesFile(context, asked)
  const mayDoWithout = !isContentNeeded && !isContentKept && !isConditional(request.fields)
  if (mayDoWithout && seen && (wasSmall || !seen.value)) {
    const facts = await lookUpDocument(context, iri, 'factsNow')
    if (isFailure(facts) || facts.kind !== 'document' || !facts.document) return facts
    if (wasSmall && facts.document.text !== undefined) return facts
  }
  return lookUpDocument(context, iri, 'now')
}

/** A description that was there before gives nobody a right to its file (described-files.ts). */
function describesFile({ application }: Context, { content }: WriteRequest & { readonly method: 'PUT' }): boolean {
  const uploads = uploadsOf(application)
  return isLargeContent(content)
    ? content.nTriples.includes(`<${uploads}`)
    : content.some(({ subject }) => subject.value.startsWith(uploads))
}

/** The part of the state that a PUT keeps. */
export function keptOf(current: DocumentFacts): Pick<Document, 'iri' | 'nTriples'> | undefined {
  if (isWhole(current)) return current
  return isLarge(current) ? current.unreadable?.managed : keptOfFacts(current)
}
