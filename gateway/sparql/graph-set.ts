// In charge of sets of graphs as a query reads and an update writes them: names, or everything where that cannot be told. Pure.

export type GraphSet = 'dataset' | readonly string[]

/** Stands for the default graph, which has no name of its own. */
export const DEFAULT_GRAPH = 'urn:triplegate:default-graph'

const MOST_GRAPHS = 1000

// Names that stores take for other graphs: unions (Jena, Stardog), the default graph, explicit statements (RDF4J, GraphDB).
const MAGIC = /^(?:urn:x-arq:|http:\/\/www\.ontotext\.com\/|http:\/\/www\.openrdf\.org\/schema\/sesame#)/i
const PLAIN = /^(?:https?|urn):/i

/** The graphs of these names, in order; everything where one of them stands for others, or they are very many. */
export function graphSetOf(graphs: ReadonlySet<string>): GraphSet {
  if (graphs.size > MOST_GRAPHS) return 'dataset'
  return [...graphs].every((graph) => PLAIN.test(graph) && !MAGIC.test(graph)) ? [...graphs].sort() : 'dataset'
}
