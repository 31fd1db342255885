// In charge of carrying a plan out through a gateway, so that each document keeps what every write keeps and has its commit:
// references first, then containers, types and names. Stopped in between, nothing is lost, and the next run continues.
import { inParallel } from '../mirror/mirrored.js'
import { isFailure, type Failure } from '../problem.js'
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

/** Of one request: why the gateway refuses it, or a failure that ends all. */
export type Outcome = undefined | { readonly refusal: string } | Failure<string>

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
  act(): Promise<Outcome>
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
  const { member, search, undo, report } = means
  const done = makeDone(plan.refused)
  const perform = (steps: readonly Step[], count: Counter): Promise<undefined | Failure<string>> =>
    performAll(steps, done, { undo, count })
  if (search) {
    const { sought, members } = search
    const looked = counterOf(graphsOf(members), report)
    for (const searched of members)
      for await (const part of lookThrough(searched, sought)) {
        if (isFailure(part)) return part
        done.refused.push(...part.refused)
        looked('references', part.looked)
        const failed = await perform(part.found.map((found) => referencesStep(found, searched.base, means)), NOT_COUNTED) // prettier-ignore
        if (failed) return failed
      }
  }
  // A document needs its container: those nearer to the root come first.
  const count = counterOf(plan.typed.length + plan.moves.size, report)
  for (const { moves, typed } of levelsOf(plan)) {
    const failed = (await perform(typed.map((one) => typeStep(one, means)), count)) ?? (await moveAll(moves)) // prettier-ignore
    if (failed) return failed
  }
  undo.end()
  return { counts: done.counts, refused: done.refused }

  async function moveAll(moves: readonly Move[]): Promise<undefined | Failure<string>> {
    for (const part of inParts(moves, MOVED_TOGETHER)) {
      const own = await ownTriples(member.store, part)
      if (isFailure(own)) return own
      const failed = await perform(part.map((move) => moveStep(move, own.get(move.from) ?? [], means)), count) // prettier-ignore
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

interface Performing extends Pick<Means, 'undo'> {
  readonly count: Counter
}

/** Each change is in the file before it is made. */
async function performAll(
  steps: readonly Step[],
  { counts, refused }: Done,
  { undo, count }: Performing,
): Promise<undefined | Failure<string>> {
  const act = async (step: Step) => {
    undo.add(step.change)
    return [step, await step.act()] as const
  }
  for await (const [step, outcome] of inParallel(steps, act)) {
    if (isFailure(outcome)) return outcome
    count(step.kind, 1)
    if (outcome === undefined) counts[step.kind]++
    else refused.push({ graph: step.graph, why: outcome.refusal })
  }
  return undefined
}

const NOT_COUNTED: Counter = () => undefined

const referencesStep = ({ graph, pairs }: GraphReferences, base: string, means: Means): Step => ({
  graph,
  kind: 'references',
  change: { kind: 'references', base, graph, pairs },
  act: () => inTurn(base, updatesInPlace({ graph, pairs }), means),
})

const moveStep = (move: Move, own: readonly string[], { member, writing }: Means): Step => ({
  graph: move.from,
  kind: 'names',
  change: { kind: 'name', from: move.from, to: move.to, own },
  act: () => writing.update(member.base, updateOfMove(move)),
})

const typeStep = ({ document, exists, isContainer }: Typed, { member, writing }: Means): Step => ({
  graph: document,
  kind: isContainer ? 'containers' : 'types',
  change: { kind: exists ? 'type' : 'container', document },
  act: () =>
    exists ? writing.update(member.base, updateOfType(document, isContainer)) : writing.createContainer(document),
})

export async function inTurn(
  base: string,
  texts: readonly string[],
  { writing }: Pick<Means, 'writing'>,
): Promise<Outcome> {
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
