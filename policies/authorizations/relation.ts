// In charge of counted pairs: a pair that two statements make remains when one of them is removed.

export interface Relation<T, To = T> {
  add(from: T, to: To): void
  remove(from: T, to: To): void
  of(from: T): Iterable<To>
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

/** The same for pairs that no two statements make: most have one partner, which then takes no memory but its place. */
export function makePairs<T, To extends object>(): Relation<T, To> {
  const pairs = new Map<T, To | Set<To>>()
  return {
    add(from, to) {
      const known = pairs.get(from)
      if (known instanceof Set) known.add(to)
      else pairs.set(from, known === undefined || known === to ? to : new Set([known, to]))
    },
    remove(from, to) {
      const known = pairs.get(from)
      if (known instanceof Set) known.delete(to)
      if (known === to || (known instanceof Set && known.size === 0)) pairs.delete(from)
    },
    of(from) {
      const known = pairs.get(from)
      return known instanceof Set ? known : known === undefined ? [] : [known]
    },
  }
}

export interface Closure<T> {
  /** The start and everything that it reaches. */
  of(start: T): readonly T[]
  /** To be called when the relation has changed. */
  forget(): void
}

export function makeClosure<T>(relation: Relation<T>): Closure<T> {
  const known = new Map<T, readonly T[]>()
  return {
    of(start) {
      const found = known.get(start)
      if (found) return found
      const reached = new Set([start])
      // The iteration visits members that are added while it runs; a member of a circle is added once.
      for (const each of reached) for (const next of relation.of(each)) reached.add(next)
      if (reached.size === 1) return [start]
      const all = [...reached]
      known.set(start, all)
      return all
    },
    forget: () => known.clear(),
  }
}
