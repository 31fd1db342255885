// In charge of the next state of a document that a POST or a PATCH changes in part (spec 2.1): only the lines that change are
// parsed, sorted and hashed, so that a write to a large document costs what it changes and a copy of the text. Pure.
import { changedSum } from '../../cache/entity-tag.js'
import { documentDifference } from '../../versioning/memento/difference.js'
import { graphOf, nTriplesLine, nTriplesOf, type Quad } from '../rdf/graph.js'
import { readCanonical } from '../rdf/read.js'
import { changedLines, hasLine, linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'
import { mayHaveBlankNodes } from '../stores/n-triples-lines.js'
import { documentOfText, type Document } from './document.js'
import { KINDS } from './hierarchy.js'
import {
  hierarchyTriples,
  kindOf,
  MANAGED,
  managedTriples,
  provenanceAfter,
  skolemised,
  type Write,
} from './next-state.js'

export interface Change extends Pick<Write, 'document' | 'base' | 'now' | 'uuid'> {
  readonly method: 'POST' | 'PATCH'
  readonly current: Document
  /** Lines of the current state. */
  readonly removed: readonly string[]
  readonly added: readonly Quad[]
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
}

/** For an existing document; it keeps its kind where that is not changed. A PATCH may leave nothing, or change nothing. */
export function changedDocument(change: Change): Document | 'absent' | 'unchanged' {
  const { method, document, base, current, removed, now, uuid, tagKey } = change
  const named = (triples: readonly Quad[]): Quad[] => skolemised(triples, document, uuid)
  // Blank nodes that others have stored become IRIs too. The labels of a PATCH are those of the current state.
  const isOld = mayHaveBlankNodes(current.nTriples)
  const added = (isOld && method === 'PATCH' ? change.added : named(change.added)).map(nTriplesLine)
  const changed = changedLines(current.nTriples, removed, added)
  if (method === 'PATCH' && changed === current.nTriples) return 'unchanged'
  if (changed === '') return 'absent'
  const given = isOld ? nTriplesOf(graphOf(named(readCanonical(changed)))) : changed
  const kind = kindOf(method, current.types, (type) => hasLine(given, typeLine(document, type)))
  const managed = [
    ...hierarchyTriples(document, base, kind),
    ...provenanceAfter(managedTriples(current), document, now),
  ].map(nTriplesLine)
  const nTriples = changedLines(given, managedLines(given, document), managed)
  const difference = documentDifference(current.nTriples, nTriples)
  return documentOfText(document, base, { nTriples, sum: changedSum(current.sum, difference, tagKey) }, tagKey)
}

const typeLine = (document: string, type: string): string => `<${document}> <${RDF('type')}> <${type}> .`

const managedLines = (nTriples: string, document: string): string[] => [
  ...[...MANAGED].flatMap((property) => linesBeginning(nTriples, `<${document}> <${property}> `)),
  ...[...KINDS].map((type) => typeLine(document, type)),
]
