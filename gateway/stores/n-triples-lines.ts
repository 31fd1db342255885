// N-Triples as lines of text (RDF 1.2 N-Triples §2): checks them, gives them one layout, keeps each term as written,
// and divides them into pieces of UTF-8. Parsing would lose spellings such as "042" or "\u0041". Pure.
import { DEEPEST_TERM, counted } from '../rdf/graph.js'

const HEX = '[0-9A-Fa-f]'
// A code point that is not half of a surrogate pair.
const UCHAR = `\\\\(?:u|U0000)(?:[0-9A-CE-Fa-ce-f]${HEX}{3}|[Dd][0-7]${HEX}{2})|\\\\U00(?:0[1-9A-Fa-f]|10)${HEX}{4}`
// Plain text, with more plain text after each escape. A text can match in one way only, so matching takes linear time.
const IN_IRI = '[^\\x00-\\x20<>"{}|^`\\\\]*'
const IN_LITERAL = '[^"\\\\\\n\\r]*'
const IRI = `<[A-Za-z][A-Za-z0-9+.-]*:${IN_IRI}(?:(?:${UCHAR})${IN_IRI})*>`
const BLANK_NODE = '_:[\\w\\u{C0}-\\u{EFFFF}](?:[\\w.\\-\\u{B7}-\\u{EFFFF}]*[\\w\\-\\u{B7}-\\u{EFFFF}])?'
const LANGUAGE = '@[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*(?:--(?:ltr|rtl))?'
const LITERAL = `"${IN_LITERAL}(?:(?:\\\\[tbnrf"'\\\\]|${UCHAR})${IN_LITERAL})*"(?:${LANGUAGE}|\\^\\^${IRI})?`
const SUBJECT = `[ \\t]*(${IRI}|${BLANK_NODE})[ \\t]*`
const OBJECT = `[ \\t]*(${IRI}|${BLANK_NODE}|${LITERAL})[ \\t]*`
const TRIPLE = new RegExp(`^${SUBJECT}(${IRI})${OBJECT}\\.[ \\t]*(?:#.*)?$`, 'u')
// A triple term is the last term of its triple: the terms before it begin at the left, and its brackets close at the
// right.
const BEGINNING = new RegExp(`${SUBJECT}(${IRI})[ \\t]*<<\\(`, 'uy')
const INNERMOST = new RegExp(`${SUBJECT}(${IRI})${OBJECT}((?:\\)>>[ \\t]*)+)\\.[ \\t]*(?:#.*)?$`, 'uy')
const NOTHING = /^[ \t]*(?:#.*)?$/

type Terms = readonly [subject: string, predicate: string, object: string]

/** The terms of a line, each as written except for white space in triple terms; undefined if it is not a triple. */
function termsOf(line: string, label: (written: string) => string): Terms | undefined {
  const [, subject, predicate, object] = TRIPLE.exec(line) ?? []
  if (subject && predicate && object) return [relabelled(subject, label), predicate, relabelled(object, label)]
  return line.includes('<<(') ? nestedTermsOf(line, label) : undefined
}

function nestedTermsOf(line: string, label: (written: string) => string): Terms | undefined {
  const around: [subject: string, predicate: string][] = []
  BEGINNING.lastIndex = 0
  for (let begun = BEGINNING.exec(line); begun; begun = BEGINNING.exec(line)) {
    if (around.push([relabelled(begun[1]!, label), begun[2]!]) > DEEPEST_TERM) return undefined
    INNERMOST.lastIndex = BEGINNING.lastIndex
  }
  if (around.length === 0) return undefined
  const [, subject, predicate, object, closing] = INNERMOST.exec(line) ?? []
  if (!subject || !predicate || !object || closing!.split(')>>').length - 1 !== around.length) return undefined
  let term = `${relabelled(subject, label)} ${predicate} ${relabelled(object, label)}`
  for (const [outer, property] of around.slice(1).reverse()) term = `${outer} ${property} <<( ${term} )>>`
  return [...around[0]!, `<<( ${term} )>>`]
}

/**
 * The distinct triples as lines without line ends; undefined if a line is not an RDF 1.2 triple with absolute IRIs.
 * Terms stay as written, except that `label` gives blank nodes their labels.
 */
export function linesIn(nTriples: string, label: (written: string) => string): Set<string> | undefined {
  if (!nTriples.isWellFormed()) return undefined
  const lines = new Set<string>()
  for (const line of nTriples.split(/[\r\n]/)) {
    const terms = termsOf(line, label)
    if (terms) lines.add(counted(`${terms.join(' ')} .`))
    else if (!NOTHING.test(line)) return undefined
  }
  return lines
}

const relabelled = (term: string, label: (written: string) => string): string =>
  term.startsWith('_:') ? label(term) : term

/** The IRIs of a line in the layout of `linesIn`: each term that ends with `>` is an IRI, or ends with a datatype. */
export function irisIn(line: string): string[] {
  const predicateAt = line.indexOf(' ') + 1
  const objectAt = line.indexOf(' ', predicateAt) + 1
  const object = line.slice(objectAt, -2)
  const terms = [line.slice(0, predicateAt - 1), line.slice(predicateAt, objectAt - 1)]
  const iris = [...terms, object].filter((term) => term.endsWith('>') && !term.endsWith(')>>'))
  const nested = object.startsWith('<<(') ? irisIn(`${object.slice('<<( '.length, -' )>>'.length)} .`) : []
  return [...iris.map((term) => term.slice(term.lastIndexOf('<') + 1, -1)), ...nested]
}

/** True if a line in that layout has a blank node. */
export const hasBlankNode = (line: string): boolean => /^_:|^\S+ \S+ (?:<<\( (?:\S+ \S+ )?)*_:/.test(line)

/** True if a line is a triple of RDF 1.2. */
export const isTriple = (line: string): boolean => termsOf(line, (written) => written) !== undefined

/** False if a text has only RDF 1.1. */
export const mayBeRdf12 = (text: string): boolean => text.includes('<<(') || /"@[a-z-]*--(?:ltr|rtl)/i.test(text)

export const linesOf = (text: string): string[] => text.split('\n').filter(Boolean)

/** Lines as one text, '' for none. */
export const textOfLines = (lines: Iterable<string>): string => {
  const text = [...lines].join('\n')
  return text && `${text}\n`
}

const PIECE_LENGTH = 64 * 1024

/** A long text as UTF-8. No character is divided between two pieces. */
export function* utf8Pieces(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let at = 0; at < text.length;) {
    const end = at + PIECE_LENGTH
    const last = text.charCodeAt(end - 1)
    const piece = text.slice(at, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)
    yield encoder.encode(piece)
    at += piece.length
  }
}
