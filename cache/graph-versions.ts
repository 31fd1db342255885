// The versions of a dataset's graphs. An answer read before a change is invalid after it. There is one counter for the
// dataset, so comparing two numbers decides.

export interface GraphVersions {
  /** Grows whenever the graph may have changed. */
  of(graph: string): number
  /** Grows whenever anything in the dataset may have changed. */
  dataset(): number
  /** The graphs that may have changed since this version of the dataset; undefined if any may have. */
  since(version: number): readonly string[] | undefined
  /** Call it when the store has answered a write, before the writer is answered. */
  changed(graph: string): void
  everythingChanged(): void
  /**
   * Records a write with unknown outcome, which may take effect until `until` (ms, by the caller's clock). Without a
   * graph, the write may change anything.
   */
  inDoubt(graph: string | undefined, until: number): void
  /** True if an answer read now may be cached. */
  isSettled(graph: string | undefined, now: number): boolean
}

/** `limit`: the most graphs with their own version. Beyond it, everything counts as changed once. */
export function makeGraphVersions(limit = 100_000): GraphVersions {
  const versions = new Map<string, number>()
  const doubts = new Map<string | undefined, number>()
  let counter = 0
  let floor = 0
  const everythingChanged = (): void => {
    floor = ++counter
    versions.clear()
  }
  const changed = (graph: string | undefined): void => {
    if (graph !== undefined) versions.set(graph, ++counter)
    if (graph === undefined || versions.size > limit) everythingChanged()
  }
  return {
    of: (graph) => versions.get(graph) ?? floor,
    dataset: () => counter,
    since: (version) =>
      floor > version ? undefined : [...versions].flatMap(([graph, own]) => (own > version ? [graph] : [])),
    changed,
    everythingChanged,
    inDoubt(graph, until) {
      changed(graph)
      doubts.set(graph, Math.max(until, doubts.get(graph) ?? 0))
    },
    isSettled(graph, now) {
      if (doubts.size === 0) return true
      for (const [doubtful, until] of doubts) {
        if (until <= now) {
          doubts.delete(doubtful)
          changed(doubtful)
        } else if (graph === undefined || doubtful === undefined || graph === doubtful) return false
      }
      return true
    },
  }
}
