// N-Quads as lines of text (RDF 1.2 N-Quads §2), read as leniently as stores write them. Pure.

const IRI = '<[^<>]*>'
const BLANK_NODE = '_:[^\\s<>"]+'
// Plain text, and plain text again after each escape: there is one way only to match a text.
const LITERAL = `"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"(?:@[A-Za-z0-9-]+|\\^\\^${IRI})?`
const TRIPLE_TERM = '<<\\(.*\\)>>'
const QUAD = new RegExp(
  `^(?:${IRI}|${BLANK_NODE})[ \\t]*${IRI}[ \\t]*(?:${IRI}|${BLANK_NODE}|${LITERAL}|${TRIPLE_TERM})(?:[ \\t]*(${IRI}|${BLANK_NODE}))?[ \\t]*\\.\\s*$`,
)

/** The graph of a quad, as it is written; '' for the default graph; undefined where the line is no quad. */
export function graphOfQuad(line: string): string | undefined {
  const found = QUAD.exec(line)
  return found ? (found[1] ?? '') : undefined
}
