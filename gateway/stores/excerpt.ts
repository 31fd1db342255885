// In charge of the few triples of a graph that a decision or an identification rests on. A store is asked for these before a
// right is decided: it then costs as much for a large graph as for a small one, and nearly as much for none (design 4).
import { ACL, CERT, DCT, RDF, SOLID } from '../rdf/vocabulary.js'

/** `facts`: types, owners and dates of the graph's own IRI; `profile`: what a profile says of agents: their keys, delegates and issuers. */
export type ExcerptKind = 'facts' | 'profile'

/** The properties of a document that decisions and preconditions rest on. */
export const FACTS: readonly string[] = [RDF('type'), ACL('owner'), DCT('created'), DCT('modified')]

const PROPERTIES: Readonly<Record<ExcerptKind, readonly string[]>> = {
  facts: FACTS,
  profile: [CERT('key'), CERT('modulus'), CERT('exponent'), ACL('delegates'), SOLID('oidcIssuer')],
}

/** The largest excerpt that is read, in bytes. */
export const MAX_EXCERPT = 256 * 1024

/** A graph that has none of the properties exists all the same: one more triple says so. */
const EXISTS = '<urn:triplegate:exists>'

export function excerptQuery(graph: string, kind: ExcerptKind): string {
  const properties = PROPERTIES[kind].map((property) => `<${property}>`).join(' ')
  const triples =
    kind === 'facts' ? `GRAPH <${graph}> { <${graph}> ?p ?o } BIND(<${graph}> AS ?s)` : `GRAPH <${graph}> { ?s ?p ?o }`
  return `CONSTRUCT { ?s ?p ?o } WHERE {
  { VALUES ?p { ${properties} } ${triples} }
  UNION { SELECT (<${graph}> AS ?s) (${EXISTS} AS ?p) (true AS ?o) WHERE { GRAPH <${graph}> { ?any ?thing ?else } } LIMIT 1 }
}`
}

/** The same triples from the text of the graph in N-Triples, one space between terms: '' where there are none. Linear. */
export function excerptOf(nTriples: string, graph: string, kind: ExcerptKind): string {
  return PROPERTIES[kind]
    .map((property) => linesWith(nTriples, kind === 'facts' ? `<${graph}> <${property}> ` : ` <${property}> `))
    .join('')
}

/** The lines with this text. Where it stands within a literal or a triple term, the line is one too many, which changes nothing. */
export function linesWith(nTriples: string, sought: string): string {
  let lines = ''
  for (let at = nTriples.indexOf(sought); at !== -1;) {
    const end = nTriples.indexOf('\n', at) + 1 || nTriples.length
    lines += nTriples.slice(nTriples.lastIndexOf('\n', at) + 1, end)
    at = nTriples.indexOf(sought, end)
  }
  return lines
}
