// Searches all graphs of a store for references, some graphs at a time: fewer if the store is too slow for many.
import { inParallel } from '../../mirror/all-documents.js'
import { isFailure, type Problem } from '../../problem.js'
import type { GraphStore } from '../../stores/store.js'
import type { RefusedMove } from './plan.js'
import { changesIn, inReferenceParts, type ReferenceChanges, type Sought } from './references.js'

export interface AdoptedMember {
  readonly base: string
  readonly store: Pick<GraphStore, 'query'>
}

/** An application with its graphs. */
export interface Searched extends AdoptedMember {
  /** Names, and DEFAULT_GRAPH if it has triples of its own. */
  readonly graphs: readonly string[]
}

export const graphsOf = (members: readonly Searched[]): number =>
  members.reduce((sum, { graphs }) => sum + graphs.length, 0)

/** The number of graphs that are searched together. */
const TOGETHER = 100

interface Share<T> {
  readonly graphs: readonly string[]
  readonly answer: T | Problem
}

/** Queries some graphs at a time, and fewer if the store takes too long. `store.time`: too long even for one graph. */
export async function* inShares<T>(
  graphs: readonly string[],
  ask: (some: readonly string[]) => Promise<T | Problem>,
): AsyncGenerator<Share<T>> {
  for await (const shares of inParallel(inReferenceParts(graphs, TOGETHER), askAll)) yield* shares

  async function askAll(some: readonly string[]): Promise<readonly Share<T>[]> {
    const answer = await ask(some)
    if (!isFailure(answer) || answer.failure !== 'store.time' || some.length === 1) return [{ graphs: some, answer }]
    const shares: Share<T>[] = []
    for (const half of inReferenceParts(some, Math.ceil(some.length / 2))) shares.push(...(await askAll(half)))
    return shares
  }
}

interface Part {
  readonly found: readonly ReferenceChanges[]
  readonly refused: readonly RefusedMove[]
  readonly looked: number
}

/** The references in some graphs at a time. `refused`: graphs whose references cannot be changed. */
export async function* lookThrough({ store, graphs }: Searched, sought: Sought): AsyncGenerator<Part | Problem> {
  const stays = (graph: string, why: string): RefusedMove => ({ graph, why: `its references stay: ${why}` })
  for await (const { graphs: some, answer } of inShares(graphs, (some) => changesIn(store, some, sought))) {
    const looked = some.length
    if (isFailure(answer)) {
      const isSlow = answer.failure === 'store.time'
      yield isSlow ? { found: [], refused: some.map((graph) => stays(graph, answer.detail)), looked } : answer
      continue
    }
    const refused = answer.flatMap(({ graph, taken }) =>
      taken === undefined
        ? []
        : [stays(graph, `it already contains <${taken}>, and an undo could not tell them apart`)],
    )
    yield { found: answer.filter(({ taken }) => taken === undefined), refused, looked }
  }
}

/** The references, for a report. */
export interface CountedReferences {
  readonly triples: number
  readonly graphs: number
  /** The graphs with the most references. */
  readonly most: readonly ReferenceChanges[]
  readonly refused: readonly RefusedMove[]
}

const LISTED = 5

export async function countReferences(
  members: readonly Searched[],
  sought: Sought,
  report: (done: number, of: number) => void,
): Promise<CountedReferences | Problem> {
  const of = graphsOf(members)
  let [triples, graphs, done] = [0, 0, 0]
  let most: ReferenceChanges[] = []
  const refused: RefusedMove[] = []
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
