// In charge of which graphs the operations of an update can change, and what they load (SPARQL 1.1 Update §3). Pure.
import { DEFAULT_GRAPH, graphSetOf, type GraphSet } from './graph-set.js'
import type { Node } from './tree.js'

export function writesOf(
  operations: readonly Node[],
  iriOf: (term: Node) => string,
): { readonly writeSet: GraphSet; readonly loads: readonly string[] } {
  const graphs = new Set<string>()
  const loads: string[] = []
  let everything = false

  const named = (term: unknown): void => {
    if (term === undefined || term === false) graphs.add(DEFAULT_GRAPH)
    else if ((term as Node)['termType'] === 'NamedNode') graphs.add(iriOf(term as Node))
    else everything = true
  }
  /** GraphRef or GraphRefAll (SPARQL 1.1 §19.8 [46], [47]). */
  const reference = (graph: Node): void => {
    if (graph['all'] || graph['named']) everything = true
    else named(graph['default'] ? undefined : graph['name'])
  }
  const template = (quads: unknown, within: unknown): void => {
    for (const block of (quads ?? []) as Node[]) {
      if (block['type'] === 'graph') named(block['name'])
      else if ((block['triples'] as unknown[]).length > 0) named(within)
    }
  }

  for (const operation of operations) {
    switch (operation['updateType'] ?? operation['type']) {
      case 'insert':
      case 'delete':
      case 'insertdelete':
      case 'deletewhere':
        template(operation['delete'], operation['graph'])
        template(operation['insert'], operation['graph'])
        break
      case 'clear':
      case 'drop':
      case 'create':
        reference(operation['graph'] as Node)
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
        named(operation['destination'])
        break
      default:
        everything = true
    }
  }
  return { writeSet: everything ? 'dataset' : graphSetOf(graphs), loads }
}
