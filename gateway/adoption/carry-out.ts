// In charge of carrying a plan out through a gateway, so that each document keeps what every write keeps and has its commit:
// references first, then containers, types and names. Stopped in between, nothing is lost, and the next run continues.
import { inParallel } from '../mirror/mirrored.js'
import { isFailure, type Failure } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import type { Move, Plan, Refused, Typed } from './plan.js'
import {
  graphsWithReferences,
  inParts,
  referencesIn,
  toOthers,
  updateOfType,
  updatesInPlace,
  updatesOfMove,
  type Pair,
} from './references.js'

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
  act(): Promise<Outcome>
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
      else refused.push({ graph: step.graph, why: outcome.refusal })
    }
    return undefined
  }
  for (const member of plan.moves.size > 0 ? means.members : []) {
    const graphs = await graphsWithReferences(member.store, means.beginnings)
    if (isFailure(graphs)) return graphs
    for (const part of inParts(graphs, LOOKED_AT)) {
      const pairs = await referencesIn(member.store, part, means.beginnings, plan.moves)
      if (isFailure(pairs)) return pairs
      const failed = await perform(
        [...pairs].flatMap(([graph, own]) => referencesSteps(graph, own, member.base, means)),
      )
      if (failed) return failed
    }
  }
  // A document needs its container: those nearer to the root come first.
  for (const { moves, typed } of levelsOf(plan)) {
    const failed = (await perform(typed.map((one) => typeStep(one, means)))) ?? (await moveAll(moves))
    if (failed) return failed
  }
  return { counts, refused }

  async function moveAll(moves: readonly Move[]): Promise<undefined | Failure<string>> {
    for (const part of inParts(moves, LOOKED_AT)) {
      const froms = part.map(({ from }) => from)
      const pairs = await referencesIn(means.members[0].store, froms, means.beginnings, plan.moves)
      if (isFailure(pairs)) return pairs
      const failed = await perform(part.map((move) => moveStep(move, pairs.get(move.from) ?? [], means)))
      if (failed) return failed
    }
    return undefined
  }
}

/** Graphs whose references are looked up at once. */
const LOOKED_AT = 100

/** In graphs that move too, before any graph moves: a later run would not know the old names of those that have moved. */
function referencesSteps(graph: string, pairs: readonly Pair[], base: string, means: Means): readonly Step[] {
  const updates = updatesInPlace(graph, toOthers(graph, pairs))
  return updates.length === 0 ? [] : [{ graph, kind: 'references', act: () => inTurn(base, updates, means) }]
}

const moveStep = (move: Move, pairs: readonly Pair[], means: Means): Step => ({
  graph: move.from,
  kind: 'names',
  act: () => inTurn(means.members[0].base, updatesOfMove(move, pairs), means),
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

interface Level {
  readonly moves: Move[]
  readonly typed: Typed[]
}

/** By the depth of the documents. */
function levelsOf({ moves, typed }: Plan): readonly Level[] {
  const levels: Level[] = []
  const levelOf = (document: string): Level => (levels[document.split('/').length] ??= { moves: [], typed: [] })
  for (const one of typed) levelOf(one.document).typed.push(one)
  for (const move of moves.values()) levelOf(move.to).moves.push(move)
  return levels.filter((level) => level !== undefined)
}
