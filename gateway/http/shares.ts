// The shares of a listener: how many requests of one network wait at once, and how many bytes of their contents are
// held, so that no client takes the room of all others (design 7).
import type { IncomingMessage } from 'node:http'

/** The room of one network, and of all. */
export interface BodyRoom {
  readonly each: number
  readonly all: number
}

/** One network has a quarter of the room. */
export const shared = (all: number): BodyRoom => ({ each: Math.ceil(all / 4), all })

export interface Shares {
  /** True where a request of this network would find no place. */
  isFull(network: () => string): boolean
  /** Takes a place for the request: gives the function that leaves it, once, or undefined where none is free. */
  enter(raw: IncomingMessage, network: string): (() => void) | undefined
  /** Counts further bytes of the content, until the request leaves its place. False where there is no room for them. */
  hold(raw: IncomingMessage, bytes: number): boolean
  /** True where so many bytes would find room now. */
  hasRoom(raw: IncomingMessage, bytes: number): boolean
}

interface Place {
  readonly network: string
  bytes: number
}

/** @param content in bytes */
export function makeShares(waiting: BodyRoom, content: BodyRoom): Shares {
  const places = makeCounter(waiting)
  const bytes = makeCounter(content)
  const taken = new WeakMap<IncomingMessage, Place>()
  return {
    // Below the share of one network, none has used it up: the usual case reads no address.
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
