// In charge of the jobs that wait for an evaluation thread: in order of arrival, bounded in number and in time.
import { problem, type Problem } from '../problem.js'

export interface Waiting<Job, Result> {
  readonly job: Job
  settle(result: Result | Problem): void
}

export interface JobQueue<Job, Result> {
  /** The result of the job. `server.overloaded` where too many jobs wait, or this one has waited too long. */
  add(job: Job): Promise<Result | Problem>
  /** The first job, which stays in the queue; undefined once the queue is closed. */
  first(): Promise<Waiting<Job, Result> | undefined>
  /** Takes the job out of the queue; false where it has left it. */
  take(entry: Waiting<Job, Result>): boolean
  close(): void
}

const OVERLOADED = problem('server.overloaded', 'Too many updates wait to be evaluated.', {
  fields: [['Retry-After', '1']],
})
export const CLOSING = problem('server.closing', 'The server is closing.')

/** `patience`: ms that a job may wait. */
export function makeJobQueue<Job, Result>(limit: number, patience: number): JobQueue<Job, Result> {
  const waiting = new Set<Waiting<Job, Result>>()
  let closed = false
  let sleepers: (() => void)[] = []

  const wakeAll = (): void => {
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
  }

  return {
    add(job) {
      if (closed) return Promise.resolve(CLOSING)
      if (waiting.size >= limit) return Promise.resolve(OVERLOADED)
      return new Promise((resolve) => {
        const entry: Waiting<Job, Result> = {
          job,
          settle(result) {
            clearTimeout(timer)
            resolve(result)
          },
        }
        const timer = setTimeout(() => {
          if (waiting.delete(entry)) resolve(OVERLOADED)
        }, patience)
        waiting.add(entry)
        wakeAll()
      })
    },
    async first() {
      while (!closed) {
        const [entry] = waiting
        if (entry) return entry
        await new Promise<void>((resolve) => sleepers.push(resolve))
      }
      return undefined
    },
    take: (entry) => waiting.delete(entry),
    close() {
      closed = true
      for (const { settle } of waiting) settle(CLOSING)
      waiting.clear()
      wakeAll()
    },
  }
}
