// The shares of a listener: how many requests of one network wait at once, and how many bytes of content they hold. No
// client can take the room of all others (design 7).
import type { IncomingMessage } from 'node:http'

/** The room of one network, and of all together. */
export interface BodyRoom {
  readonly each: number
  readonly all: number
}

/** One network gets a quarter of the room. */
export const shared = (all: number): BodyRoom => ({ each: Math.ceil(all / 4), all })

export interface Shares {
  /** True if no place is free for a request of this network. */
  isFull(network: () => string): boolean
  /** Takes a place for the request. Returns the function that frees it, or undefined if none is free. */
  enter(raw: IncomingMessage, network: string): (() => void) | undefined
  /** Counts further bytes of the content until the request frees its place. False if there is no room for them. */
  hold(raw: IncomingMessage, bytes: number): boolean
  /** True if there is room for this many bytes now. */
  hasRoom(raw: IncomingMessage, bytes: number): boolean
}

interface Place {
  readonly network: string
  bytes: number
}

/** @param content bytes */
export function makeShares(waiting: BodyRoom, content: BodyRoom): Shares {
  const places = makeCounter(waiting)
  const bytes = makeCounter(content)
  const taken = new WeakMap<IncomingMessage, Place>()
  return {
    // In total fewer requests wait than one network may have waiting. This is the usual case, and needs no address.
    isFull: (network) => places.total() >= waiting.each && !places.hasRoom(network(), 1),
    enter(raw, network) {
      if (!places.hasRoom(network, 1)) return undefined
      const place = { network, bytes: 0 }
      taken.set(raw, place)
      places.add(network, 1)
      return () => {
        if (!taken.delete(raw)) return
        places.add(network, -1)
        bytes.add(network, -place.bytes)
      }
    },
    hold(raw, more) {
      const place = taken.get(raw)
      if (!place || !bytes.hasRoom(place.network, more)) return false
      bytes.add(place.network, more)
      place.bytes += more
      return true
    },
    hasRoom(raw, more) {
      const place = taken.get(raw)
      return place !== undefined && bytes.hasRoom(place.network, more)
    },
  }
}

interface Counter {
  total(): number
  hasRoom(who: string, count: number): boolean
  add(who: string, count: number): void
}

function makeCounter({ each, all }: BodyRoom): Counter {
  const counts = new Map<string, number>()
  let total = 0
  return {
    total: () => total,
    hasRoom: (who, count) => total + count <= all && (counts.get(who) ?? 0) + count <= each,
    add(who, count) {
      total += count
      const own = (counts.get(who) ?? 0) + count
      if (own > 0) counts.set(who, own)
      else counts.delete(who)
    },
  }
}
