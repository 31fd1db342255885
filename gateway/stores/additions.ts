// In charge of changes that only add to named graphs, as N-Quads. Pure.
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import { hasBlankNode, mayBeRdf12 } from './n-triples-lines.js'
import type { GraphEdit } from './store.js'

/** Undefined where something goes, or where stores may read the triples otherwise than those of one graph. */
export function additionsOf(edits: readonly GraphEdit[]): string | undefined {
  const quads: string[] = []
  for (const { graph, isCleared, removed, added } of edits) {
    if (isCleared || removed.length > 0 || graph === DEFAULT_GRAPH) return undefined
    for (const line of added) {
      if (hasBlankNode(line) || mayBeRdf12(line)) return undefined
      quads.push(`${line.slice(0, -1)}<${graph}> .\n`)
    }
  }
  return quads.length > 0 ? quads.join('') : undefined
}
