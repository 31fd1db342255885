// The effect of a SPARQL update on the documents that it names: the rules for every write apply (design 3).
import type { Document } from '../documents/document.js'
import { isRoot } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { RDF } from '../rdf/vocabulary.js'
import type { Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { linesOf } from '../stores/n-triples-lines.js'
import type { GraphEdit } from '../stores/store.js'
import { addsNoType, type WrittenChange } from './write-rules.js'
import { afterCreation, afterPatch, nextDocument } from './next-document.js'
import type { AccessBefore } from './self-granted-modes.js'

/** A document named by an update, in its state under the lock. */
export interface FoundDocument {
  readonly iri: string
  /** Includes the parent if the document does not exist. */
  readonly facts: Facts & { readonly kind: 'document' }
  readonly current: Document | undefined
  readonly access: AccessBefore
  /** Undefined if only the document is read. */
  readonly mode: 'Append' | 'Write' | undefined
}

interface Edited {
  readonly text: string
  readonly isCleared: boolean
  isMoved(line: string): boolean
}

/**
 * @param text of the update
 * @param isCleared true if the update clears every graph that its agent may read
 * @param isMoved true if the line comes from another graph, and the agent may change everything
 */
export async function changesOf(
  context: Context,
  documents: readonly FoundDocument[],
  edits: readonly GraphEdit[],
  { text, isCleared, isMoved }: Edited,
): Promise<readonly WrittenChange[] | Problem> {
  const { files } = context.application
  /** Others may have written what the update has found, except documents that give the file. */
  const isOfOthers = async (sha1: string): Promise<boolean> => {
    if (text.includes(sha1)) return false
    const giving = await files.documentsOf(sha1)
    return !documents.some(({ iri }) => giving.has(iri))
  }
  const changes: WrittenChange[] = []
  for (const found of documents) {
    const { iri, current, facts, access, mode } = found
    // CLEAR ALL: the documents of the owner and the secretary stay, and the root keeps its managed triples (spec 4.1).
    if (isCleared && context.dataspace.protectedDocuments.has(iri)) continue
    const edit = edits.find(({ graph }) => graph === iri)
    if (!edit) continue
    const by = { context, access, ...(mode === 'Append' && { appends: typesIn(iri, edit) }) }
    const refused = addsNoType({ current, by })
    if (refused) return refused
    let next = await (current ? afterPatch(context, current, edit) : afterCreation(context, iri, edit.added, isMoved))
    if (next === 'absent' && isCleared && isRoot(iri, context.application.base))
      next = await nextDocument(context, iri, { method: 'PUT', content: [] }, current, current)
    if (isFailure(next)) return next
    if (next === 'unchanged') continue
    changes.push({ iri, current, next: next === 'absent' ? undefined : next, parent: facts.parent, by, isOfOthers })
  }
  return changes
}

function typesIn(iri: string, { added }: GraphEdit): string[] {
  const start = `<${iri}> <${RDF('type')}> <`
  return added.flatMap((line) =>
    line.startsWith(start) ? [line.slice(start.length, line.indexOf('>', start.length))] : [],
  )
}

/** The lines of a graph that is not a document, after an edit. */
export const afterEdit = (before: string, { removed, added }: GraphEdit): string => {
  const gone = new Set(removed)
  const lines = [...linesOf(before).filter((line) => !gone.has(line)), ...added]
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
