// Jobs waiting for a thread, taken in turns by network and agent and bounded in number and time. No client can make the
// others wait, however many agents it has created (design 7).
import { problem, type Problem } from '../problem.js'
import { makeRounds, type Asker, type RoundsBounds, type Waiting } from '../stores/fair-queue.js'

export type { Asker } from '../stores/fair-queue.js'

/** The part of a request that says for whom the gateway works. */
export interface Client {
  readonly agent: { readonly webId?: string }
  readonly request: { network(): string }
}

/** Shares of threads are counted per agent and network, for anonymous clients per network (design 7). */
export const askerOf = ({ agent: { webId }, request }: Client): Asker =>
  webId === undefined ? request.network() : { agent: webId, network: request.network() }

/** A job taken by a thread. */
export interface Taken<Job, Result> {
  readonly job: Job
  /** Call it once, with the result. The asker then no longer occupies the thread. */
  settle(result: Result | Problem): void
}

export interface JobQueue<Job, Result> {
  /**
   * The result of the job. `server.overloaded` if too many jobs wait, or this one has waited too long.
   * @param key names the job for `join`
   */
  add(asker: Asker, job: Job, key?: string): Promise<Result | Problem>
  /**
   * Lets another asker wait for the same job. Until it starts, the job has the best queue position of all its askers.
   */
  join(asker: Asker, key: string): void
  /** The next job; undefined once the queue is closed. */
  take(): Promise<Taken<Job, Result> | undefined>
  close(): void
}

export interface QueueBounds extends RoundsBounds {
  /** How long a job may wait, in ms. */
  readonly patience: number
}

const OVERLOADED = problem('server.overloaded', 'Too much work is waiting. Retry shortly.', {
  fields: [['Retry-After', '1']],
})
export const CLOSING = problem('server.closing', 'The gateway is stopping.')

interface Entry<Job, Result> extends Taken<Job, Result>, Waiting {}

export function makeJobQueue<Job, Result>({ patience, ...bounds }: QueueBounds): JobQueue<Job, Result> {
  const rounds = makeRounds<Entry<Job, Result>>(bounds)
  /** The latest unsettled entry with each key. */
  const named = new Map<string, Entry<Job, Result>>()
  let closed = false
  let sleepers: (() => void)[] = []

  const wakeAll = (): void => {
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
  }

  return {
    add(asker, job, key) {
      if (closed) return Promise.resolve(CLOSING)
      return new Promise((resolve) => {
        const end = (result: Result | Problem): void => {
          clearTimeout(timer)
          if (key !== undefined && named.get(key) === entry) named.delete(key)
          resolve(result)
        }
        const settle = (result: Result | Problem): void => {
          rounds.release(entry)
          end(result)
          wakeAll()
        }
        const entry: Entry<Job, Result> = { shares: [], job, settle }
        const timer = setTimeout(() => {
          if (rounds.leave(entry)) end(OVERLOADED)
        }, patience)
        if (!rounds.enter(entry, asker)) return end(OVERLOADED)
        if (key !== undefined) named.set(key, entry)
        wakeAll()
      })
    },
    join(asker, key) {
      const entry = named.get(key)
      if (entry && entry.shares.length > 0 && rounds.enter(entry, asker)) wakeAll()
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
      for (const entry of [...rounds.all()]) if (rounds.leave(entry)) entry.settle(CLOSING)
      wakeAll()
    },
  }
}
