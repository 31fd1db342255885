// Reads N-Triples leniently, as found in stores and histories (design 3): Jena accepts IRIs and language tags that RDF
// forbids, and such documents must stay readable. Content from clients is read strictly (read.ts). Pure.
import { blankNode, DEEPEST_TERM, literal, namedNode, quad, rememberLine, type Quad, type Term } from './graph.js'

// Any text between the delimiters is a term. A literal is plain text, with more plain text after each escape. Matching
// is unambiguous and so takes linear time.
const TERM =
  /[ \t]*(?:<([^<>]*)>|_:([^\s<>"()]*[^\s<>"().])|"([^"\\]*(?:\\[^][^"\\]*)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]+)>)?|<<\()/y
const CLOSE = /[ \t]*\)>>/y
const END = /[ \t]*\.[ \t]*(?:#.*)?$/y
const NOTHING = /^[ \t]*(?:#.*)?$/

// RDF 1.1 Turtle §6.4
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^]))/g
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ t: '\t', b: '\b', n: '\n', r: '\r', f: '\f', '"': '"', "'": "'", '\\': '\\' },
}

/** Resolves the escapes of a text; undefined if one is invalid or stands for half a character. */
function unescaped(text: string): string | undefined {
  if (!text.includes('\\')) return text
  let isWhole = true
  const plain = text.replace(ESCAPE, (_, four?: string, eight?: string, short?: string) => {
    const code = four ?? eight
    const number = code === undefined ? undefined : parseInt(code, 16)
    const character =
      number === undefined ? CHARACTERS[short!] : number > 0x10ffff ? undefined : String.fromCodePoint(number)
    if (character === undefined) isWhole = false
    return character ?? ''
  })
  return isWhole && plain.isWellFormed() ? plain : undefined
}

/** The term at TERM.lastIndex, which moves past it. */
function termIn(line: string, depth: number): Term | undefined {
  const match = TERM.exec(line)
  if (!match) return undefined
  const [, iri, label, text, language, datatype] = match
  if (iri !== undefined) {
    const value = unescaped(iri)
    return value === undefined ? undefined : namedNode(value)
  }
  if (label !== undefined) return blankNode(label)
  if (text !== undefined) return literalOf(text, language, datatype)
  const triple = depth < DEEPEST_TERM ? tripleIn(line, depth + 1) : undefined
  CLOSE.lastIndex = TERM.lastIndex
  if (!triple || !CLOSE.test(line)) return undefined
  TERM.lastIndex = CLOSE.lastIndex
  return triple
}

function literalOf(text: string, language: string | undefined, datatype: string | undefined): Term | undefined {
  const value = unescaped(text)
  if (value === undefined) return undefined
  if (datatype === undefined) return literal(value, language)
  const iri = unescaped(datatype)
  // n3 stores a literal as one string and finds its end by the last quotation mark.
  return iri === undefined || iri.includes('"') ? undefined : literal(value, namedNode(iri))
}

/** Jena allows triple terms as subjects too. */
function tripleIn(line: string, depth: number): Quad | undefined {
  const subject = termIn(line, depth)
  if (!subject || subject.termType === 'Literal') return undefined
  const predicate = termIn(line, depth)
  if (predicate?.termType !== 'NamedNode') return undefined
  const object = termIn(line, depth)
  return object && quad(subject as Quad['subject'], predicate, object as Quad['object'])
}

// Most lines look like this: no blank nodes, no escapes, one space between terms.
const SIMPLE = /^<([^<>\\]*)> <([^<>\\]*)> (?:<([^<>\\]*)>|"([^"\\]*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>"\\]+)>)?) \.$/

function simpleTriple(line: string): Quad | undefined {
  const match = SIMPLE.exec(line)
  if (!match) return undefined
  const [iri, text, language, datatype] = [match[3], match[4], match[5], match[6]]
  const object =
    iri === undefined ? literal(text!, datatype === undefined ? language : namedNode(datatype)) : namedNode(iri)
  return quad(namedNode(match[1]!), namedNode(match[2]!), object)
}

/** The triple on a line; 'nothing' if the line is blank or a comment. */
function readLine(line: string): Quad | 'nothing' | undefined {
  const simple = simpleTriple(line)
  if (simple) return simple
  TERM.lastIndex = 0
  const triple = tripleIn(line, 0)
  END.lastIndex = TERM.lastIndex
  if (triple && END.test(line)) return triple
  return NOTHING.test(line) ? 'nothing' : undefined
}

const linesOf = (text: string): string[] => text.split(text.includes('\r') ? /[\r\n]/ : '\n')

/** The triples of N-Triples, with their blank node labels; undefined if a line is not a triple. */
export function readNTriples(text: string): Quad[] | undefined {
  if (!text.isWellFormed()) return undefined
  const triples: Quad[] = []
  for (const line of linesOf(text)) {
    const triple = readLine(line)
    if (triple === undefined) return undefined
    if (triple !== 'nothing') triples.push(triple)
  }
  return triples
}

/** The triples of all readable lines: enough to find facts if the whole cannot be read. */
export function readLegible(text: string): Quad[] {
  return linesOf(text).flatMap((line) => {
    const triple = readLine(line)
    return typeof triple === 'object' ? triple : []
  })
}

/** The triples of canonical N-Triples (graph.ts), in the order of its lines. */
export function readCanonical(nTriples: string): Quad[] {
  const triples: Quad[] = []
  for (const line of nTriples.split('\n')) {
    if (line === '') continue
    const triple = readLine(line)
    if (typeof triple !== 'object') throw new TypeError('no canonical N-Triples')
    rememberLine(triple, line)
    triples.push(triple)
  }
  return triples
}

/** Parses a single N-Triples term; undefined if the text is not one. */
export function readTerm(text: string): Term | undefined {
  TERM.lastIndex = 0
  const term = termIn(text, 0)
  return TERM.lastIndex === text.length ? term : undefined
}
