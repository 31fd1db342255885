// Large contents and changes of documents as texts: a reading thread parses, sorts and hashes them, so the write itself
// only splices lines (design 7). Pure.
import { mayHaveBlankNodes } from '../../versioning/log/content.js'
import { randomUUID } from 'node:crypto'
import { changedSum, sumOf } from '../../cache/entity-tag.js'
import { documentDifference } from '../../versioning/memento/difference.js'
import { problem, type Problem } from '../problem.js'
import { graphOf, nTriplesLine, nTriplesOf, type Quad } from '../rdf/graph.js'
import { AS_WRITTEN, inForms, mayBeRewritten, type LiteralForms } from '../rdf/literal-forms.js'
import { readCanonical, readNTriples } from '../rdf/read.js'
import { skolemised } from '../rdf/skolemised.js'
import { changedLines } from '../rdf/sorted-lines.js'
import { linesOf } from '../stores/n-triples-lines.js'

/** A graph as its canonical N-Triples, and the sum of their lines (cache/entity-tag.ts). */
export interface Canonical {
  readonly nTriples: string
  readonly sum: string
}

/** The triples that result from a write or are given to it, without blank nodes. */
export interface LargeContent extends Canonical {
  /** True if a store may return them in another spelling. */
  readonly isRewritable: boolean
  /** The triples with the blank nodes of the content, if it has any. */
  readonly labelled?: string
}

/** Content that is to be stored in a document. */
export interface StoredWith {
  readonly document: string
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
  /** How the store normalises literals. */
  readonly forms: LiteralForms
}

export function largeContentOf(triples: readonly Quad[], { document, tagKey, forms }: StoredWith): LargeContent {
  const named = skolemised(triples, document, randomUUID)
  const graph = graphOf(inForms(named, forms))
  const isLabelled = named.some((triple, i) => triple !== triples[i])
  return {
    nTriples: nTriplesOf(graph),
    sum: sumOf(graph.lines, tagKey),
    isRewritable: mayBeRewritten(graph, forms),
    ...(isLabelled && { labelled: nTriplesOf(graphOf(triples)) }),
  }
}

/** `removed`: lines of canonical N-Triples; `added`: N-Triples. */
export interface LargeChange extends StoredWith {
  readonly method: 'POST' | 'PATCH'
  readonly current: Canonical
  readonly removed: string
  readonly added: string
}

/** The graph after the change; 'unchanged' if no line changes. */
export function changeLarge(change: LargeChange): LargeContent | 'unchanged' | Problem {
  const { method, current, removed, document, tagKey, forms } = change
  const added = readNTriples(change.added)
  if (!added) return problem('internal', 'The update produced triples that cannot be read.')
  const lines = { method, removed: linesOf(removed), added, document, forms }
  const after = changedText(current.nTriples, lines, randomUUID)
  if (after === 'unchanged') return after
  const difference = documentDifference(current.nTriples, after)
  return {
    nTriples: after,
    sum: changedSum(current.sum, difference, tagKey),
    isRewritable: mayBeRewritten({ triples: added }, forms),
  }
}

interface LinesChange extends Pick<LargeChange, 'method' | 'document'> {
  readonly removed: readonly string[]
  readonly added: readonly Quad[]
  readonly forms?: LiteralForms | undefined
}

/**
 * Canonical N-Triples after a change. Blank nodes that other clients stored become IRIs too, and a PATCH refers to them
 * by their labels.
 */
export function changedText(
  nTriples: string,
  { method, removed, added, document, forms = AS_WRITTEN }: LinesChange,
  uuid: () => string,
): string | 'unchanged' {
  const isOld = mayHaveBlankNodes(nTriples)
  const named = isOld && method === 'PATCH' ? added : skolemised(added, document, uuid)
  const lines = inForms(named, forms).map(nTriplesLine)
  const changed = changedLines(nTriples, removed, lines)
  if (changed === nTriples && (method === 'PATCH' || !isOld)) return 'unchanged'
  return isOld ? nTriplesOf(graphOf(skolemised(readCanonical(changed), document, uuid))) : changed
}
