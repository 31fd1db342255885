// The graphs of a dataset that belong to an application: its documents, and graphs that are none (design 4).
// All of it goes by names alone, so that a query can test the same. Pure.

import { DEFAULT_GRAPH } from '../vocabulary.js'

export interface Reach {
  readonly application: 'end-user' | 'admin'
  /** The base of the application; ends with a slash, as do the others. */
  readonly base: string
  /** The bases of other applications below it, sorted: what is under these is no document of this application. */
  readonly below: readonly string[]
  /**
   * True where no other dataspace uses the dataset. Only then do graphs that are no documents, and the default graph,
   * belong to it.
   */
  readonly alone: boolean
  /** True where an IRI is that of an endpoint: an authorization that names it means no graph. */
  isEndpoint(iri: string): boolean
}

const isUnder = (bases: readonly string[], iri: string): boolean => bases.some((base) => iri.startsWith(base))

/** True where rights on this graph are those on a document. */
export const isDocumentName = ({ base, below }: Reach, graph: string): boolean =>
  graph.startsWith(base) && graph.endsWith('/') && !isUnder(below, graph)

// The beginnings of names that stores take for other graphs than those of these names: unions, the default graph,
// explicit statements (Jena, GraphDB, RDF4J, Stardog, Blazegraph); and of names that are no graph's.
export const OF_STORES: readonly string[] = [
  'urn:x-arq:',
  'http://www.ontotext.com/',
  'http://www.openrdf.org/schema/sesame#',
  'http://rdf4j.org/schema/rdf4j#',
  'tag:stardog:',
  'http://www.bigdata.com/rdf#',
  'urn:triplegate:',
]

/**
 * Means the merge of all named graphs in FROM (Access-Controlled SPARQL Query over a Solid Pod §7.4); no graph has the
 * name.
 */
export const MERGED_GRAPHS = 'http://www.w3.org/ns/solid/sparql#union-default-graph'

/** True where a store may take the name for other graphs than the one of this name, or no graph has it. */
export const isNameOfStores = (graph: string): boolean =>
  graph === MERGED_GRAPHS || OF_STORES.some((start) => graph.toLowerCase().startsWith(start))

/**
 * True where `acl:accessTo` this IRI names a graph that is no document. In the admin application only Control reaches
 * these.
 */
export const isOtherName = (reach: Reach, iri: string): boolean =>
  hasOthers(reach) &&
  !isDocumentName(reach, iri) &&
  !isUnder(reach.below, iri) &&
  !reach.isEndpoint(iri) &&
  (iri === DEFAULT_GRAPH || !isNameOfStores(iri))

/** True where rights of authorizations that do not list Control reach graphs that are no documents. */
export const hasOthers = ({ application, alone }: Reach): boolean => alone && application === 'end-user'

/** Of what `acl:default` names, in characters. */
const LONGEST_PREFIX = 4096

/** True where `acl:default` this IRI reaches the documents whose names begin with it: it names a container. */
export const isContainerName = (reach: Reach, iri: string): boolean =>
  iri.length <= LONGEST_PREFIX && isDocumentName(reach, iri)

/** True where `acl:default` this IRI reaches the graphs that are no documents and whose names begin with it. */
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

/** All that could stand in `acl:default` to reach a graph that is no document, the longest first. */
export function reachPrefixesOf(reach: Reach, graph: string): string[] {
  if (!isHttp(graph)) return []
  const ends = Array.from({ length: Math.min(graph.length - 1, LONGEST_PREFIX) }, (_, less) => less + 1).reverse()
  return ends.map((end) => graph.slice(0, end)).filter((prefix) => isPrefix(reach, prefix))
}
