// Canonicalises N-Triples text (RDF 1.2 N-Triples §4). Most lines of a store are canonical already; only the others are
// parsed, which takes ten times as long. Pure.
import { counted, nTriplesLine, sortedAsBytes } from './graph.js'
import { readNTriples } from './n-triples.js'

// Matches terms without flaws (flawOf in graph.ts) that nTriplesTerm writes exactly as they are here, except for some
// rare ones.
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
 * True only if a canonical line is certainly an RDF 1.1 triple whose terms have no flaw (graph.ts). May be false for
 * some that are.
 */
export const isPlain = (line: string): boolean => CANONICAL.test(line)

/** The distinct lines in canonical form, sorted as UTF-8 bytes; undefined if the text is malformed. */
export function canonicalLines(nTriples: string): string[] | undefined {
  if (!nTriples.isWellFormed()) return undefined
  const lines = new Set<string>()
  const others: string[] = []
  for (const line of nTriples.split('\n')) {
    if (CANONICAL.test(line)) lines.add(counted(line))
    else if (line !== '') others.push(line)
  }
  if (others.length > 0) {
    const triples = readNTriples(others.join('\n'))
    if (!triples) return undefined
    for (const triple of triples) lines.add(nTriplesLine(triple))
  }
  return sortedAsBytes(lines)
}
