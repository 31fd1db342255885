// In charge of the jobs that wait for a thread: taken in turn by network and agent, bounded in number and in time, so that no
// client makes the others wait, however many agents it has made (design 7).
import { problem, type Problem } from '../problem.js'

/** For whom the gateway works: an agent and the network that it comes from; or the network alone, of anonymous clients. */
export type Asker = string | { readonly agent: string; readonly network: string }

/** A request, as far as it says for whom the gateway works. */
export interface Client {
  readonly agent: { readonly webId?: string }
  readonly request: { network(): string }
}

/** Shares of threads are counted by agent and network, by network for anonymous clients (design 7). */
export const askerOf = ({ agent: { webId }, request }: Client): Asker =>
  webId === undefined ? request.network() : { agent: webId, network: request.network() }

/** A job that a thread has taken. */
export interface Taken<Job, Result> {
  readonly job: Job
  /** Its result, once: its asker no longer holds the thread. */
  settle(result: Result | Problem): void
}

export interface JobQueue<Job, Result> {
  /**
   * The result of the job. `server.overloaded` where too many jobs wait, or this one has waited too long.
   * @param key names the job, for `join`
   */
  add(asker: Asker, job: Job, key?: string): Promise<Result | Problem>
  /** This asker waits for the result of that job too: while it waits, it is taken in the turn of whoever comes first. */
  join(asker: Asker, key: string): void
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

interface Entry<Job, Result> extends Taken<Job, Result>, Waiting {}

interface Waiting {
  /** Of those in whose turns it waits; none once it has been taken or has left. */
  shares: readonly Share[]
  /** Whose turn it was taken in. */
  holder?: string
}

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
  /** The latest entries with these keys that are not settled. */
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
        if (!rounds.enter(entry, shareOf(asker))) return end(OVERLOADED)
        if (key !== undefined) named.set(key, entry)
        wakeAll()
      })
    },
    join(asker, key) {
      const entry = named.get(key)
      if (entry && entry.shares.length > 0 && rounds.enter(entry, shareOf(asker))) wakeAll()
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

interface Rounds<Entry> {
  /** In this turn; false where too many wait. */
  enter(entry: Entry, share: Share): boolean
  /** False where it does not wait. */
  leave(entry: Entry): boolean
  /** The next entry: it no longer waits, and the agent in whose turn it is taken holds a thread until `release`. */
  next(): Entry | undefined
  release(entry: Entry): void
  all(): ReadonlySet<Entry>
}

/** The waiting entries of one network by agent, in the order of their turns. */
type Turns<Entry> = Map<string, Set<Entry>>

/** Networks take turns; the agents of each take turns; and the oldest entry of an agent comes first. */
function makeRounds<Entry extends Waiting>(bounds: Omit<QueueBounds, 'patience'>): Rounds<Entry> {
  const networks = new Map<string, Turns<Entry>>()
  const waiting = new Set<Entry>()
  /** The numbers of entries that wait, and of threads that are held. */
  const [agents, places, holds] = [makeCounts(), makeCounts(), makeCounts()]

  const leave = (entry: Entry): boolean => {
    for (const { who, network } of entry.shares) {
      const turns = networks.get(network)!
      const own = turns.get(who)!
      own.delete(entry)
      if (own.size === 0) turns.delete(who)
      if (turns.size === 0) networks.delete(network)
      agents.add(who, -1)
      places.add(network, -1)
    }
    entry.shares = []
    return waiting.delete(entry)
  }
  return {
    enter(entry, share) {
      const { who, network } = share
      const isNew = !waiting.has(entry)
      if (agents.of(who) >= bounds.each || places.of(network) >= bounds.network) return false
      if (isNew && waiting.size >= bounds.all) return false
      const turns: Turns<Entry> = networks.get(network) ?? new Map<string, Set<Entry>>()
      const own = turns.get(who) ?? new Set<Entry>()
      if (own.has(entry)) return true
      networks.set(network, turns.set(who, own.add(entry)))
      agents.add(who, 1)
      places.add(network, 1)
      entry.shares = [...entry.shares, share]
      waiting.add(entry)
      return true
    },
    leave,
    next() {
      for (const [network, turns] of networks) {
        for (const [who, own] of turns) {
          if (holds.of(who) >= bounds.held) continue
          const [entry] = own
          leave(entry!)
          entry!.holder = who
          holds.add(who, 1)
          toEnd(turns, who)
          toEnd(networks, network)
          return entry
        }
      }
      return undefined
    },
    release({ holder }) {
      if (holder !== undefined) holds.add(holder, -1)
    },
    all: () => waiting,
  }
}

/** The next turn of this network, or of this agent within it, comes after those of all who wait now. */
function toEnd<Value>(turns: Map<string, Value>, who: string): void {
  const value = turns.get(who)
  if (value !== undefined && turns.delete(who)) turns.set(who, value)
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
