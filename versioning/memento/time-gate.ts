// In charge of datetime negotiation (RFC 7089 §4.5, spec 9.5): which memento a TimeGate chooses. Pure.
import type { Memento } from './time-map.js'

/**
 * The memento closest to a datetime, the newer of two that are equally close; without a datetime the newest. Undefined
 * only when there are none.
 * @param mementos oldest first
 */
export function closestMemento(mementos: readonly Memento[], datetime: number | undefined): Memento | undefined {
  if (datetime === undefined) return mementos.at(-1)
  let closest: Memento | undefined
  for (const memento of mementos) {
    if (!closest || Math.abs(memento.time - datetime) <= Math.abs(closest.time - datetime)) closest = memento
  }
  return closest
}
