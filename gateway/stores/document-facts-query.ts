// The few triples of a graph that a decision or an identification depends on. The store is asked for these before a
// right is decided. This takes as long for a large graph as for a small one, and nearly as long for a missing one
// (design 4).
import { ACL, CERT, DCT, DEF, DH, RDF, SOLID } from '../rdf/vocabulary.js'

/**
 * `facts`: types, owners, dates and creator of the graph's own IRI; `fewFacts`: as many of these as fit, if there are
 * too many; `profile`: the statements of a profile about agents: keys, delegates and issuers.
 */
export type ExcerptKind = 'facts' | 'fewFacts' | 'profile'

/** The properties of a document that decisions and preconditions depend on, and those that a PUT keeps (design 3). */
export const FACTS: readonly string[] = [RDF('type'), ACL('owner'), DCT('created'), DCT('modified'), DCT('creator')]

const PROPERTIES: Readonly<Record<ExcerptKind, readonly string[]>> = {
  facts: FACTS,
  fewFacts: FACTS,
  profile: [CERT('key'), CERT('modulus'), CERT('exponent'), ACL('delegates'), SOLID('oidcIssuer')],
}

/** The largest excerpt that is read, in bytes. */
export const MAX_EXCERPT = 256 * 1024

/** An additional triple shows that the graph exists, even if it has none of the properties. */
export const EXISTS = '<urn:triplegate:exists>'

/** Graphs with this many triples are long: a store builds the answer to a CONSTRUCT in its memory. */
const LONG = 1000

/** The graph if its own IRI has this type; otherwise the answer is empty. */
export const typedQuery = (graph: string, type: string): string =>
  `CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <${graph}> { <${graph}> <${RDF('type')}> <${type}> . ?s ?p ?o } } LIMIT ${LONG}`

/** Undefined if the answer to such a query may have been cut off. */
export const wholeTyped = (nTriples: string): string | undefined =>
  nTriples.split('\n', LONG + 1).length > LONG ? undefined : nTriples

export function excerptQuery(graph: string, kind: ExcerptKind): string {
  return `CONSTRUCT { ?s ?p ?o } WHERE {
  ${kind === 'fewFacts' ? fewFacts(graph) : all(graph, kind)}
  UNION { SELECT (<${graph}> AS ?s) (${EXISTS} AS ?p) (true AS ?o) WHERE { GRAPH <${graph}> { ?any ?thing ?else } } LIMIT 1 }
}`
}

function all(graph: string, kind: 'facts' | 'profile'): string {
  const properties = PROPERTIES[kind].map((property) => `<${property}>`).join(' ')
  const triples =
    kind === 'facts' ? `GRAPH <${graph}> { <${graph}> ?p ?o } BIND(<${graph}> AS ?s)` : `GRAPH <${graph}> { ?s ?p ?o }`
  return `{ VALUES ?p { ${properties} } ${triples} }`
}

/** The types dh:Item, dh:Container and def:Root, and some of the other facts, without long values. */
function fewFacts(graph: string): string {
  const kinds = [DH('Item'), DH('Container'), DEF('Root')].map((type) => `<${type}>`).join(' ')
  const types = `{ VALUES ?o { ${kinds} } GRAPH <${graph}> { <${graph}> ?p ?o } FILTER(?p = <${RDF('type')}>) BIND(<${graph}> AS ?s) }`
  const others = FACTS.filter((property) => property !== RDF('type')).map(
    (property) => `{ SELECT (<${graph}> AS ?s) (<${property}> AS ?p) ?o
      WHERE { GRAPH <${graph}> { <${graph}> <${property}> ?o } FILTER(STRLEN(STR(?o)) < 1024) } LIMIT 32 }`,
  )
  return [types, ...others].join('\n  UNION ')
}

/**
 * The triples of `excerptQuery`, found in the text of the graph: N-Triples with single spaces between terms. '' if
 * there are none. Linear.
 */
export function excerptOf(nTriples: string, graph: string, kind: ExcerptKind): string {
  return PROPERTIES[kind]
    .map((property) => linesWith(nTriples, kind !== 'profile' ? `<${graph}> <${property}> ` : ` <${property}> `))
    .join('')
}

/**
 * The lines that contain this text. If it occurs in a literal or a triple term, a line too many is found, which does no
 * harm.
 */
export function linesWith(nTriples: string, sought: string): string {
  let lines = ''
  for (let at = nTriples.indexOf(sought); at !== -1;) {
    const end = nTriples.indexOf('\n', at) + 1 || nTriples.length
    lines += nTriples.slice(nTriples.lastIndexOf('\n', at) + 1, end)
    at = nTriples.indexOf(sought, end)
  }
  return lines
}
