// N-Quads as lines of text (RDF 1.2 N-Quads §2), read as leniently as stores write them. Pure.

const IRI = '<[^<>]*>'
const BLANK_NODE = '_:[^\\s<>"]+'
// Plain text, with more plain text after each escape. A text can match in one way only, so matching is linear.
const LITERAL = `"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"(?:@[A-Za-z0-9-]+|\\^\\^${IRI})?`
const TRIPLE_TERM = '<<\\(.*\\)>>'
const QUAD = new RegExp(
  `^(?:${IRI}|${BLANK_NODE})[ \\t]*${IRI}[ \\t]*(?:${IRI}|${BLANK_NODE}|${LITERAL}|${TRIPLE_TERM})(?:[ \\t]*(${IRI}|${BLANK_NODE}))?[ \\t]*\\.\\s*$`,
)

/** The graph of a quad as written; '' for the default graph; undefined if the line is not a quad. */
export function graphOfQuad(line: string): string | undefined {
  const found = QUAD.exec(line)
  return found ? (found[1] ?? '') : undefined
}
