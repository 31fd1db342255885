// The named graphs that an update certainly leaves empty, whatever the store contains (SPARQL 1.1 Update §3). Pure.
import { isIriNode, isVariable, type Node } from './tree.js'

export interface RemovedGraphs {
  readonly graphs: readonly string[]
  /** Undefined unless the update removes every graph: then the graphs that it may fill again. */
  readonly allBut: readonly string[] | undefined
}

export const isRemoved = ({ graphs, allBut }: RemovedGraphs, graph: string): boolean =>
  graphs.includes(graph) || (allBut !== undefined && !allBut.includes(graph))

interface Removal {
  gone: Set<string>
  /** Undefined until an operation removes every graph: then the graphs that later operations may have filled. */
  filled: Set<string> | undefined
}

export function removedGraphs(operations: readonly Node[], iriOf: (term: Node) => string): RemovedGraphs {
  const removal: Removal = { gone: new Set(), filled: undefined }
  for (const operation of operations) follow(removal, operation, iriOf)
  return { graphs: [...removal.gone], allBut: removal.filled && [...removal.filled] }
}

function follow(removal: Removal, operation: Node, iriOf: (term: Node) => string): void {
  /** The name of a graph; undefined for a variable. */
  const nameOf = (term: unknown): string | undefined => (isIriNode(term) ? iriOf(term) : undefined)
  const referred = (graph: unknown): string | undefined => nameOf((graph as Node | undefined)?.['graph'])
  switch (operation['subType']) {
    case 'clear':
    case 'drop': {
      const graph = operation['destination'] as Node
      if (graph['subType'] === 'all' || graph['subType'] === 'named') removeAll(removal)
      else remove(removal, referred(graph))
      return
    }
    case 'deletewhere': {
      // Several blocks delete only if all of them match.
      const [block, another] = operation['data'] as Node[]
      if (!block || another || block['type'] !== 'graph' || !isEveryTriple(block)) return
      const graph = nameOf(block['graph'])
      if (graph === undefined) removeAll(removal)
      else remove(removal, graph)
      return
    }
    case 'move': {
      const [source, destination] = [referred(operation['source']), referred(operation['destination'])]
      if (source === destination) return
      remove(removal, source)
      fill(removal, destination)
      return
    }
    case 'copy':
    case 'add':
      return fill(removal, referred(operation['destination']))
    case 'load':
      return fill(removal, referred(operation['destination']))
    case 'insertdata':
    case 'modify':
      for (const block of (operation['insert'] ?? operation['data']) as Node[]) {
        const graph = nameOf(block['type'] === 'graph' ? block['graph'] : operation['graph'])
        if (graph !== undefined) fill(removal, graph)
        else if (block['type'] === 'graph') fillAny(removal)
      }
  }
}

function removeAll(removal: Removal): void {
  removal.gone = new Set()
  removal.filled = new Set()
}

function remove({ gone, filled }: Removal, graph: string | undefined): void {
  if (graph === undefined) return
  gone.add(graph)
  filled?.delete(graph)
}

function fill({ gone, filled }: Removal, graph: string | undefined): void {
  if (graph === undefined) return
  gone.delete(graph)
  filled?.add(graph)
}

/** Any graph may be filled: its name is a variable. */
function fillAny(removal: Removal): void {
  removal.gone = new Set()
  removal.filled = undefined
}

/** True if the block's GRAPH has only the pattern `?s ?p ?o`, with three different variables. */
function isEveryTriple(block: Node): boolean {
  const [triple, another] = (block['triples'] as Node)['triples'] as Node[]
  if (!triple || another || triple['type'] !== 'triple' || (triple['annotations'] as unknown[]).length > 0) return false
  const terms = [triple['subject'], triple['predicate'], triple['object']] as Node[]
  const names = [...terms, block['graph'] as Node].map((term) => `${String(term['subType'])} ${String(term['value'])}`)
  return terms.every(isVariable) && new Set(names).size === 4
}
