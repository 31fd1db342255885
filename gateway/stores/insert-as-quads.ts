// Changes that only add to named graphs, as N-Quads.
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { hasBlankNode, mayBeRdf12 } from './n-triples-lines.js'
import { makeSlices } from './slices.js'
import type { GraphEdit } from './store.js'

/** Undefined where something goes, or where stores may read the triples otherwise than those of one graph. */
export async function additionsOf(edits: readonly GraphEdit[]): Promise<string | undefined> {
  const slices = makeSlices()
  const quads: string[] = []
  for (const { graph, isCleared, removed, added } of edits) {
    if (isCleared || removed.length > 0 || graph === DEFAULT_GRAPH) return undefined
    for (const line of added) {
      if (hasBlankNode(line) || mayBeRdf12(line)) return undefined
      quads.push(`${line.slice(0, -1)}<${graph}> .\n`)
      const turn = slices(line.length)
      if (turn) await turn
    }
  }
  return quads.length > 0 ? quads.join('') : undefined
}
