// A digest for each graph: below 2^48, in eight bytes.
import { makeColumn } from './column.js'

const HALF = 2 ** 24

export interface Digests {
  of(graph: number): number | undefined
  set(graph: number, digest: number): void
  delete(graph: number): void
}

export function makeDigests(): Digests {
  const [upper, lower] = [makeColumn(), makeColumn()]
  return {
    /** 0 stands for none. */
    of: (graph) => (upper.at(graph) === 0 ? undefined : (upper.at(graph) - 1) * HALF + lower.at(graph)),
    set(graph, digest) {
      upper.set(graph, Math.floor(digest / HALF) + 1)
      lower.set(graph, digest % HALF)
    },
    delete: (graph) => upper.set(graph, 0),
  }
}
