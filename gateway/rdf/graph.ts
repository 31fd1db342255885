// A graph as a value: triples and their canonical N-Triples (RDF 1.2 N-Triples §4), sorted as bytes. Checks each term
// that becomes part of a line, so that no client can end a term or a line early.
import type { BlankNode, Literal, NamedNode, Quad, Term } from '@rdfjs/types'
import { grown } from '../thread-memory.js'
import { DataFactory } from './n3.js'
import { RDF, XSD } from './vocabulary.js'

export const { namedNode, blankNode, literal, defaultGraph } = DataFactory

/** The memory of a triple with its terms, and of a line, beside their characters. */
const [TRIPLE_BYTES, LINE_BYTES] = [256, 64]

export const quad: MakeQuad = (subject, predicate, object, graph) => {
  grown(TRIPLE_BYTES)
  return DataFactory.quad(subject, predicate, object, graph)
}
type MakeQuad = (...terms: [Quad['subject'], Quad['predicate'], Quad['object'], Quad['graph']?]) => Quad

/**
 * The distinct triples of a graph, each with its canonical N-Triples line (without line end), sorted as UTF-8 bytes.
 */
export interface Graph {
  readonly triples: readonly Quad[]
  readonly lines: readonly string[]
}

const XSD_STRING = XSD('string')

// RDF 1.1 Turtle §6.5 IRIREF: characters that an IRI may not contain, even if they were escaped.
const NOT_IN_IRI = /[\x00-\x20<>"{}|^`\\]/
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:/
// RFC 3987 §2.2: complete percent-encodings, brackets only around an IP address, one fragment. Stores refuse the rest.
const isWellFormedIri = (value: string): boolean =>
  !/%(?![0-9A-Fa-f]{2})|#.*#/s.test(value) &&
  (!/[[\]]/.test(value) ||
    (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#[\]]*@)?\[[0-9A-Fa-f:.]+\](?::\d*)?(?:[/?#][^[\]]*)?$/.test(value) &&
      URL.canParse(value)))

// BCP 47, restricted to what Turtle's LANGTAG allows.
const LANGUAGE = /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/

/** How deeply triple terms may be nested. */
export const DEEPEST_TERM = 32

const TAGGED: ReadonlySet<string> = new Set([RDF('langString'), RDF('dirLangString')])

/** The reason why clients may not write a triple; undefined for well-formed RDF 1.2 terms with absolute IRIs. */
export function flawOf({ subject, predicate, object }: Quad, depth = 0): string | undefined {
  if (subject.termType !== 'NamedNode' && subject.termType !== 'BlankNode')
    return `a ${nameOf(subject.termType)} as subject`
  if (predicate.termType !== 'NamedNode') return `a ${nameOf(predicate.termType)} as predicate`
  return flawOfTerm(subject) ?? flawOfTerm(predicate) ?? flawOfTerm(object, depth)
}

/** True for an absolute IRI that clients may write. */
export const isIri = (value: string): boolean => flawOfTerm(namedNode(value)) === undefined

/** True for an absolute IRI that clients may write as the datatype of a literal. */
export const isDatatype = (value: string): boolean => flawOfTerm(typed('', value)) === undefined

const nameOf = (termType: string): string => (termType === 'Quad' ? 'triple term' : termType)

function flawOfTerm(term: Term, depth = 0): string | undefined {
  switch (term.termType) {
    case 'NamedNode':
      if (!ABSOLUTE.test(term.value)) return `the relative IRI <${term.value}>`
      if (!isWellFormedIri(term.value)) return `the malformed IRI <${term.value}>`
      return NOT_IN_IRI.test(term.value) || !term.value.isWellFormed() ? `the malformed IRI <${term.value}>` : undefined
    case 'BlankNode':
      return undefined
    case 'Literal':
      if (!term.value.isWellFormed()) return 'a literal with half a surrogate pair'
      if (term.language) return flawOfTag(term.language, directionOf(term))
      if (TAGGED.has(term.datatype.value)) return `the datatype <${term.datatype.value}> without a language tag`
      return flawOfTerm(term.datatype)
    case 'Quad':
      return depth < DEEPEST_TERM
        ? flawOf(term as Quad, depth + 1)
        : `triple terms nested more than ${DEEPEST_TERM} levels deep`
    default:
      return `a ${term.termType} as object`
  }
}

function flawOfTag(language: string, direction: string | undefined): string | undefined {
  if (!LANGUAGE.test(language)) return `the malformed language tag ${language}`
  return direction === undefined || direction === 'ltr' || direction === 'rtl'
    ? undefined
    : `the base direction ${direction}, which is neither ltr nor rtl`
}

/** The base direction of a literal (RDF 1.2 Concepts §3.4). */
export const directionOf = (term: Literal): 'ltr' | 'rtl' | undefined => term.direction || undefined

/** True if the term exists only in RDF 1.2. */
export const isOfRdf12 = (term: Term): boolean =>
  term.termType === 'Quad' || (term.termType === 'Literal' && directionOf(term) !== undefined)

const ESCAPES: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
}

