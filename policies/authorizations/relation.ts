// Pairs with counts: a pair stated twice remains when one of the statements is removed.

export interface Relation<T> {
  add(from: T, to: T): void
  remove(from: T, to: T): void
  of(from: T): Iterable<T>
}

/** The partners of each, with counts. Most members have one partner by one statement, which needs no further memory. */
export type Pairs<T> = Map<T, T | Map<T, number>>

export function makeRelation<T extends string | number>(pairs: Pairs<T>): Relation<T> {
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
  /** The start and everything reachable from it. */
  of(start: T): readonly T[]
  /** Call it when the relation has changed. */
  forget(): void
}

export function makeClosure<T extends string | number>(relation: Relation<T>): RelationClosure<T> {
  const known = new Map<T, readonly T[]>()
  return {
    of(start) {
      const found = known.get(start)
      if (found) return found
      const reached = new Set([start])
      // The iteration also visits members added while it runs. Members of a cycle are added only once.
      for (const each of reached) for (const next of relation.of(each)) reached.add(next)
      if (reached.size === 1) return [start]
      const all = [...reached]
      known.set(start, all)
      return all
    },
    forget: () => known.clear(),
  }
}
