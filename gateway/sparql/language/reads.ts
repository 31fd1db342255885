// The graphs that the patterns of a query or an update read: graphs by name, the default graph, any graph. Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { isFailure } from '../../problem.js'
import { datasetIn, findingsIn, type Findings, type Node } from './tree.js'

/** Patterns read these graphs, and more if one of the flags is true. */
export interface Reads {
  /** The graphs that GRAPH names, and those in the dataset of the text or the request. */
  readonly graphs: readonly string[]
  /** Patterns read the default graph, and no dataset says which graphs it consists of. */
  readonly default: boolean
  /**
   * Patterns have GRAPH with a variable, and no dataset lists the graphs; or they read the union of all graphs, by its
   * name (see MERGED_GRAPHS).
   */
  readonly any: boolean
  /** A predicate may be a function of the store, which may read anything. */
  readonly magic: boolean
}

/** RDF datasets that FROM and USING describe; undefined without any such clause. */
type Stated = { readonly default: readonly string[]; readonly named: readonly string[] } | undefined

/** The reads of patterns with these findings over a stated dataset. */
export const readsOver = (
  {
    graphs,
    readsDefault,
    readsAnyGraph,
    isMagic,
  }: Pick<Findings, 'graphs' | 'readsDefault' | 'readsAnyGraph' | 'isMagic'>,
  stated: Stated,
): Reads => ({
  graphs: [...new Set([...graphs, ...(stated?.default ?? []), ...(stated?.named ?? [])])],
  default: readsDefault && !stated?.default.length,
  any: (readsAnyGraph && !stated?.named.length) || stated?.default.includes(MERGED_GRAPHS) === true,
  magic: isMagic,
})

/** The reads of the operations of an update. LOAD and data read nothing (SPARQL 1.1 Update §3). */
export function readsOfUpdate(operations: readonly Node[], iriOf: (term: Node) => string): Reads {
  const all = operations.map((operation) => readsOfOperation(operation, iriOf))
  return {
    graphs: [...new Set(all.flatMap(({ graphs }) => graphs))],
    default: all.some((reads) => reads.default),
    any: all.some(({ any }) => any),
    magic: all.some(({ magic }) => magic),
  }
}

const NOTHING: Reads = { graphs: [], default: false, any: false, magic: false }
const EVERYTHING: Reads = { graphs: [], default: true, any: true, magic: true }

export function readsOfOperation(operation: Node, iriOf: (term: Node) => string): Reads {
  switch (operation['subType']) {
    case 'modify':
      return readsOfPattern(operation['where'], datasetOf(operation, iriOf), iriOf)
    case 'deletewhere':
      return readsOfPattern(operation['data'], undefined, iriOf)
    case 'copy':
    case 'move':
    case 'add': {
      const source = operation['source'] as Node
      return source['subType'] === 'default'
        ? { ...NOTHING, default: true }
        : { ...NOTHING, graphs: [iriOf(source['graph'] as Node)] }
    }
    case 'insertdata':
    case 'deletedata':
    case 'clear':
    case 'drop':
    case 'create':
    case 'load':
      return NOTHING
    default:
      return EVERYTHING
  }
}

function readsOfPattern(pattern: unknown, stated: Stated, iriOf: (term: Node) => string): Reads {
  const findings = findingsIn({ pattern }, iriOf)
  return isFailure(findings) ? EVERYTHING : readsOver(findings, stated)
}

/** SPARQL 1.1 Update §3.1.3: USING replaces WITH, which names the default graph only. */
function datasetOf({ from, graph }: Node, iriOf: (term: Node) => string): Stated {
  const using = datasetIn(from, iriOf)
  if (using.default.length + using.named.length > 0) return using
  return graph ? { default: [iriOf(graph as Node)], named: [] } : undefined
}