const TO_ESCAPE = /[\x00-\x1f\x7f"\\]/g
const escaped = (text: string): string =>
  text.replace(TO_ESCAPE, (character) => ESCAPES[character] ?? codeEscape(character))

/** Text as a literal in canonical N-Triples, without creating a term. */
export const nTriplesText = (text: string): string => `"${escaped(text)}"`

const codeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

const EACH_NOT_IN_IRI = new RegExp(NOT_IN_IRI, 'g')

/** No character in a stored IRI may end the term early. */
const iriText = (value: string): string => (NOT_IN_IRI.test(value) ? value.replace(EACH_NOT_IN_IRI, codeEscape) : value)

/** A term in canonical N-Triples. Language tags are lower case, as they are compared (RDF 1.1 Concepts §3.3). */
export function nTriplesTerm(term: Term): string {
  switch (term.termType) {
    case 'NamedNode':
      return `<${iriText(term.value)}>`
    case 'BlankNode':
      return `_:${term.value}`
    case 'Literal': {
      const text = nTriplesText(term.value)
      const direction = directionOf(term)
      if (term.language) return `${text}@${term.language.toLowerCase()}${direction ? `--${direction}` : ''}`
      return term.datatype.value === XSD_STRING ? text : `${text}^^<${iriText(term.datatype.value)}>`
    }
    case 'Quad':
      return `<<( ${nTriplesTerm(term.subject)} ${nTriplesTerm(term.predicate)} ${nTriplesTerm(term.object)} )>>`
    default:
      throw new TypeError(`no N-Triples form for a ${term.termType}`)
  }
}

/**
 * The canonical line that a triple was read from: writing it again would take most of the time of a write. It is stored
 * on the triple, since a WeakMap would retain it, and its whole text, until the next full garbage collection.
 */
const LINE = Symbol('line')
type Read = Quad & { [LINE]?: string }
export const rememberLine = (triple: Quad, line: string): unknown => ((triple as Read)[LINE] = line)

export const nTriplesLine = (triple: Quad): string =>
  (triple as Read)[LINE] ??
  counted(`${nTriplesTerm(triple.subject)} ${nTriplesTerm(triple.predicate)} ${nTriplesTerm(triple.object)} .`)

/** Counts the memory of a line that will be kept. */
export function counted(line: string): string {
  grown(LINE_BYTES + 2 * line.length)
  return line
}

/** Without duplicates, in the order of UTF-8 bytes. */
export const sortedAsBytes = (lines: Iterable<string>): string[] => sortAsBytes([...new Set(lines)])

/** Sorts in place. Uses the default order, which is far faster, if no character makes a difference. */
export const sortAsBytes = (lines: string[]): string[] =>
  lines.some((line) => SURROGATES.test(line)) ? lines.sort(compareAsBytes) : lines.sort()
const SURROGATES = /[\ud800-\uffff]/

/** The order of UTF-8 bytes (`LC_ALL=C sort`). UTF-16 differs only between surrogates and U+E000 to U+FFFF. */
export function compareAsBytes(a: string, b: string): number {
  if (a === b) return 0
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    return utf8Rank(x) - utf8Rank(y)
  }
  return a.length - b.length
}

// Surrogates encode U+10000 and above, so they come after U+E000 to U+FFFF.
const utf8Rank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** The graph of these triples: duplicates removed, sorted. */
export function graphOf(triples: Iterable<Quad>): Graph {
  const byLine = new Map<string, Quad>()
  for (const triple of triples) {
    grown(LINE_BYTES)
    byLine.set(nTriplesLine(triple), triple)
  }
  const lines = sortAsBytes([...byLine.keys()])
  return { lines, triples: lines.map((line) => byLine.get(line)!) }
}

/** The graph as one N-Triples document. */
export function nTriplesOf({ lines }: Pick<Graph, 'lines'>): string {
  grown(2 * lines.reduce((sum, line) => sum + line.length, 0))
  return lines.length === 0 ? '' : lines.join('\n') + '\n'
}

/** The values of a property of a subject, IRIs and literals, as strings. */
export const valuesOf = (graph: Pick<Graph, 'triples'>, subject: string, predicate: string): string[] =>
  graph.triples
    .filter((t) => t.subject.value === subject && t.predicate.value === predicate && t.object.termType !== 'Quad')
    .map((t) => t.object.value)

/** The values of a property of a subject that are IRIs. */
export const irisOf = (graph: Pick<Graph, 'triples'>, subject: string, predicate: string): string[] =>
  graph.triples
    .filter((t) => t.subject.value === subject && t.predicate.value === predicate && t.object.termType === 'NamedNode')
    .map((t) => t.object.value)

/** Replaces the blank nodes of a triple, also in triple terms. Returns the triple itself if it has none. */
export function withNodes(triple: Quad, nodeOf: (label: string) => NamedNode | BlankNode): Quad {
  const other = (term: Term): Term =>
    term.termType === 'BlankNode'
      ? nodeOf(term.value)
      : term.termType === 'Quad'
        ? withNodes(term as Quad, nodeOf)
        : term
  const [subject, object] = [other(triple.subject), other(triple.object)]
  if (subject === triple.subject && object === triple.object) return triple
  return quad(subject as Quad['subject'], triple.predicate, object as Quad['object'])
}

export const iri = (value: string): NamedNode => namedNode(value)
export const text = (value: string): Literal => literal(value)
export const typed = (value: string, datatype: string): Literal => literal(value, namedNode(datatype))
export const triple = (subject: string, predicate: string, object: NamedNode | Literal): Quad =>
  quad(namedNode(subject), namedNode(predicate), object)

export type { Quad, Term, NamedNode, BlankNode, Literal }
