// In charge of N-Triples as lines of text (RDF 1.1 N-Triples §7): checked, laid out alike, each term as it was written, and
// cut into pieces of UTF-8. Parsed terms would lose spellings such as "042" or "\u0041". Pure.

const HEX = '[0-9A-Fa-f]'
// A code point that is no half of a surrogate pair.
const UCHAR = `\\\\(?:u|U0000)(?:[0-9A-CE-Fa-ce-f]${HEX}{3}|[Dd][0-7]${HEX}{2})|\\\\U00(?:0[1-9A-Fa-f]|10)${HEX}{4}`
// Plain text, and plain text again after each escape: there is one way only to match a text, so that it takes linear time.
const IN_IRI = '[^\\x00-\\x20<>"{}|^`\\\\]*'
const IN_LITERAL = '[^"\\\\\\n\\r]*'
const IRI = `<[A-Za-z][A-Za-z0-9+.-]*:${IN_IRI}(?:(?:${UCHAR})${IN_IRI})*>`
const BLANK_NODE = '_:[\\w\\u{C0}-\\u{EFFFF}](?:[\\w.\\-\\u{B7}-\\u{EFFFF}]*[\\w\\-\\u{B7}-\\u{EFFFF}])?'
const LANGUAGE = '@[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*'
const LITERAL = `"${IN_LITERAL}(?:(?:\\\\[tbnrf"'\\\\]|${UCHAR})${IN_LITERAL})*"(?:${LANGUAGE}|\\^\\^${IRI})?`
const TRIPLE = new RegExp(
  `^[ \\t]*(${IRI}|${BLANK_NODE})[ \\t]*(${IRI})[ \\t]*(${IRI}|${BLANK_NODE}|${LITERAL})[ \\t]*\\.[ \\t]*(?:#.*)?$`,
  'u',
)
const NOTHING = /^[ \t]*(?:#.*)?$/

/**
 * The distinct triples as lines without line ends; undefined where a line is no triple of RDF 1.1 with absolute IRIs. The
 * terms stay as they were written, but blank nodes get the labels that `label` gives.
 */
export function linesIn(nTriples: string, label: (written: string) => string): Set<string> | undefined {
  if (!nTriples.isWellFormed()) return undefined
  const lines = new Set<string>()
  for (const line of nTriples.split(/[\r\n]/)) {
    const [, subject, predicate, object] = TRIPLE.exec(line) ?? []
    if (subject && predicate && object)
      lines.add(`${relabelled(subject, label)} ${predicate} ${relabelled(object, label)} .`)
    else if (!NOTHING.test(line)) return undefined
  }
  return lines
}

const relabelled = (term: string, label: (written: string) => string): string =>
  term.startsWith('_:') ? label(term) : term

/** The IRIs of a line in the layout of `linesIn`: a term that ends with `>` is one, or a literal that ends with one. */
export function irisIn(line: string): string[] {
  const predicateAt = line.indexOf(' ') + 1
  const objectAt = line.indexOf(' ', predicateAt) + 1
  const terms = [line.slice(0, predicateAt - 1), line.slice(predicateAt, objectAt - 1), line.slice(objectAt, -2)]
  return terms.filter((term) => term.endsWith('>')).map((term) => term.slice(term.lastIndexOf('<') + 1, -1))
}

/** Whether a line in that layout has a blank node. */
export const hasBlankNode = (line: string): boolean => /^_:|^\S+ \S+ _:/.test(line)

/** False where no line of a text in that layout has a blank node; quicker than to look at each line. */
export const mayHaveBlankNodes = (text: string): boolean =>
  text.startsWith('_:') || text.includes('\n_:') || text.includes('> _:')

/** Whether a line is a triple of RDF 1.1. */
export const isTriple = (line: string): boolean => TRIPLE.test(line)

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
