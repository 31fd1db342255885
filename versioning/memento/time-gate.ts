// The memento that a TimeGate chooses (RFC 7089 §4.5, spec 9.5), found without reading all of them.
import { lastWhere } from './halving.js'

/** The versions of a document by number, oldest first: their times never go back. */
export interface Timeline {
  readonly count: number
  timeAt(place: number): Promise<number>
  /** False for a deletion. The first version is not a deletion, and no deletion follows another. */
  isMemento(place: number): boolean
}

/**
 * The number of the memento closest to the datetime, the newer of two that are equally close; the newest without a
 * datetime. Undefined only if there is no memento.
 */
export async function closestPlace(of: Timeline, datetime: number | undefined): Promise<number | undefined> {
  const { count, timeAt, isMemento } = of
  const atOrBefore = (place: number): number | undefined =>
    place < 0 ? undefined : isMemento(place) ? place : atOrBefore(place - 1)
  const lastUntil = async (time: number): Promise<number> =>
    lastWhere(count, async (place) => (await timeAt(place)) <= time)
  if (datetime === undefined) return atOrBefore(count - 1)
  const last = await lastUntil(datetime)
  const before = atOrBefore(last)
  const next = last + 1 < count && !isMemento(last + 1) ? last + 2 : last + 1
  if (next >= count) return before
  const time = await timeAt(next)
  const after = atOrBefore(await lastUntil(time))
  if (before === undefined) return after
  return time - datetime <= datetime - (await timeAt(before)) ? after : before
}
