// In charge of which of a branch's commits it has stood at, where merges leave a choice. Decided from the commits alone, so
// that it comes out the same however often, and from wherever on, it is asked.

export interface Ancestor {
  readonly commit: string
  /** In their order, or with that first which the branch stood at, where the message tells (`parentsOf`). */
  readonly parents: readonly string[]
  /** Made by the gateway, which commits to the branch's head only. */
  readonly isOurs: boolean
}

export interface OnLine {
  readonly commit: string
  /** The one that the branch stood at before; undefined for its first commit. */
  readonly parent: string | undefined
}

type Ancestors = ReadonlyMap<string, Ancestor>
/** How many of the gateway's commits lead up to a commit, itself included. */
type Weights = ReadonlyMap<string, number>

/**
 * The branch's way to its head, oldest first, back to the first commit that is not among the ancestors that are given.
 * At a merge it comes from the parent that most of the gateway's commits lead up to, the first of these: who merges the
 * branch into their own work (`git pull`) and pushes that has the branch as the second parent.
 * @param outside of the commits that are not among them
 */
export function mainLine(head: string, ancestors: Ancestors, outside: Weights = new Map()): readonly OnLine[] {
  const hasMerges = [...ancestors.values()].some(({ parents }) => parents.length > 1)
  const weights = hasMerges ? weigh(ancestors, outside) : outside
  const line: OnLine[] = []
  for (let at = ancestors.get(head); at;) {
    // Git has no cycles, but what is answered may.
    if (line.length > ancestors.size) throw new TypeError(CYCLE)
    const parent = heaviest(at.parents, weights)
    line.push({ commit: at.commit, parent })
    at = parent === undefined ? undefined : ancestors.get(parent)
  }
  return line.reverse()
}

/**
 * The same of the ancestors that are new since `from`, to which it leads, or else past it.
 * @param hasOurs whether there is a commit of the gateway between that commit, which comes before `from`, and `from`
 */
export async function mainLineSince(
  from: string,
  head: string,
  ancestors: Ancestors,
  hasOurs: (base: string) => Promise<boolean>,
): Promise<readonly OnLine[]> {
  // No commit of the gateway comes before `from` and is not on the way to it: it has most, and others have as many or fewer.
  const weights = new Map([[from, 1]])
  for (const parent of [...ancestors.values()].flatMap(({ parents }) => parents)) {
    if (!ancestors.has(parent) && !weights.has(parent)) weights.set(parent, (await hasOurs(parent)) ? 0 : 1)
  }
  return mainLine(head, ancestors, weights)
}

/** The first of those with most weight. */
const heaviest = (parents: readonly string[], weights: Weights): string | undefined =>
  parents.reduce<string | undefined>(
    (best, one) => (best === undefined || (weights.get(one) ?? 0) > (weights.get(best) ?? 0) ? one : best),
    undefined,
  )

function weigh(ancestors: Ancestors, outside: Weights): Weights {
  const weights = new Map(outside)
  for (const first of ancestors.keys()) {
    for (const path = [first]; path.length > 0;) {
      if (path.length > ancestors.size) throw new TypeError(CYCLE)
      const { commit, parents, isOurs } = ancestors.get(path.at(-1)!)!
      const unknown = parents.find((parent) => ancestors.has(parent) && !weights.has(parent))
      if (unknown === undefined) {
        const before = parents.map((parent) => weights.get(parent) ?? 0)
        weights.set(commit, Math.max(0, ...before) + (isOurs ? 1 : 0))
        path.pop()
      } else path.push(unknown)
    }
  }
  return weights
}

const CYCLE = 'a commit that is its own ancestor'

/** By Git's own words for a merge of the branch into something else: then it is the last one that the branch stood at. */
export function parentsOf(parents: readonly string[], message: string, branch: string): readonly string[] {
  const words = [`Merge branch '${branch}'`, `Merge remote-tracking branch 'origin/${branch}'`]
  return parents.length > 1 && words.some((start) => message.startsWith(start)) ? parents.toReversed() : parents
}
