// Combines the updates of many steps into few requests: a store spends most of its time per request, not per update.
// Every step has its own outcome: a refused request is split and sent again.
import { inParallel } from '../../mirror/all-documents.js'
import { isFailure, type Failure } from '../../problem.js'
import { inReferenceParts } from './references.js'

/**
 * The outcome of one request: why the gateway refuses it, or a failure that stops the run.
 * `isUnclear`: the request, or an earlier try, may have had an effect nevertheless.
 */
export type JoinOutcome = undefined | { readonly refusal: string; readonly isUnclear?: boolean } | Failure<string>

/** Idempotent updates for one graph, which may share a request; or a separate request. */
export type JoinWork =
  | {
      readonly base: string
      readonly updates: readonly string[]
      /** How many graphs the updates name; Infinity if they share no request with others. */
      readonly graphs: number
    }
  | { act(): Promise<JoinOutcome> }

interface Updating {
  /** @param base of the application */
  update(base: string, text: string): Promise<JoinOutcome>
}

/**
 * Limits of one request. The gateway locks up to 64 documents individually, and reads 2 MiB unless --max-body is set.
 */
const MOST_GRAPHS = 60
const MOST_CHARACTERS = 1024 * 1024
/** The store performs one at a time, while the gateway prepares the next. */
const REQUESTS = 2

/** @param begun is called before the request of a step is sent */
export async function* perform<S extends { readonly work: JoinWork }>(
  steps: Iterable<S>,
  writing: Updating,
  begun: (step: S) => void = () => undefined,
): AsyncGenerator<readonly [S, JoinOutcome]> {
  const act = (some: readonly S[]): Promise<readonly (readonly [S, JoinOutcome])[]> => {
    for (const step of some) begun(step)
    return outcomesOf(some, writing)
  }
  for await (const outcomes of inParallel(sharing(steps), act, REQUESTS)) yield* outcomes
}

/** The steps that share a request, in order. */
function* sharing<S extends { readonly work: JoinWork }>(steps: Iterable<S>): Generator<readonly S[]> {
  let share: S[] = []
  let [graphs, characters] = [0, 0]
  let base: string | undefined
  for (const step of steps) {
    const { work } = step
    const own = 'updates' in work ? work : { base: undefined, updates: [], graphs: 0 }
    const more = own.updates.reduce((sum, { length }) => sum + length, 0)
    const isFull = graphs + own.graphs > MOST_GRAPHS || characters + more > MOST_CHARACTERS
    if (share.length > 0 && (isFull || own.base === undefined || own.base !== base)) {
      yield share
      share = []
      ;[graphs, characters] = [0, 0]
    }
    share.push(step)
    ;[base, graphs, characters] = [own.base, graphs + own.graphs, characters + more]
  }
  if (share.length > 0) yield share
}

/** @param isUnclear an earlier request with these steps may have had an effect */
async function outcomesOf<S extends { readonly work: JoinWork }>(
  steps: readonly S[],
  writing: Updating,
  isUnclear = false,
): Promise<readonly (readonly [S, JoinOutcome])[]> {
  const [first, ...others] = steps
  if (first === undefined) return []
  if (others.length === 0) {
    const outcome = await outcomeOf(first.work, writing)
    return [[first, isUnclear && outcome && 'refusal' in outcome ? { ...outcome, isUnclear } : outcome]]
  }
  const works = steps.flatMap(({ work }) => ('updates' in work ? [work] : []))
  const outcome = await writing.update(works[0]!.base, works.flatMap(({ updates }) => updates).join(' ;\n'))
  if (outcome === undefined || isFailure(outcome)) return steps.map((step) => [step, outcome])
  const outcomes: (readonly [S, JoinOutcome])[] = []
  for (const half of inReferenceParts(steps, Math.ceil(steps.length / 2))) {
    outcomes.push(...(await outcomesOf(half, writing, isUnclear || outcome.isUnclear)))
    // A failure stops the run, so the rest is not tried.
    if (isFailure(outcomes.at(-1)![1])) break
  }
  return outcomes
}

async function outcomeOf(work: JoinWork, writing: Updating): Promise<JoinOutcome> {
  if ('act' in work) return work.act()
  for (const [index, text] of work.updates.entries()) {
    const outcome = await writing.update(work.base, text)
    if (!outcome) continue
    // The updates before it have been made.
    return 'refusal' in outcome && index > 0 ? { ...outcome, isUnclear: true } : outcome
  }
  return undefined
}
