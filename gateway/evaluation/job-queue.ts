// In charge of the jobs that wait for a thread: taken in turn by network and agent, bounded in number and in time, so that no
// client makes the others wait, however many agents it has made (design 7).
import { problem, type Problem } from '../problem.js'

/** For whom the gateway works: an agent and the network that it comes from; or the network alone, of anonymous clients. */
export type Asker = string | { readonly agent: string; readonly network: string }

/** A job that a thread has taken. */
export interface Taken<Job, Result> {
  readonly job: Job
  /** Its result, once: its asker no longer holds the thread. */
  settle(result: Result | Problem): void
}

export interface JobQueue<Job, Result> {
  /** The result of the job. `server.overloaded` where too many jobs wait, or this one has waited too long. */
  add(asker: Asker, job: Job): Promise<Result | Problem>
  /** The next job; undefined once the queue is closed. */
  take(): Promise<Taken<Job, Result> | undefined>
  close(): void
}

export interface QueueBounds {
  /** How many jobs may wait: of one agent, of one network, and of all. */
  readonly each: number
  readonly network: number
  readonly all: number
  /** How many threads one agent may hold. */
  readonly held: number
  /** ms that a job may wait. */
  readonly patience: number
}

const OVERLOADED = problem('server.overloaded', 'Too much work waits for a thread. Retry shortly.', {
  fields: [['Retry-After', '1']],
})
export const CLOSING = problem('server.closing', 'The server is closing.')

interface Entry<Job, Result> extends Taken<Job, Result>, Share {}

/** Whose share an entry counts for. */
interface Share {
  /** The agent; of anonymous clients the network. */
  readonly who: string
  readonly network: string
}

const shareOf = (asker: Asker): Share =>
  typeof asker === 'string' ? { who: asker, network: asker } : { who: asker.agent, network: asker.network }

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
        const share = shareOf(asker)
        const entry: Entry<Job, Result> = {
          ...share,
          job,
          settle(result) {
            clearTimeout(timer)
            rounds.release(share)
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
  /** The next entry: it no longer waits, and its agent holds a thread until `release`. */
  next(): Entry | undefined
  release(share: Share): void
  all(): readonly Entry[]
}

/** The waiting entries of one network by agent, in the order of their turns. */
type Turns<Entry> = Map<string, Set<Entry>>

/** Networks take turns; the agents of each take turns; and the oldest entry of an agent comes first. */
function makeRounds<Entry extends Share>({
  each,
  network: ofNetwork,
  all,
  held,
}: Omit<QueueBounds, 'patience'>): Rounds<Entry> {
  const networks = new Map<string, Turns<Entry>>()
  /** The numbers of entries that wait, and of threads that are held. */
  const [agents, places, holds] = [makeCounts(), makeCounts(), makeCounts()]
  let waiting = 0

  const leave = (entry: Entry): boolean => {
    const { who, network } = entry
    const turns = networks.get(network)
    const own = turns?.get(who)
    if (!turns || !own?.delete(entry)) return false
    if (own.size === 0) turns.delete(who)
    if (turns.size === 0) networks.delete(network)
    agents.add(who, -1)
    places.add(network, -1)
    waiting--
    return true
  }
  /** The next turn of this network, or of this agent within it, comes after those of all who wait now. */
  const turn = <Value>(order: Map<string, Value>, key: string): void => {
    const value = order.get(key)
    if (value !== undefined && order.delete(key)) order.set(key, value)
  }
  return {
    enter(entry) {
      const { who, network } = entry
      if (agents.of(who) >= each || places.of(network) >= ofNetwork || waiting >= all) return false
      const turns: Turns<Entry> = networks.get(network) ?? new Map<string, Set<Entry>>()
      networks.set(network, turns)
      turns.set(who, (turns.get(who) ?? new Set<Entry>()).add(entry))
      agents.add(who, 1)
      places.add(network, 1)
      waiting++
      return true
    },
    leave,
    next() {
      for (const [network, turns] of networks) {
        for (const [who, own] of turns) {
          if (holds.of(who) >= held) continue
          const [entry] = own
          leave(entry!)
          holds.add(who, 1)
          turn(turns, who)
          turn(networks, network)
          return entry
        }
      }
      return undefined
    },
    release: ({ who }) => holds.add(who, -1),
    all: () => [...networks.values()].flatMap((turns) => [...turns.values()].flatMap((own) => [...own])),
  }
}

/** Numbers by name; a name that has none takes no memory. */
function makeCounts() {
  const counts = new Map<string, number>()
  const of = (name: string): number => counts.get(name) ?? 0
  return {
    of,
    add(name: string, count: number): void {
      const sum = of(name) + count
      if (sum > 0) counts.set(name, sum)
      else counts.delete(name)
    },
  }
}
