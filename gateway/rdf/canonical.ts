// Canonical N-Triples from text (RDF 1.2 N-Triples §4): most lines of a store are canonical already, and only the
// others are parsed, which takes ten times as long. Pure.
import { nTriplesLine, sortedAsBytes } from './graph.js'
import { readNTriples } from './n-triples.js'

// The terms that flawOf (graph.ts) finds no flaw in and that nTriplesTerm writes as they are here, some rare ones
// excepted.
const PLAIN = '[^\\x00-\\x20\\x7f<>"{}|^`\\\\%#[\\]]*'
const IN_IRI = `${PLAIN}(?:%[0-9A-Fa-f]{2}${PLAIN})*`
const IRI = `<[A-Za-z][A-Za-z0-9+.-]*:${IN_IRI}(?:#${IN_IRI})?>`
const BLANK_NODE = '_:[A-Za-z0-9]+'
const LANGUAGE = '@[a-z]{1,8}(?:-[a-z0-9]{1,8})*'
const DATATYPE = `\\^\\^(?!<http://www\\.w3\\.org/(?:2001/XMLSchema#string|1999/02/22-rdf-syntax-ns#(?:dirL|l)angString)>)${IRI}`
const IN_LITERAL = '[^"\\\\\\x00-\\x1f\\x7f]*'
const LITERAL = `"${IN_LITERAL}(?:\\\\[tbnrf"\\\\]${IN_LITERAL})*"(?:${LANGUAGE}|${DATATYPE})?`
const CANONICAL = new RegExp(`^(?:${IRI}|${BLANK_NODE}) ${IRI} (?:${IRI}|${BLANK_NODE}|${LITERAL}) \\.$`)

/**
 * True where a canonical line is a triple of RDF 1.1 for sure: its terms have no flaw (graph.ts). False for some that
 * are.
 */
export const isPlain = (line: string): boolean => CANONICAL.test(line)

/** The distinct lines in canonical form, sorted as UTF-8 bytes; undefined where the text is malformed. */
export function canonicalLines(nTriples: string): string[] | undefined {
  if (!nTriples.isWellFormed()) return undefined
  const lines = new Set<string>()
  const others: string[] = []
  for (const line of nTriples.split('\n')) {
    if (CANONICAL.test(line)) lines.add(line)
    else if (line !== '') others.push(line)
  }
  if (others.length > 0) {
    const triples = readNTriples(others.join('\n'))
    if (!triples) return undefined
    for (const triple of triples) lines.add(nTriplesLine(triple))
  }
  return sortedAsBytes(lines)
}
