// In charge of looking for references through all graphs of a store, some graphs at a time: a store that is too slow for many is asked
// about fewer.
import { inParallel } from '../mirror/mirrored.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import type { Refused } from './plan.js'
import { changesIn, inParts, type Changes, type Sought } from './references.js'

/** An application. */
export interface Member {
  readonly base: string
  readonly store: Pick<GraphStore, 'query'>
}

/** With its graphs. */
export interface Searched extends Member {
  readonly graphs: readonly string[]
}

interface Part {
  readonly found: readonly Changes[]
  readonly refused: readonly Refused[]
  readonly looked: number
}

/** Graphs that are looked at together. */
const TOGETHER = 100

/** What some graphs have, at a time. `refused`: graphs whose references have to stay. */
export async function* lookThrough({ store, graphs }: Searched, sought: Sought): AsyncGenerator<Part | Problem> {
  yield* inParallel(inParts(graphs, TOGETHER), (some) => lookAt(store, some, sought))
}

async function lookAt(store: Member['store'], graphs: readonly string[], sought: Sought): Promise<Part | Problem> {
  const changes = await changesIn(store, graphs, sought)
  if (isFailure(changes)) return otherwise(changes)
  const refused = changes.flatMap(({ graph, taken }) =>
    taken === undefined
      ? []
      : [{ graph, why: `its references stay: it has <${taken}> already, and an undo could not tell them apart` }],
  )
  const found = changes.filter(({ taken }) => taken === undefined)
  return { found, refused, looked: graphs.length }

  async function otherwise(problem: Problem): Promise<Part | Problem> {
    if (problem.failure !== 'store.time') return problem
    if (graphs.length === 1)
      return { found: [], refused: [{ graph: graphs[0]!, why: `its references stay: ${problem.detail}` }], looked: 1 }
    const parts = inParts(graphs, Math.ceil(graphs.length / 2))
    const halves: Part[] = []
    for (const part of parts) {
      const half = await lookAt(store, part, sought)
      if (isFailure(half)) return half
      halves.push(half)
    }
    return {
      found: halves.flatMap((half) => half.found),
      refused: halves.flatMap((half) => half.refused),
      looked: graphs.length,
    }
  }
}

/** The references, for a report. */
export interface CountedReferences {
  readonly triples: number
  readonly graphs: number
  /** Those with the most triples. */
  readonly most: readonly Changes[]
  readonly refused: readonly Refused[]
}

const LISTED = 5

export async function countReferences(
  members: readonly Searched[],
  sought: Sought,
  report: (done: number, of: number) => void,
): Promise<CountedReferences | Problem> {
  const of = members.reduce((sum, { graphs }) => sum + graphs.length, 0)
  let [triples, graphs, done] = [0, 0, 0]
  let most: Changes[] = []
  const refused: Refused[] = []
  for (const member of members)
    for await (const part of lookThrough(member, sought)) {
      if (isFailure(part)) return part
      report((done += part.looked), of)
      graphs += part.found.length
      for (const { count } of part.found) triples += count
      most = [...most, ...part.found].sort((a, b) => b.count - a.count).slice(0, LISTED)
      refused.push(...part.refused)
    }
  return { triples, graphs, most, refused }
}
