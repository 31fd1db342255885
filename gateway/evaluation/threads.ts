// A pool of threads, each limited in time and memory. Jobs come from a fair queue, and no single agent or network can
// occupy all threads (design 7).
import { availableParallelism } from 'node:os'
import { CLOSING, makeJobQueue, type Asker, type QueueBounds } from './job-queue.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { startThread, type LimitedThread, type ThreadSettings } from '../stores/limited-thread.js'

export interface Threads<Job, Reply> {
  /** The reply; a Problem if the job waits or runs too long, or crashes. `asker`: for whom the gateway works. */
  do(asker: Asker, job: Job, key?: string): Promise<Reply | Problem>
  /** `join` of job-queue.ts. */
  join(asker: Asker, key: string): void
  close(): Promise<void>
}

export interface ThreadsOptions {
  /** The processor time that a job may take, in ms. */
  readonly timeLimit?: number | undefined
  /** How long a job may take by the clock, in ms. */
  readonly clockTime?: number | undefined
  /** The most threads. */
  readonly workers?: number | undefined
  /** How many jobs may wait (per asker and in total), and how long in ms. */
  readonly each?: number | undefined
  readonly all?: number | undefined
  readonly patience?: number | undefined
}

export const TIME_LIMIT_MS = 5000
/**
 * Networks get at least two threads, even on one processor: a long job of one agent leaves a thread to the others
 * there. One more thread is reserved for other networks.
 */
const WORKERS = Math.min(4, Math.max(2, availableParallelism())) + 1
/** Each waiting job holds its text in memory. */
const EACH = 32
const ALL = 128

const BUSY = problem('server.overloaded', 'The machine was too busy to finish this. Retry later.', {
  fields: [['Retry-After', '5']],
})

function boundsOf(options: ThreadsOptions): QueueBounds {
  const { timeLimit = TIME_LIMIT_MS, workers = WORKERS, each = EACH, all = ALL } = options
  const { patience = 2 * timeLimit } = options
  const [held, heldOfNetwork] = [Math.max(1, workers - 2), Math.max(1, workers - 1)]
  return { each, network: Math.max(each, all / 2), all, held, heldOfNetwork, patience }
}

/** No job is left without an answer if its thread cannot be started. */
const busy =
  (settle: (reply: Problem) => void) =>
  (error: unknown): never => {
    settle(BUSY)
    throw error
  }

/**
 * Opens the pool. Threads are started when jobs wait, and are not stopped.
 * @param tooLong makes the answer to a job that runs too long
 */
export function openThreads<Job, Reply>(
  settings: ThreadSettings,
  tooLong: (job: Job, timeLimit: number) => Problem,
  options: ThreadsOptions,
): Threads<Job, Reply> {
  const { timeLimit = TIME_LIMIT_MS, clockTime, workers = WORKERS } = options
  const jobs = makeJobQueue<Job, Reply>(boundsOf(options))
  const threads = new Set<LimitedThread<Job, Reply>>()
  const serving: Promise<void>[] = []
  /** The number of jobs that run or wait. */
  let open = 0
  let closed = false

  async function start(ended?: LimitedThread<Job, Reply>): Promise<LimitedThread<Job, Reply>> {
    if (ended) threads.delete(ended)
    const thread = await startThread<Job, Reply>(settings)
    if (closed) await thread.end(CLOSING)
    else threads.add(thread)
    return thread
  }

  /** Runs one thread. If it ends, it is replaced at once, so that the next job finds a warm thread. */
  async function serve(): Promise<void> {
    let thread = await start()
    for (let next = await jobs.take(); next; next = await jobs.take()) {
      if (thread.ended()) thread = await start(thread).catch(busy(next.settle))
      const limits = { time: timeLimit, tooLong: tooLong(next.job, timeLimit), busy: BUSY, clockTime }
      const parts = await thread.do(next.job, limits).catch(busy(next.settle))
      next.settle(isFailure(parts) ? parts : parts[0]!)
      if (thread.ended() && !closed) thread = await start(thread)
    }
  }

  /** If a thread cannot be started, for example for lack of memory, the next job tries again. */
  function attempt(): Promise<void> {
    const attempted: Promise<void> = serve().catch(() => void serving.splice(serving.indexOf(attempted), 1))
    return attempted
  }

  return {
    join: jobs.join,
    async do(asker, job, key) {
      const answered = jobs.add(asker, job, key)
      open++
      if (!closed && open > serving.length && serving.length < workers) serving.push(attempt())
      try {
        return await answered
      } finally {
        open--
      }
    },
    async close() {
      closed = true
      jobs.close()
      await Promise.all([...threads].map((thread) => thread.end(CLOSING)))
      await Promise.all(serving)
    },
  }
}
