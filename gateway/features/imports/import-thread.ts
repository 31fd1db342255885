// The thread of an import as its process sees it: jobs within their limits, and the documents that it makes, in
// batches.
import { isFailure, problem, type Problem } from '../../problem.js'
import { startThread, type LimitedThread } from '../../stores/limited-thread.js'
import type { ImportJob, ImportReply, Made, ImportTarget } from './plan.js'

const MEMORY = 384 * 2 ** 20
const YOUNG = 4 * 2 ** 20
/** ms on a processor for a step of the thread, which is to take a hundredth of it. */
const STEP_MS = 10_000

export type Thread = LimitedThread<ImportJob, ImportReply>

export const startImportThread = (): Promise<Thread> =>
  startThread<ImportJob, ImportReply>({
    script: new URL('./import-worker.js', import.meta.url),
    data: { memory: MEMORY },
    memory: MEMORY,
    young: YOUNG,
    broken: (outOfMemory) =>
      outOfMemory
        ? problem('content.too-large', 'The import needs too much memory.')
        : problem('internal', 'The import broke off.'),
  })

const TOO_LONG = problem('update.time', `A step of the import took longer than ${STEP_MS / 1000} s, and was ended: a simpler query is needed.`) // prettier-ignore
const TOO_BUSY = problem('server.overloaded', 'The machine was too busy for the import: start it again. What it has written stays as it is.') // prettier-ignore

export async function askImport<Reply extends ImportReply>(
  thread: Thread,
  job: ImportJob,
  signal?: AbortSignal,
): Promise<Reply | Problem> {
  const replies = await thread.do(job, { time: STEP_MS, tooLong: TOO_LONG, busy: TOO_BUSY, signal })
  return isFailure(replies) ? replies : (replies[0] as Reply | Problem)
}

/** Documents that are created together at most. */
const BATCH = 256
/** Batches that the thread makes while others are written: where the processor is busy, it gets little of it. */
const AHEAD = 2

/**
 * The documents in batches: an empty one at the end.
 * @param from the documents before this one are left out
 */
export function makeBatches(thread: Thread, from: number, toStore: ImportTarget) {
  const made: Promise<readonly Made[] | Problem>[] = []
  let next = Promise.resolve(from)
  const prepare = (): void => {
    const batch = next.then((at) =>
      askImport<readonly Made[]>(thread, { kind: 'documents', from: at, most: BATCH, toStore }),
    )
    next = Promise.all([next, batch]).then(([at, one]) => (isFailure(one) ? at : at + one.length))
    made.push(batch)
  }
  return {
    next(): Promise<readonly Made[] | Problem> {
      while (made.length <= AHEAD) prepare()
      return made.shift()!
    },
    /** Once the thread rests. */
    made: (): Promise<unknown> => Promise.all(made),
  }
}
