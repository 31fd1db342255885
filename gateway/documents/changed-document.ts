// Computes the next state of a document that a POST or PATCH changes in part (spec 2.1). Only the changed lines are
// parsed, sorted and hashed: a write costs what it changes plus one copy of the text. Pure.
import { changedSum } from '../../cache/entity-tag.js'
import { documentDifference } from '../../versioning/memento/difference.js'
import { changedText, type Canonical } from '../evaluation/large-changes.js'
import { nTriplesLine, type Quad } from '../rdf/graph.js'
import { changedLines, hasLine, linesAbout, linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'
import { documentOfText, type Document } from './document.js'
import { KINDS } from './hierarchy.js'
import {
  hierarchyTriples,
  kindOf,
  MANAGED,
  managedTriples,
  provenanceAfter,
  provenanceOfNew,
  type Write,
} from './next-state.js'

export interface DocumentChange extends Pick<Write, 'document' | 'base' | 'now' | 'uuid' | 'forms'> {
  readonly method: 'POST' | 'PATCH'
  readonly current: Document
  /** Lines to remove from the current state. */
  readonly removed: readonly string[]
  readonly added: readonly Quad[]
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
}

/** For existing documents. The kind is kept unless it is changed. A PATCH may leave nothing, or change nothing. */
export function changedDocument(change: DocumentChange): Document | 'absent' | 'unchanged' {
  const { method, current, uuid, tagKey } = change
  const changed = changedText(current.nTriples, change, uuid)
  if (method === 'PATCH' && changed === 'unchanged') return changed
  const nTriples = changed === 'unchanged' ? current.nTriples : changed
  const sum = changedSum(current.sum, documentDifference(current.nTriples, nTriples), tagKey)
  return documentAfter(change, { nTriples, sum })
}

/** The document made of these lines and its managed triples. */
export function documentAfter(change: Omit<DocumentChange, 'removed' | 'added'>, left: Canonical): Document | 'absent' {
  const { method, document, base, current, now, tagKey } = change
  if (left.nTriples === '') return 'absent'
  const kind = kindOf(method, current.types, (type) => hasLine(left.nTriples, typeLine(document, type)))
  const managed = [
    ...hierarchyTriples(document, base, kind),
    ...provenanceAfter(managedTriples(current), document, now),
  ]
  return withManaged({ document, base, tagKey }, left, managed)
}

/** The document after a PUT of large content. */
export function replacedDocument(
  write: Omit<Write, 'content'> & { readonly tagKey: string },
  content: Omit<Canonical, 'sum'> & Partial<Canonical>,
): Document {
  const { document, base, current, now } = write
  const kind = kindOf('PUT', [], (type) => hasLine(content.nTriples, typeLine(document, type)))
  const provenance = current ? provenanceAfter(current, document, now) : provenanceOfNew(write)
  return withManaged(write, content, [...hierarchyTriples(document, base, kind), ...provenance])
}

function withManaged(
  { document, base, tagKey }: Pick<DocumentChange, 'document' | 'base' | 'tagKey'>,
  { nTriples, sum }: Omit<Canonical, 'sum'> & Partial<Canonical>,
  managed: readonly Quad[],
): Document {
  const wanted = new Set(managed.map(nTriplesLine))
  const removed = managedLines(nTriples, document).filter((line) => !wanted.has(line))
  const own = linesAbout(nTriples, document)
  const added = [...wanted].filter((line) => !hasLine(own, line))
  const text = changedLines(nTriples, removed, added)
  const summed = sum === undefined ? {} : { sum: changedSum(sum, { added, removed }, tagKey) }
  return documentOfText(document, base, { nTriples: text, ...summed }, tagKey)
}

const typeLine = (document: string, type: string): string => `<${document}> <${RDF('type')}> <${type}> .`

export function managedLines(nTriples: string, document: string): string[] {
  const own = linesAbout(nTriples, document)
  return [
    ...[...MANAGED].flatMap((property) => linesBeginning(own, `<${document}> <${property}> `)),
    ...[...KINDS].map((type) => typeLine(document, type)).filter((line) => hasLine(own, line)),
  ]
}
