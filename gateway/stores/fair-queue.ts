// Decides which waiting entry comes next: networks take turns, and so do the agents of each network, so that no client
// makes the others wait, however many agents it has created (design 7).

/** The client for which the gateway works: an agent and its network; for an anonymous client only the network. */
export type Asker = string | { readonly agent: string; readonly network: string }

export interface Waiting {
  /** The shares of agent and network in whose turns the entry waits; empty once it has been taken or removed. */
  shares: readonly Share[]
  /** The share in whose turn it was taken. */
  holder?: Share
}

/** The agent and network that an entry counts for. */
interface Share {
  /** The agent; for an anonymous client the network. */
  readonly who: string
  readonly network: string
}

const shareOf = (asker: Asker): Share =>
  typeof asker === 'string' ? { who: asker, network: asker } : { who: asker.agent, network: asker.network }

export interface RoundsBounds {
  /** How many entries may wait for one agent, for one network, and in total. */
  readonly each: number
  readonly network: number
  readonly all: number
  /** How many taken entries one agent may hold. */
  readonly held: number
  /** How many taken entries one network may hold. */
  readonly heldOfNetwork?: number
}

export interface Rounds<Entry> {
  /** Queues the entry in the turn of this asker; false if too many wait. */
  enter(entry: Entry, asker: Asker): boolean
  /** Takes an entry at once, without waiting; false if its asker already holds as many as it may. */
  hold(entry: Entry, asker: Asker): boolean
  /** Removes a waiting entry; false if it does not wait. */
  leave(entry: Entry): boolean
  /** The next entry: it no longer waits, and the agent in whose turn it is taken holds it until `release`. */
  next(): Entry | undefined
  /** The next entry, however many its asker holds. It does not count as held. */
  nextOnLoan(): Entry | undefined
  /** True if `next` would give an entry. */
  hasNext(): boolean
  release(entry: Entry): void
  all(): ReadonlySet<Entry>
}

/** The waiting entries of one network by agent, in the order of their turns. */
type Turns<Entry> = Map<string, Set<Entry>>

/** Networks take turns; the agents of each take turns; and the oldest entry of an agent comes first. */
export function makeRounds<Entry extends Waiting>(bounds: RoundsBounds): Rounds<Entry> {
  const { held, heldOfNetwork = Infinity } = bounds
  const { networks, waiting, enter, leave } = makeWaitingEntries<Entry>(bounds)
  /** The numbers of entries that are held. */
  const [holds, holdsOfNetwork] = [makeCounts(), makeCounts()]
  const mayHold = ({ who, network }: Share): boolean =>
    holds.of(who) < held && holdsOfNetwork.of(network) < heldOfNetwork
  const hold = (entry: Entry, share: Share): void => {
    entry.holder = share
    holds.add(share.who, 1)
    holdsOfNetwork.add(share.network, 1)
  }
  /** The next entry of the first share for which `isMeant` is true, and that share. */
  const first = (isMeant: (share: Share) => boolean): { readonly entry: Entry; readonly share: Share } | undefined => {
    for (const [network, turns] of networks) {
      for (const [who, [entry]] of turns) {
        if (isMeant({ who, network })) return { entry: entry!, share: { who, network } }
      }
    }
    return undefined
  }
  const taken = (found: ReturnType<typeof first>, isHeld: boolean): Entry | undefined => {
    if (!found) return undefined
    const { entry, share } = found
    const turns = networks.get(share.network)!
    leave(entry)
    if (isHeld) hold(entry, share)
    toEnd(turns, share.who)
    toEnd(networks, share.network)
    return entry
  }
  return {
    enter: (entry, asker) => enter(entry, shareOf(asker)),
    hold(entry, asker) {
      const share = shareOf(asker)
      if (!mayHold(share)) return false
      hold(entry, share)
      return true
    },
    leave,
    next: () => taken(first(mayHold), true),
    nextOnLoan: () =>
      taken(
        first(() => true),
        false,
      ),
    hasNext: () => first(mayHold) !== undefined,
    release({ holder }) {
      if (!holder) return
      holds.add(holder.who, -1)
      holdsOfNetwork.add(holder.network, -1)
    },
    all: () => waiting,
  }
}

function makeWaitingEntries<Entry extends Waiting>(bounds: RoundsBounds) {
  const networks = new Map<string, Turns<Entry>>()
  const waiting = new Set<Entry>()
  /** The numbers of entries that wait. */
  const [agents, places] = [makeCounts(), makeCounts()]
  return {
    networks,
    waiting,
    enter(entry: Entry, share: Share): boolean {
      const { who, network } = share
      if (agents.of(who) >= bounds.each || places.of(network) >= bounds.network) return false
      if (!waiting.has(entry) && waiting.size >= bounds.all) return false
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
    leave(entry: Entry): boolean {
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
    },
  }
}

/** The next turn of this network, or of this agent within it, comes after those of all who wait now. */
function toEnd<Value>(turns: Map<string, Value>, who: string): void {
  const value = turns.get(who)
  if (value !== undefined && turns.delete(who)) turns.set(who, value)
}

/** One number for each name. A name whose number is 0 takes no memory. */
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
