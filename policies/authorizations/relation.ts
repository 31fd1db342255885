// In charge of pairs, counted, so that what two statements say remains when one of them goes.

export interface Relation<T> {
  add(from: T, to: T): void
  remove(from: T, to: T): void
  of(from: T): Iterable<T>
}

export function makeRelation<T>(): Relation<T> {
  const pairs = new Map<T, Map<T, number>>()
  return {
    add(from, to) {
      let counts = pairs.get(from)
      if (!counts) pairs.set(from, (counts = new Map()))
      counts.set(to, (counts.get(to) ?? 0) + 1)
    },
    remove(from, to) {
      const counts = pairs.get(from)
      const count = counts?.get(to)
      if (!counts || count === undefined) return
      if (count > 1) counts.set(to, count - 1)
      else counts.delete(to)
      if (counts.size === 0) pairs.delete(from)
    },
    of: (from) => pairs.get(from)?.keys() ?? [],
  }
}
