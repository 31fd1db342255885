// In charge of carrying a plan out through a gateway, so that each document keeps what every write keeps and has its commit:
// references first, then containers, types and names. Stopped in between, nothing is lost, and the next run continues.
import { inParallel } from '../mirror/mirrored.js'
import { isFailure, type Failure } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import type { Move, Plan, Refused, Typed } from './plan.js'
import { graphsWithReferences, referencesIn, updateOfType, updatesInPlace, updatesOfMove } from './references.js'

/** Of one request: why the gateway refuses it, or a failure that ends all. */
export type Outcome = undefined | { readonly refusal: string } | Failure<string>

export interface Writing {
  /** @param base of the application */
  update(base: string, text: string): Promise<Outcome>
  createContainer(document: string): Promise<Outcome>
}

/** An application. */
export interface Member {
  readonly base: string
  readonly store: Pick<GraphStore, 'query'>
}

export interface CarriedOut {
  readonly counts: Readonly<Record<Kind, number>>
  readonly refused: readonly Refused[]
}

type Kind = 'references' | 'containers' | 'types' | 'names'

interface Step {
  readonly graph: string
  readonly kind: Kind
  act(): Promise<Outcome | 'unchanged'>
}

interface Means {
  /** The application first, then those whose graphs may refer to its documents. */
  readonly members: readonly [Member, ...Member[]]
  /** Of the names that change (renames.ts). */
  readonly beginnings: readonly string[]
  readonly writing: Writing
  readonly report: (kind: Kind, done: number, of: number) => void
}

export async function carryOut(plan: Plan, means: Means): Promise<CarriedOut | Failure<string>> {
  const counts = { references: 0, containers: 0, types: 0, names: 0 }
  const refused: Refused[] = [...plan.refused]
  const perform = async (steps: readonly Step[]): Promise<undefined | Failure<string>> => {
    let done = 0
    for await (const [step, outcome] of inParallel(steps, async (step) => [step, await step.act()] as const)) {
      means.report(step.kind, ++done, steps.length)
      if (isFailure(outcome)) return outcome
      if (outcome === undefined) counts[step.kind]++
      else if (outcome !== 'unchanged') refused.push({ graph: step.graph, why: outcome.refusal })
    }
    return undefined
  }
  for (const member of plan.moves.size > 0 ? means.members : []) {
    const graphs = await graphsWithReferences(member.store, means.beginnings, plan.moves)
    const failed = isFailure(graphs)
      ? graphs
      : await perform(graphs.map((graph) => referencesStep(graph, member, plan, means)))
    if (failed) return failed
  }
  // A document needs its container: those nearer to the root come first.
  for (const level of levelsOf(plan)) {
    const failed = await perform(
      level.map((one) => ('from' in one ? moveStep(one, plan, means) : typeStep(one, means))),
    )
    if (failed) return failed
  }
  return { counts, refused }
}

const referencesStep = (graph: string, { base, store }: Member, { moves }: Plan, means: Means): Step => ({
  graph,
  kind: 'references',
  async act() {
    const pairs = await referencesIn(store, graph, means.beginnings, moves)
    if (isFailure(pairs)) return pairs
    return pairs.length === 0 ? 'unchanged' : inTurn(base, updatesInPlace(graph, pairs), means)
  },
})

const moveStep = (move: Move, { moves }: Plan, means: Means): Step => ({
  graph: move.from,
  kind: 'names',
  async act() {
    const { base, store } = means.members[0]
    const pairs = await referencesIn(store, move.from, means.beginnings, moves)
    return isFailure(pairs) ? pairs : inTurn(base, updatesOfMove(move, pairs), means)
  },
})

const typeStep = ({ document, exists, isContainer }: Typed, { members, writing }: Means): Step => ({
  graph: document,
  kind: isContainer ? 'containers' : 'types',
  act: () =>
    exists ? writing.update(members[0].base, updateOfType(document, isContainer)) : writing.createContainer(document),
})

async function inTurn(base: string, texts: readonly string[], { writing }: Means): Promise<Outcome> {
  for (const text of texts) {
    const outcome = await writing.update(base, text)
    if (outcome) return outcome
  }
  return undefined
}

/** By the depth of the documents. */
function levelsOf({ moves, typed }: Plan): readonly (readonly (Move | Typed)[])[] {
  const levels = new Map<number, (Move | Typed)[]>()
  for (const one of [...typed, ...moves.values()]) {
    const depth = ('from' in one ? one.to : one.document).split('/').length
    const level = levels.get(depth)
    if (level) level.push(one)
    else levels.set(depth, [one])
  }
  return [...levels].sort(([a], [b]) => a - b).map(([, level]) => level)
}
