// The text that a person edits: the triples of a document that the gateway does not manage, as Turtle; and the changes
// made by editing it.
import { documentDifference, type DocumentDifference } from '../../../versioning/memento/difference.js'
import { managedLines } from '../../documents/changed-document.js'
import { isLarge, isWhole, type Document } from '../../documents/document.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphOf, iri, nTriplesLine, nTriplesOf, triple } from '../../rdf/graph.js'
import { declarationsIn, prefixesIn } from '../../rdf/declared-prefixes.js'
import { readCanonical, readGraph } from '../../rdf/read.js'
import { changedLines, hasLine } from '../../rdf/sorted-lines.js'
import { DH, RDF } from '../../rdf/vocabulary.js'
import { writeRelativeTurtle } from '../../rdf/write.js'
import { askerOf, contextsFor, type Context } from '../../request/context.js'
import { documentToShow } from '../../request/decide-again.js'
import { shownTo } from '../../request/hide-mailboxes.js'
import { datasetPrefixes } from '../../request/prefixes.js'
import { linesOf } from '../../stores/n-triples-lines.js'

/** In characters of N-Triples: they are parsed and written in one step (design 7). */
const LARGEST = 256 * 1024

export const tooLargeToEdit = problem(
  'content.too-large',
  'This document is too large to be edited as one text. Use a SPARQL update, or PUT a file.',
)

/**
 * The document as its agent sees it (design 3), from which all forms are made; undefined if there is none.
 * @param now bypasses the cache
 */
export async function shownDocument(
  context: Context,
  iri: string,
  now = false,
): Promise<Document | undefined | Problem> {
  const facts = await documentToShow(context, iri, now)
  if (isFailure(facts)) return facts
  const document = facts.kind === 'document' ? facts.document : undefined
  if (!document) return undefined
  return isLarge(document) || !isWhole(document) ? tooLargeToEdit : shownTo(context, document)
}

/** Canonical N-Triples without managed triples; but the type of a container stays, since the writer chooses it. */
export function ownTriples({ iri: document, nTriples }: Pick<Document, 'iri' | 'nTriples'>): string {
  const container = nTriplesLine(triple(document, RDF('type'), iri(DH('Container'))))
  return changedLines(
    nTriples,
    managedLines(nTriples, document).filter((line) => line !== container),
    [],
  )
}

/** Tested before anything of the document is parsed. */
export const isTooLargeToEdit = ({ nTriples }: Pick<Document, 'nTriples'>): boolean => nTriples.length > LARGEST

/** @param typed the person's Turtle, whose prefixes are kept */
export function editableTurtle(
  context: Context,
  document: string,
  nTriples: string,
  typed: string | undefined,
): Promise<string | Problem> | Problem {
  if (nTriples.length > LARGEST) return tooLargeToEdit
  const prefixes = { ...datasetPrefixes(context)?.prefixes, ...prefixesIn(typed ?? '') }
  return relativeTurtle(document, nTriples, prefixes)
}

/** Remembers the prefixes of the person's text for the next edit of the document. */
export function rememberPrefixes({ gateway }: Context, document: string, turtle: string): void {
  gateway.caches.prefixes.set(document, { text: declarationsIn(turtle) })
}

export const prefixesOf = ({ gateway }: Context, document: string): string | undefined =>
  gateway.caches.prefixes.get(document)?.text

/** Uses relative IRIs only if the text is then read as the same triples. */
async function relativeTurtle(
  document: string,
  nTriples: string,
  prefixes: Readonly<Record<string, string>>,
): Promise<string> {
  const graph = graphOf(readCanonical(nTriples))
  const text = writeRelativeTurtle(graph, document, prefixes)
  const again = await readGraph(Buffer.from(text), 'text/turtle', document, {})
  const isSame = !isFailure(again) && nTriplesOf(graphOf(again)) === nTriplesOf(graph)
  return isSame ? text : nTriplesOf(graph)
}

/** The person's text as canonical N-Triples, up to the size of a document that can be edited. */
export async function typedTriples(context: Context, document: string, turtle: string): Promise<string | Problem> {
  const content = { body: Buffer.from(turtle), contentType: 'text/turtle', base: document }
  const typed = await context.gateway.reading.readText(askerOf(context), content, contextsFor(context))
  return !isFailure(typed) && typed.length > LARGEST ? TYPED_TOO_MUCH : typed
}

const TYPED_TOO_MUCH = problem(
  'content.too-large',
  `The text is too large for a preview: over ${LARGEST} characters as N-Triples. Save it without a preview, or send a file.`,
)

/** The triples that the document, which may be large, does not contain yet. */
export const linesToAdd = ({ nTriples }: Pick<Document, 'nTriples'>, typed: string): string[] =>
  linesOf(typed).filter((line) => !hasLine(nTriples, line))

export const differenceOf = (before: string, after: string): DocumentDifference => documentDifference(before, after)

/** The current state, with the changes from `started` to `mine`. */
export function merged(started: string, mine: string, now: string): string {
  const { added, removed } = documentDifference(started, mine)
  return changedLines(now, removed, added)
}
