// Carries a plan out through a gateway, so that each document keeps its managed properties and gets its commit:
// references first, then containers, types and names. An interrupted run loses nothing, and the next one continues.
import { isFailure, type Failure } from '../../problem.js'
import { perform, type JoinOutcome, type JoinWork } from './joined.js'
import { graphsOf, lookThrough, type AdoptedMember, type Searched } from './look-through.js'
import { graphContents, type GraphContent, type GraphOfDocument } from './graph-contents.js'
import { whyTaken, type Move, type AdoptionPlan, type RefusedMove, type TypedMove } from './plan.js'
import {
  inReferenceParts,
  referenceTriples,
  shareOf,
  updateOfMove,
  updateOfType,
  updatesInPlace,
  type GraphReferences,
  type Sought,
} from './references.js'
import type { UndoneChange, UndoFile } from './undo-file.js'

export interface AdoptionWriting {
  /** @param base of the application */
  update(base: string, text: string): Promise<JoinOutcome>
  /** Gives the entity-tag of a container that this call has created. */
  createContainer(document: string): Promise<JoinOutcome | { readonly etag: string }>
  /** @param etag of the only state that is deleted */
  remove(document: string, etag?: string): Promise<JoinOutcome>
}

export type StepKind = 'references' | 'containers' | 'types' | 'names'

export interface CarriedOut {
  readonly counts: Readonly<Record<StepKind, number>>
  readonly refused: readonly RefusedMove[]
}

export interface AdoptionStep {
  readonly graph: string
  readonly kind: StepKind
  readonly change: UndoneChange
  readonly work: JoinWork
}

export type Progress = (what: string, done: number, of: number) => void

interface Means {
  readonly member: AdoptedMember
  /** Undefined if references are not changed. */
  readonly search: { readonly sought: Sought; readonly members: readonly Searched[] } | undefined
  readonly writing: AdoptionWriting
  readonly undo: UndoFile
  readonly report: Progress
}

export async function carryOutAdoption(plan: AdoptionPlan, means: Means): Promise<CarriedOut | Failure<string>> {
  const { member, search, undo, report, writing } = means
  const done = makeDone(plan.refused)
  const performAll = async (steps: readonly AdoptionStep[], count: Counter): Promise<undefined | Failure<string>> => {
    // Each change is recorded in the file before it is made.
    for await (const [step, outcome] of perform(steps, writing, ({ change }) => undo.add(change))) {
      if (isFailure(outcome)) return outcome
      count(step.kind, 1)
      if (outcome === undefined) done.counts[step.kind]++
      else {
        done.refused.push({ graph: step.graph, why: outcome.refusal })
        if (!outcome.isUnclear) undo.add({ kind: 'refused', change: step.change })
      }
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
  // A document needs its container, so those nearer to the root come first.
  const count = counterOf(plan.typed.length + plan.moves.size, report)
  for (const { moves, typed } of levelsOf(plan)) {
    const failed = (await performAll(typed.map((one) => typeStep(one, means)), count)) ?? (await moveAll(moves)) // prettier-ignore
    if (failed) return failed
  }
  undo.end()
  return { counts: done.counts, refused: done.refused }

  async function moveAll(moves: readonly Move[]): Promise<undefined | Failure<string>> {
    for (const part of inReferenceParts(moves, MOVED_TOGETHER)) {
      const contents = await graphContents(member.store, part.flatMap(namesOf))
      if (isFailure(contents)) return contents
      const reasons = part.map((move) => [move, whyNot(move, contents)] as const)
      const stay = reasons.flatMap(([{ from }, why]) => (why === undefined ? [] : [{ graph: from, why }]))
      done.refused.push(...stay)
      count('names', stay.length)
      const moved = reasons.flatMap(([move, why]) => (why === undefined ? [move] : []))
      const own = await referenceTriples(member.store, moved)
      if (isFailure(own)) return own
      const failed = await performAll(moved.map((move) => moveStep(move, own.get(move.from) ?? [], digestOf(move, contents), member)), count) // prettier-ignore
      if (failed) return failed
    }
    return undefined
  }
}

/** The number of graphs that are queried together before they move. */
const MOVED_TOGETHER = 100

type Counter = (what: string, more: number) => void

function counterOf(of: number, report: Progress): Counter {
  let done = 0
  return (what, more) => report(what, (done += more), of)
}

interface Done {
  readonly counts: Record<StepKind, number>
  readonly refused: RefusedMove[]
}

const makeDone = (refused: readonly RefusedMove[]): Done => ({
  counts: { references: 0, containers: 0, types: 0, names: 0 },
  refused: [...refused],
})

/** The graph, and the document that it becomes. */
const namesOf = ({ from, to }: Move): readonly GraphOfDocument[] => [from, to].map((graph) => ({ graph, document: to }))

type Contents = ReadonlyMap<string, GraphContent | Failure<string>>

/** The plan may be older than these contents. */
function whyNot({ from, to }: Move, contents: Contents): string | undefined {
  const content = contents.get(from)
  if (content === undefined) return 'it does not exist any more'
  if (isFailure(content)) return content.detail
  return contents.has(to) ? whyTaken(to) : undefined
}

function digestOf({ from }: Move, contents: Contents): string | undefined {
  const content = contents.get(from)
  return content && !isFailure(content) ? content.digest : undefined
}

const NOT_COUNTED: Counter = () => undefined

const referencesStep = ({ graph, pairs }: GraphReferences, base: string): AdoptionStep => ({
  graph,
  kind: 'references',
  change: { kind: 'references', base, graph, pairs },
  work: { base, updates: updatesInPlace({ graph, pairs }), graphs: shareOf({ graph, pairs }) },
})

const moveStep = (
  move: Move,
  own: readonly string[],
  digest: string | undefined,
  { base }: AdoptedMember,
): AdoptionStep => ({
  graph: move.from,
  kind: 'names',
  change: { kind: 'name', from: move.from, to: move.to, own, ...(digest !== undefined && { digest }) },
  work: { base, updates: [updateOfMove(move)], graphs: 2 },
})

const typeStep = (
  { document, exists, isContainer }: TypedMove,
  { member: { base }, writing, undo }: Means,
): AdoptionStep => ({
  graph: document,
  kind: isContainer ? 'containers' : 'types',
  change: { kind: exists ? 'type' : 'creating', document },
  work: exists
    ? { base, updates: [updateOfType(document, isContainer)], graphs: 1 }
    : {
        async act() {
          const outcome = await writing.createContainer(document)
          if (!outcome || !('etag' in outcome)) return outcome
          undo.add({ kind: 'container', document, etag: outcome.etag })
          return undefined
        },
      },
})

interface Level {
  readonly moves: Move[]
  readonly typed: TypedMove[]
}

/** Grouped by the depth of the documents. */
function levelsOf({ moves, typed }: AdoptionPlan): readonly Level[] {
  const levels: Level[] = []
  const levelOf = (document: string): Level => (levels[document.split('/').length] ??= { moves: [], typed: [] })
  for (const one of typed) levelOf(one.document).typed.push(one)
  for (const move of moves.values()) levelOf(move.to).moves.push(move)
  return levels.filter((level) => level !== undefined)
}
