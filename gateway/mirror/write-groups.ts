// Writes that wait for the store: which of them share a request, and the outcome for each.
import type { Log } from '../log.js'
import { problem, type Problem } from '../problem.js'
import type { Replacement } from '../stores/batch-sparql.js'

/** The entries of one write. */
export interface LoggedWrite {
  /** The position of the last entry. */
  readonly position: number
  /** The replacements for a fenced request; undefined if only `alone` can do the write. */
  readonly replacements: readonly Replacement[] | undefined
  /** Does the write without a fence: for long texts, and for terms that SPARQL cannot express. */
  readonly alone: () => Promise<undefined | Problem>
  /** True if the store has the result of `alone`. */
  readonly isThere: () => Promise<boolean | Problem>
  /**
   * Called once with the outcome. Returns the answer to the client if it differs from `failed`.
   * @param failed the problem, if the store has not done the write, and will not
   * @param isLate true if the client was already told that the outcome is unknown
   */
  readonly settled: (failed: undefined | Problem, isLate: boolean) => undefined | Promise<undefined | Problem>
}

/** A write whose outcome is not known yet. */
export interface QueuedWrite extends LoggedWrite {
  readonly answer: (outcome: undefined | Problem) => void
  isAnswered: boolean
  /** True if it was refused together with others: then it gets its own request. */
  isSingle: boolean
}

/** The most graphs and characters of one request. A larger write is sent alone: it would block the event loop. */
const MOST_GRAPHS = 64
const MOST_WRITTEN = 256 * 1024
export type Group = readonly [QueuedWrite, ...QueuedWrite[]]

/** The first write, with those after it that fit; undefined if none waits. */
export function nextGroup(queue: QueuedWrite[]): Group | undefined {
  const first = queue.shift()
  if (!first) return undefined
  if (first.isSingle || goesAlone(first)) return [first]
  let [graphs, size] = [first.replacements?.length ?? 0, sizeOf(first.replacements)]
  const end = queue.findIndex((write) => {
    graphs += write.replacements?.length ?? 0
    size += sizeOf(write.replacements)
    return graphs > MOST_GRAPHS || size > MOST_WRITTEN || write.isSingle || goesAlone(write)
  })
  return [first, ...queue.splice(0, end < 0 ? queue.length : end)]
}

/** True if the write cannot share a request with others. */
export const goesAlone = ({ replacements }: LoggedWrite): boolean =>
  !replacements || sizeOf(replacements) > MOST_WRITTEN

const sizeOf = (replacements: readonly Replacement[] = []): number =>
  replacements
    .flatMap(({ nTriples = '', change }) => (change ? [...change.removed, ...change.added] : [nTriples]))
    .reduce((sum, { length }) => sum + length, 0)

/** The outcome of a request: all of it is done; nothing is done, and will not be; or this is unknown. */
export type AttemptOutcome = 'done' | { readonly refused: Problem } | { readonly unknown: Problem }

/** @param attempt 0, 1, 2 … */
export type Attempt = (attempt: number) => Promise<AttemptOutcome>

export const BROKEN = problem('store.failed', 'The gateway has failed to write to the triplestore. Its log says why.')

/** Tells the outcome, first to the journal and then to the client. */
export async function settle(
  group: readonly QueuedWrite[],
  failed: undefined | Problem,
  { log }: { readonly log: Log },
): Promise<void> {
  const settleOne = async (write: QueuedWrite): Promise<undefined | Problem> =>
    (await write.settled(failed, write.isAnswered)) ?? failed
  const settled = group.map(async (write) => {
    const outcome = await settleOne(write).catch((error: unknown) => {
      log.error({ err: error }, 'the outcome of a write could not be recorded')
      return BROKEN
    })
    answer(write, outcome)
  })
  await Promise.all(settled)
}

export function answer(write: QueuedWrite, outcome: undefined | Problem): void {
  write.answer(outcome)
  write.isAnswered = true
}

/** A write without content, which only sets the position. */
export const nothingAt = (position: number): LoggedWrite => ({
  ...{ position, replacements: [], settled: () => undefined },
  alone: () => Promise.resolve(undefined),
  isThere: () => Promise.resolve(true),
})
export const unheard = (write: LoggedWrite): QueuedWrite => ({
  ...write,
  ...{ answer: () => undefined, isAnswered: false, isSingle: false },
})
