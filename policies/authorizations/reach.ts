// The graphs of a dataset that belong to an application: documents and others (design 4). Decided only by name, so that
// a query can apply the same test. Pure.

import { DEFAULT_GRAPH, OWN_GRAPHS } from '../vocabulary.js'

export interface Reach {
  readonly application: 'end-user' | 'admin'
  /** The base of the application. All bases end with a slash. */
  readonly base: string
  /** The bases of other applications below it, sorted. Anything under these is not a document of this application. */
  readonly below: readonly string[]
  /**
   * True if no other dataspace uses the dataset. Only then do the default graph and graphs that are not documents
   * belong to it.
   */
  readonly alone: boolean
  /** True if an IRI is that of an endpoint. An authorization that names it does not mean a graph. */
  isEndpoint(iri: string): boolean
}

const isUnder = (bases: readonly string[], iri: string): boolean => bases.some((base) => iri.startsWith(base))

/** True if rights on this graph are rights on a document. */
export const isDocumentName = ({ base, below }: Reach, graph: string): boolean =>
  graph.startsWith(base) && graph.endsWith('/') && !isUnder(below, graph)

// Prefixes of names that stores interpret as other graphs (unions, the default graph, explicit statements: Jena,
// GraphDB, RDF4J, Stardog, Blazegraph), or that no graph has.
export const OF_STORES: readonly string[] = [
  'urn:x-arq:',
  'http://www.ontotext.com/',
  'http://www.openrdf.org/schema/sesame#',
  'http://rdf4j.org/schema/rdf4j#',
  'tag:stardog:',
  'http://www.bigdata.com/rdf#',
  OWN_GRAPHS,
]

/**
 * In FROM: the merge of all named graphs (Access-Controlled SPARQL Query over a Solid Pod §7.4). No graph has this
 * name.
 */
export const MERGED_GRAPHS = 'http://www.w3.org/ns/solid/sparql#union-default-graph'

/** True if a store may interpret the name as other graphs, or if no graph has it. */
export const isNameOfStores = (graph: string): boolean =>
  graph === MERGED_GRAPHS || OF_STORES.some((start) => graph.toLowerCase().startsWith(start))

/**
 * True if `acl:accessTo` this IRI names a graph that is not a document. In the admin application, only Control applies
 * to such graphs.
 */
export const isOtherName = (reach: Reach, iri: string): boolean =>
  hasOthers(reach) &&
  !isDocumentName(reach, iri) &&
  !isUnder(reach.below, iri) &&
  !reach.isEndpoint(iri) &&
  (iri === DEFAULT_GRAPH || !isNameOfStores(iri))

/** True if authorizations without Control can apply to graphs that are not documents. */
export const hasOthers = ({ application, alone }: Reach): boolean => alone && application === 'end-user'

/** The longest IRI considered in `acl:default`, in characters. */
const LONGEST_PREFIX = 4096

/** True if `acl:default` this IRI names a container, and so applies to the documents whose names begin with it. */
export const isContainerName = (reach: Reach, iri: string): boolean =>
  iri.length <= LONGEST_PREFIX && isDocumentName(reach, iri)

/** True if `acl:default` this IRI applies to the graphs that are not documents and whose names begin with it. */
export const isPrefix = (reach: Reach, iri: string): boolean =>
  hasOthers(reach) && iri.length <= LONGEST_PREFIX && isHttp(iri) && !isUnder(reach.below, iri)

const isHttp = (iri: string): boolean => /^https?:\/\/[^/?#]/.test(iri)

/** The containers above a document, nearest first. */
export function containersAbove(reach: Reach, document: string): string[] {
  const containers: string[] = []
  let at = Math.min(document.length - 2, LONGEST_PREFIX - 1)
  while ((at = document.lastIndexOf('/', at)) >= reach.base.length - 1) containers.push(document.slice(0, at-- + 1))
  return containers
}

/** Every IRI that, in `acl:default`, would apply to a graph that is not a document; longest first. */
export function reachPrefixesOf(reach: Reach, graph: string): string[] {
  if (!isHttp(graph)) return []
  const ends = Array.from({ length: Math.min(graph.length - 1, LONGEST_PREFIX) }, (_, less) => less + 1).reverse()
  return ends.map((end) => graph.slice(0, end)).filter((prefix) => isPrefix(reach, prefix))
}
