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

interface Entry<Job, Result> extends Taken<Job, Result> {
  readonly asker: string
}

export function makeJobQueue<Job, Result>({ patience, ...bounds }: QueueBounds): JobQueue<Job, Result> {
  const rounds = makeRounds<Entry<Job, Result>>(bounds)
  let closed = false
  let sleepers: (() => void)[] = []

  const wakeAll = (): void => {
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
  }

  return {
    add(asker, job) {
      if (closed) return Promise.resolve(CLOSING)
      return new Promise((resolve) => {
        const entry: Entry<Job, Result> = {
          asker,
          job,
          settle(result) {
            clearTimeout(timer)
            rounds.release(asker)
            resolve(result)
            wakeAll()
          },
        }
        const timer = setTimeout(() => {
          if (rounds.leave(entry)) resolve(OVERLOADED)
        }, patience)
        if (rounds.enter(entry)) return wakeAll()
        clearTimeout(timer)
        resolve(OVERLOADED)
      })
    },
    async take() {
      while (!closed) {
        const entry = rounds.next()
        if (entry) return entry
        await new Promise<void>((resolve) => sleepers.push(resolve))
      }
      return undefined
    },
    close() {
      closed = true
      for (const entry of rounds.all()) if (rounds.leave(entry)) entry.settle(CLOSING)
      wakeAll()
    },
  }
}

interface Rounds<Entry> {
  /** False where too many wait. */
  enter(entry: Entry): boolean
  /** False where it does not wait. */
  leave(entry: Entry): boolean
  /** The next entry: it no longer waits, and its asker holds a thread until `release`. */
  next(): Entry | undefined
  release(asker: string): void
  all(): readonly Entry[]
}

/** Askers take turns, and the oldest entry of each comes first. */
function makeRounds<Entry extends { readonly asker: string }>({
  each,
  all,
  held,
}: Omit<QueueBounds, 'patience'>): Rounds<Entry> {
  /** The askers whose entries wait, in the order of their turns. */
  const turns = new Map<string, Set<Entry>>()
  const holds = new Map<string, number>()
  let waiting = 0

  const leave = (entry: Entry): boolean => {
    const own = turns.get(entry.asker)
    if (!own?.delete(entry)) return false
    waiting--
    if (own.size === 0) turns.delete(entry.asker)
    return true
  }
  return {
    enter(entry) {
      const own = turns.get(entry.asker) ?? new Set()
      if (own.size >= each || waiting >= all) return false
      turns.set(entry.asker, own.add(entry))
      waiting++
      return true
    },
    leave,
    next() {
      for (const [asker, own] of turns) {
        const holding = holds.get(asker) ?? 0
        if (holding >= held) continue
        const [entry] = own
        leave(entry!)
        holds.set(asker, holding + 1)
        // Its next turn comes after those of all who wait now.
        if (turns.delete(asker)) turns.set(asker, own)
        return entry
      }
      return undefined
    },
    release(asker) {
      const left = (holds.get(asker) ?? 0) - 1
      if (left > 0) holds.set(asker, left)
      else holds.delete(asker)
    },
    all: () => [...turns.values()].flatMap((own) => [...own]),
  }
}
