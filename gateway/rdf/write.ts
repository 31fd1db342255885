// Writes RDF in the negotiated format. Equal graphs give equal bytes.
import type { BaseQuad } from '@rdfjs/types'
import { isPlain } from './canonical.js'
import { flawOf, isOfRdf12, nTriplesOf, type Graph, type Quad, type Term } from './graph.js'
import { EXPANDED_JSON_LD, JSON_LD, N_TRIPLES, RDF_XML, sourceOf, TURTLE, type Format } from '../http/media-type.js'
import { problem, type Problem } from '../problem.js'
import type { Prefixes } from './declared-prefixes.js'
import { N3Writer } from './n3.js'
import { shortened } from './terms.js'
import { writeCompactedJsonLd, writeExpandedJsonLd } from './write-json-ld.js'
import { writeRdfXml } from './write-rdf-xml.js'
import { PREFIXES, RDF, XSD } from './vocabulary.js'

/**
 * The graph in a format of RDF_FORMATS; `negotiation.not-acceptable` if the format cannot express it, which happens
 * with RDF/XML and JSON-LD.
 */
export function writeGraph(graph: Graph, format: Format): string | Problem {
  switch (sourceOf(format).code) {
    case TURTLE.code:
      return writeTurtle(graph, undefined, format.prefixes)
    case N_TRIPLES.code:
      return nTriplesOf(graph)
    case RDF_XML.code:
      return beyondRdf11(graph, 'RDF/XML') ?? writeRdfXml(graph)
    case JSON_LD.code:
      return beyondRdf11(graph, 'JSON-LD') ?? writeCompactedJsonLd(graph, termsFor(graph.triples, format.prefixes))
    case EXPANDED_JSON_LD.code:
      return beyondRdf11(graph, 'JSON-LD') ?? writeExpandedJsonLd(graph)
    default:
      throw new TypeError(`${format.mediaType} is not an RDF format`)
  }
}

/**
 * RDF/XML and JSON-LD have only RDF 1.1 terms, and readers of both drop malformed IRIs. So graphs with such terms
 * cannot be written in them (design 3).
 */
function beyondRdf11({ triples, lines }: Graph, syntax: string): Problem | undefined {
  for (const [i, triple] of triples.entries()) {
    if (isPlain(lines[i]!)) continue
    const flaw = flawOf(triple) ?? (isOfRdf12(triple.object) ? 'it has terms of RDF 1.2' : undefined)
    if (flaw === undefined) continue
    return problem(
      'negotiation.not-acceptable',
      `The document cannot be written as ${syntax}: ${shortened(flaw)}. Ask for text/turtle or application/n-triples.`,
    )
  }
  return undefined
}

// Forbidden characters in an IRI must be escaped, which the writer does not do. Such lines are written as N-Triples,
// which is valid Turtle (RDF 1.1 Turtle §6).
const ESCAPED_IRI = /<[^<>"]*\\u/
const hasEscapedIri = (line: string): boolean => line.includes('\\u') && ESCAPED_IRI.test(line)

/**
 * Turtle for people to edit. IRIs are relative to the document, which is the base when the text is read again.
 * @param own prefixes that precede the usual ones
 */
export const writeRelativeTurtle = (graph: Graph, document: string, own: Prefixes = {}): string =>
  writeTurtle(graph, document, own)

function writeTurtle({ triples, lines }: Graph, baseIRI?: string, own: Prefixes = {}): string {
  const escaped = lines.filter(hasEscapedIri)
  const regular = triples.filter((_, i) => !hasEscapedIri(lines[i]!))
  const writer = new N3Writer({ format: 'Turtle', prefixes: prefixesFor(regular, own), ...(baseIRI && { baseIRI }) })
  writer.addQuads(regular)
  let text = ''
  writer.end((error, written) => {
    if (error) throw error
    text = written as string
  })
  return text + nTriplesOf({ lines: escaped })
}

/** JSON-LD 1.1 §9.15: the prefixes as terms. The empty prefix is left out, since a term must not be empty. */
function termsFor(triples: readonly Quad[], { '': _empty, ...own }: Prefixes = {}): Record<string, string> {
  return prefixesFor(triples, own)
}

const PREFIX_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(PREFIXES).map(([prefix, namespace]) => [namespace, prefix]),
)
/** Datatypes with short forms in Turtle (RDF 1.1 Turtle §2.5.2). */
const ABBREVIATED: ReadonlySet<string> = new Set(['string', 'boolean', 'integer', 'decimal', 'double'].map(XSD))
// Local names that the writer abbreviates.
const NAMESPACE_AND_LOCAL = /^(.*[/#])[_a-zA-Z0-9](?:\.?[-_a-zA-Z0-9])*$/s
const SCHEME = /^([^:/?#]+):(?!\/\/)/

/**
 * The prefixes that the triples use. No scheme of an IRI is declared as a prefix, since the writer would then write an
 * IRI such as <acl:Read> as a prefixed name.
 */
function prefixesFor(triples: readonly Quad[], own: Prefixes = {}): Record<string, string> {
  const declared = Object.entries(own).map(([prefix, namespace]) => [namespace, prefix] as const)
  const prefixOf = declared.length === 0 ? PREFIX_OF : new Map([...PREFIX_OF, ...declared])
  const used = new Set<string>()
  const schemes = new Set<string>()
  const see = ({ value }: Term): void => {
    const prefix = prefixOf.get(NAMESPACE_AND_LOCAL.exec(value)?.[1] ?? '')
    if (prefix !== undefined) used.add(prefix)
    const scheme = SCHEME.exec(value)?.[1]
    if (scheme !== undefined) schemes.add(scheme)
  }
  const seeAll = ({ subject, predicate, object }: Pick<BaseQuad, 'subject' | 'predicate' | 'object'>): void => {
    if (subject.termType === 'NamedNode') see(subject)
    if (predicate.value !== RDF('type')) see(predicate)
    if (object.termType === 'NamedNode') see(object)
    if (object.termType === 'Literal' && !object.language && !ABBREVIATED.has(object.datatype.value))
      see(object.datatype)
    for (const term of [subject, object]) if (term.termType === 'Quad') seeAll(term)
  }
  triples.forEach(seeAll)
  return Object.fromEntries(
    Object.entries({ ...PREFIXES, ...own }).filter(
      ([prefix, namespace]) => used.has(prefix) && prefixOf.get(namespace) === prefix && !schemes.has(prefix),
    ),
  )
}
