// Limits on work, per client and in total: how much runs at a time, and how much is done per day.

/** Takes a place. Returns the function that frees it, or undefined if none is free. */
export type TakePlace = (who: string) => (() => void) | undefined

export function makePlaces({ each, all }: { readonly each: number; readonly all: number }): TakePlace {
  const taken = new Map<string, number>()
  let total = 0
  return (who) => {
    const own = taken.get(who) ?? 0
    if (own >= each || total >= all) return undefined
    taken.set(who, own + 1)
    total++
    return () => {
      total--
      const left = taken.get(who)! - 1
      if (left > 0) taken.set(who, left)
      else taken.delete(who)
    }
  }
}

/** Like TakePlace, for an agent or anonymous client from a network. */
export type TakePlaceOf = (who: string, network: string) => (() => void) | undefined

/** An agent's place also counts for its network, since one network may have created many agents. */
export function makeSharedPlaces(bounds: {
  readonly each: number
  readonly network: number
  readonly all: number
}): TakePlaceOf {
  const { each, network: ofNetwork, all } = bounds
  const [agents, networks] = [makePlaces({ each, all }), makePlaces({ each: ofNetwork, all })]
  return (who, network) => {
    const leaveNetwork = networks(network)
    const leave = leaveNetwork && agents(who)
    if (!leave) {
      leaveNetwork?.()
      return undefined
    }
    return () => {
      leave()
      leaveNetwork()
    }
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Counts an amount towards a day. Returns a function that undoes the count or, if the limit is exceeded, the ms until
 * the next day.
 */
export type TakeOfDay = (who: string, count?: number) => (() => void) | number

/** Like TakeOfDay, for an agent or anonymous client from a network. */
export type TakeOfDayOf = (who: string, network: string, count: number) => (() => void) | number

/** What an agent takes also counts for its network. */
export function makeSharedDaily(
  bounds: { readonly each: Most; readonly network: Most; readonly all: number },
  now: () => number,
): TakeOfDayOf {
  const { each, network: ofNetwork, all } = bounds
  const [agents, networks] = [makeDaily({ each, all }, now), makeDaily({ each: ofNetwork, all }, now)]
  return (who, network, count) => {
    const ofNetworkBack = networks(network, count)
    if (typeof ofNetworkBack === 'number') return ofNetworkBack
    const back = agents(who, count)
    if (typeof back === 'number') {
      ofNetworkBack()
      return back
    }
    return () => {
      back()
      ofNetworkBack()
    }
  }
}

type Most = number | (() => number)

/** A day starts with the first use. Each count also counts in total, so `all` bounds the memory too. */
export function makeDaily({ each, all }: { readonly each: Most; readonly all: number }, now: () => number): TakeOfDay {
  let taken = new Map<string, number>()
  let total = 0
  let began = -Infinity
  return (who, count = 1) => {
    // Setting the clock back also starts a new day.
    if (!(now() >= began && now() - began < DAY_MS)) [taken, total, began] = [new Map(), 0, now()]
    const own = taken.get(who) ?? 0
    const most = typeof each === 'number' ? each : each()
    if (own + count > most || total + count > all) return began + DAY_MS - now()
    const today = taken
    const add = (more: number): void => {
      const next = (today.get(who) ?? 0) + more
      if (next > 0) today.set(who, next)
      else today.delete(who)
      total += more
    }
    add(count)
    return () => void (taken === today && add(-count))
  }
}

/** Calls `end` when the pieces have ended or the consumer stops. */
export function followed(pieces: AsyncIterable<Uint8Array>, end: () => void): AsyncIterable<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]()
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      let isMore = false
      try {
        const piece = await source.next()
        isMore = !piece.done
        return piece
      } finally {
        if (!isMore) end()
      }
    },
    async return() {
      end()
      return (await source.return?.()) ?? { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
