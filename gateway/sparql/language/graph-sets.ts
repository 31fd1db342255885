// The sets of graphs that a query reads and an update writes: names, or the whole dataset if the text does not name
// them (SPARQL 1.1 Update §3). Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { DEFAULT_GRAPH, OWN_GRAPHS } from '../../../policies/vocabulary.js'
import { isIriNode, type Node } from './tree.js'

export type GraphSet = 'dataset' | readonly string[]

/** Stands for the default graph, which has no name of its own. */
export { DEFAULT_GRAPH }

const MOST_GRAPHS = 1000

// Names that stores use for other graphs: unions (Jena, Stardog), the default graph, explicit statements (RDF4J,
// GraphDB).
const MAGIC = /^(?:urn:x-arq:|http:\/\/www\.ontotext\.com\/|http:\/\/www\.openrdf\.org\/schema\/sesame#)/i
const PLAIN = /^(?:https?|urn):/i

/** The graphs with these names, sorted; the whole dataset if a name stands for other graphs, or there are too many. */
export function graphSetOf(graphs: ReadonlySet<string>): GraphSet {
  if (graphs.size > MOST_GRAPHS) return 'dataset'
  return [...graphs].every((graph) => PLAIN.test(graph) && !MAGIC.test(graph)) ? [...graphs].sort() : 'dataset'
}

/**
 * True for names that no graph of an update may have: those of the gateway's own graphs (design 6), to which the mark of
 * the default graph belongs, and the name of the union.
 */
export const isReserved = (name: string): boolean => name.startsWith(OWN_GRAPHS) || name === MERGED_GRAPHS

interface Writes {
  readonly writeSet: GraphSet
  /** The first reserved name of a graph to change. `writeSet` does not tell it from the default graph. */
  readonly reserved: string | undefined
  readonly loads: readonly string[]
  /** If the update has CLEAR or DROP of ALL or NAMED, and names all other graphs that it can change: these graphs. */
  readonly besideCleared: readonly string[] | undefined
}

/** The graphs that the operations of an update can change, and the documents that it loads. */
export function writesOf(operations: readonly Node[], iriOf: (term: Node) => string): Writes {
  const [graphs, loads] = [new Set<string>(), [] as string[]]
  let [everything, isCleared] = [false, false]
  let reserved: string | undefined
  const named = (term: unknown): void => {
    if (term === undefined) graphs.add(DEFAULT_GRAPH)
    else if (isIriNode(term)) {
      const name = iriOf(term)
      if (isReserved(name)) reserved ??= name
      graphs.add(name)
    } else everything = true
  }
  /** GraphRef or GraphRefAll (SPARQL 1.1 §19.8 [46], [47]). */
  const reference = (graph: Node): void => {
    if (graph['subType'] === 'default') named(undefined)
    else if (graph['subType'] === 'specific') named(graph['graph'])
    else isCleared = true
  }
  /** SPARQL 1.1 Update §3.1.3: triples outside GRAPH are in the graph of WITH. */
  const template = (quads: unknown, withGraph: unknown): void => {
    for (const block of (quads ?? []) as Node[]) {
      if (block['type'] === 'graph') named(block['graph'])
      else if ((block['triples'] as unknown[]).length > 0) named(withGraph)
    }
  }

  for (const operation of operations) {
    switch (operation['subType']) {
      case 'insertdata':
      case 'deletedata':
      case 'deletewhere':
      case 'modify':
        for (const part of ['data', 'delete', 'insert']) template(operation[part], operation['graph'])
        break
      case 'clear':
      case 'drop':
      case 'create':
        reference(operation['destination'] as Node)
        break
      case 'move':
        // SPARQL 1.1 Update §3.2.4: the source is removed.
        reference(operation['source'] as Node)
        reference(operation['destination'] as Node)
        break
      case 'copy':
      case 'add':
        reference(operation['destination'] as Node)
        break
      case 'load':
        loads.push(iriOf(operation['source'] as Node))
        named((operation['destination'] as Node | undefined)?.['graph'])
        break
      default:
        everything = true
    }
  }
  const beside = everything ? 'dataset' : graphSetOf(graphs)
  const besideCleared = isCleared && beside !== 'dataset' ? beside : undefined
  return { writeSet: isCleared ? 'dataset' : beside, reserved, loads, besideCleared }
}
