// Carrying a plan out through a gateway, so that each document keeps what every write keeps and has its commit:
// references first, then containers, types and names. Stopped in between, nothing is lost, and the next run continues.
import { isFailure, type Failure } from '../../problem.js'
import { perform, type Outcome, type Work } from './joined.js'
import { graphsOf, lookThrough, type Member, type Searched } from './look-through.js'
import type { Move, Plan, Refused, Typed } from './plan.js'
import {
  inParts,
  ownTriples,
  updateOfMove,
  updateOfType,
  updatesInPlace,
  type GraphReferences,
  type Sought,
} from './references.js'
import type { Change, UndoFile } from './undo-file.js'

export interface Writing {
  /** @param base of the application */
  update(base: string, text: string): Promise<Outcome>
  createContainer(document: string): Promise<Outcome>
  remove(document: string): Promise<Outcome>
}

export type Kind = 'references' | 'containers' | 'types' | 'names'

export interface CarriedOut {
  readonly counts: Readonly<Record<Kind, number>>
  readonly refused: readonly Refused[]
}

export interface Step {
  readonly graph: string
  readonly kind: Kind
  readonly change: Change
  readonly work: Work
}

export type Progress = (what: string, done: number, of: number) => void

interface Means {
  readonly member: Member
  /** Undefined where references stay. */
  readonly search: { readonly sought: Sought; readonly members: readonly Searched[] } | undefined
  readonly writing: Writing
  readonly undo: UndoFile
  readonly report: Progress
}

export async function carryOut(plan: Plan, means: Means): Promise<CarriedOut | Failure<string>> {
  const { member, search, undo, report, writing } = means
  const done = makeDone(plan.refused)
  const performAll = async (steps: readonly Step[], count: Counter): Promise<undefined | Failure<string>> => {
    // Each change is in the file before it is made.
    for await (const [step, outcome] of perform(steps, writing, ({ change }) => undo.add(change))) {
      if (isFailure(outcome)) return outcome
      count(step.kind, 1)
      if (outcome === undefined) done.counts[step.kind]++
      else done.refused.push({ graph: step.graph, why: outcome.refusal })
    }
    return undefined
  }
  if (search) {
    const { sought, members } = search
    const looked = counterOf(graphsOf(members), report)
    for (const searched of members)
      for await (const part of lookThrough(searched, sought)) {
        if (isFailure(part)) return part
        done.refused.push(...part.refused)
        looked('references', part.looked)
        const failed = await performAll(part.found.map((found) => referencesStep(found, searched.base)), NOT_COUNTED) // prettier-ignore
        if (failed) return failed
      }
  }
  // A document needs its container: those nearer to the root come first.
  const count = counterOf(plan.typed.length + plan.moves.size, report)
  for (const { moves, typed } of levelsOf(plan)) {
    const failed = (await performAll(typed.map((one) => typeStep(one, means)), count)) ?? (await moveAll(moves)) // prettier-ignore
    if (failed) return failed
  }
  undo.end()
  return { counts: done.counts, refused: done.refused }

  async function moveAll(moves: readonly Move[]): Promise<undefined | Failure<string>> {
    for (const part of inParts(moves, MOVED_TOGETHER)) {
      const own = await ownTriples(member.store, part)
      if (isFailure(own)) return own
      const failed = await performAll(part.map((move) => moveStep(move, own.get(move.from) ?? [], member)), count) // prettier-ignore
      if (failed) return failed
    }
    return undefined
  }
}

/** Graphs that are asked about together before they move. */
const MOVED_TOGETHER = 100

type Counter = (what: string, more: number) => void

function counterOf(of: number, report: Progress): Counter {
  let done = 0
  return (what, more) => report(what, (done += more), of)
}

interface Done {
  readonly counts: Record<Kind, number>
  readonly refused: Refused[]
}

const makeDone = (refused: readonly Refused[]): Done => ({
  counts: { references: 0, containers: 0, types: 0, names: 0 },
  refused: [...refused],
})

const NOT_COUNTED: Counter = () => undefined

const referencesStep = ({ graph, pairs }: GraphReferences, base: string): Step => ({
  graph,
  kind: 'references',
  change: { kind: 'references', base, graph, pairs },
  work: { base, updates: updatesInPlace({ graph, pairs }), graphs: 1 },
})

const moveStep = (move: Move, own: readonly string[], { base }: Member): Step => ({
  graph: move.from,
  kind: 'names',
  change: { kind: 'name', from: move.from, to: move.to, own },
  work: { base, updates: [updateOfMove(move)], graphs: 2 },
})

const typeStep = ({ document, exists, isContainer }: Typed, { member: { base }, writing }: Means): Step => ({
  graph: document,
  kind: isContainer ? 'containers' : 'types',
  change: { kind: exists ? 'type' : 'container', document },
  work: exists
    ? { base, updates: [updateOfType(document, isContainer)], graphs: 1 }
    : { act: () => writing.createContainer(document) },
})

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
