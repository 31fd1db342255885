// The thread of an import as its process sees it: jobs with limits, and batches of the documents that it makes.
import { askWithContexts } from '../../evaluation/known-contexts.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { LoadContext } from '../../rdf/read-json-ld.js'
import { startThread, type LimitedThread } from '../../stores/limited-thread.js'
import type { ImportJob, ImportReply, ImportTarget, Made, ReadProgress, ReadStep } from './plan.js'

const MEMORY = 384 * 2 ** 20
const YOUNG = 4 * 2 ** 20
/** The limit for a step of the thread, in ms of processor time. A step should take a hundredth of this. */
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
        : problem('internal', 'The import failed.'),
  })

const TOO_LONG = problem('update.time', `A step of the import took longer than ${STEP_MS / 1000} s and was stopped. Use a simpler query.`) // prettier-ignore
const TOO_BUSY = problem('server.overloaded', 'The machine was too busy for the import. Start it again; documents already written stay.') // prettier-ignore

export async function askImport<Reply extends ImportReply>(
  thread: Thread,
  job: ImportJob,
  signal?: AbortSignal,
): Promise<Reply | Problem> {
  const replies = await thread.do(job, { time: STEP_MS, tooLong: TOO_LONG, busy: TOO_BUSY, signal })
  return isFailure(replies) ? replies : (replies[0] as Reply | Problem)
}

export const askToRead = (
  thread: Thread,
  loadContext: LoadContext | undefined,
  step: ReadStep,
  signal?: AbortSignal,
): Promise<ReadProgress | Problem> =>
  askWithContexts(loadContext, (contexts) => askImport(thread, { kind: 'read', ...step, contexts }, signal))

/** The most documents that are created together. */
const BATCH = 256
/** Batches that the thread prepares while others are written: on a busy machine it gets little processor time. */
const AHEAD = 2

/**
 * The documents in batches, with an empty batch at the end.
 * @param from the first document to include
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
    /** Resolves when the thread is idle. */
    made: (): Promise<unknown> => Promise.all(made),
  }
}
