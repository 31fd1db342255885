// In charge of the jobs that wait for a thread: taken in turn by asker, bounded in number and in time, so that no asker makes
// the others wait (design 7).
import { problem, type Problem } from '../problem.js'

/** A job that a thread has taken. */
export interface Taken<Job, Result> {
  readonly job: Job
  /** Its result, once: its asker no longer holds the thread. */
  settle(result: Result | Problem): void
}

export interface JobQueue<Job, Result> {
  /** The result of the job. `server.overloaded` where too many jobs wait, or this one has waited too long. */
  add(asker: string, job: Job): Promise<Result | Problem>
  /** The next job; undefined once the queue is closed. */
  take(): Promise<Taken<Job, Result> | undefined>
  close(): void
}

export interface QueueBounds {
  /** How many jobs may wait: of one asker, and of all. */
  readonly each: number
  readonly all: number
  /** How many threads one asker may hold. */
  readonly held: number
  /** ms that a job may wait. */
  readonly patience: number
}

const OVERLOADED = problem('server.overloaded', 'Too much work waits for a thread. Retry shortly.', {
  fields: [['Retry-After', '1']],
})
export const CLOSING = problem('server.closing', 'The server is closing.')

/** Askers take turns, and the oldest job of each comes first. */
export function makeJobQueue<Job, Result>({ each, all, held, patience }: QueueBounds): JobQueue<Job, Result> {
  /** The askers whose jobs wait, in the order of their turns. */
  const turns = new Map<string, Set<Taken<Job, Result>>>()
  const holds = new Map<string, number>()
  let waiting = 0
  let closed = false
  let sleepers: (() => void)[] = []

  const wakeAll = (): void => {
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
  }
  const leave = (asker: string, entry: Taken<Job, Result>): boolean => {
    const own = turns.get(asker)
    if (!own?.delete(entry)) return false
    waiting--
    if (own.size === 0) turns.delete(asker)
    return true
  }
  const release = (asker: string): void => {
    const left = holds.get(asker)! - 1
    if (left > 0) holds.set(asker, left)
    else holds.delete(asker)
    wakeAll()
  }
  function next(): Taken<Job, Result> | undefined {
    for (const [asker, own] of turns) {
      const holding = holds.get(asker) ?? 0
      if (holding >= held) continue
      const [entry] = own
      leave(asker, entry!)
      // Its next turn comes after those of all who wait now.
      if (own.size > 0) {
        turns.delete(asker)
        turns.set(asker, own)
      }
      holds.set(asker, holding + 1)
      return entry
    }
    return undefined
  }

  return {
    add(asker, job) {
      if (closed) return Promise.resolve(CLOSING)
      const own = turns.get(asker) ?? new Set()
      if (own.size >= each || waiting >= all) return Promise.resolve(OVERLOADED)
      return new Promise((resolve) => {
        const entry: Taken<Job, Result> = {
          job,
          settle(result) {
            clearTimeout(timer)
            resolve(result)
            release(asker)
          },
        }
        const timer = setTimeout(() => {
          if (leave(asker, entry)) resolve(OVERLOADED)
        }, patience)
        own.add(entry)
        turns.set(asker, own)
        waiting++
        wakeAll()
      })
    },
    async take() {
      while (!closed) {
        const entry = next()
        if (entry) return entry
        await new Promise<void>((resolve) => sleepers.push(resolve))
      }
      return undefined
    },
    close() {
      closed = true
      for (const [asker, own] of turns) {
        for (const entry of own) {
          holds.set(asker, (holds.get(asker) ?? 0) + 1)
          entry.settle(CLOSING)
        }
      }
      turns.clear()
      wakeAll()
    },
  }
}
