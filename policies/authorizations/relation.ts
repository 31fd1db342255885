// Counted pairs: a pair that two statements make remains when one of them is removed.

export interface Relation<T> {
  add(from: T, to: T): void
  remove(from: T, to: T): void
  of(from: T): Iterable<T>
}

/** Most have one partner by one statement, which then takes no memory but its place. */
export function makeRelation<T extends string | number>(): Relation<T> {
  const pairs = new Map<T, T | Map<T, number>>()
  return {
    add(from, to) {
      const known = pairs.get(from)
      if (known === undefined) pairs.set(from, to)
      else if (known instanceof Map) known.set(to, (known.get(to) ?? 0) + 1)
      else
        pairs.set(
          from,
          known === to
            ? new Map([[to, 2]])
            : new Map([
                [known, 1],
                [to, 1],
              ]),
        )
    },
    remove(from, to) {
      const known = pairs.get(from)
      if (known === to) pairs.delete(from)
      if (!(known instanceof Map)) return
      const count = known.get(to) ?? 0
      if (count > 1) known.set(to, count - 1)
      else known.delete(to)
      if (known.size === 0) pairs.delete(from)
    },
    of(from) {
      const known = pairs.get(from)
      return known instanceof Map ? known.keys() : known === undefined ? [] : [known]
    },
  }
}

export interface RelationClosure<T> {
  /** The start and everything that it reaches. */
  of(start: T): readonly T[]
  /** To be called when the relation has changed. */
  forget(): void
}

export function makeClosure<T extends string | number>(relation: Relation<T>): RelationClosure<T> {
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
