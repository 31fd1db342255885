// The main line of a branch: the commits that the branch itself has pointed to, without the side branches of merges. It
// is computed from the commits alone, so that it is always the same, whichever commit one starts from.

export interface Ancestor {
  readonly commit: string
  /**
   * In Git's order, unless the message says which parent the branch pointed to before: that one is first (`parentsOf`).
   */
  readonly parents: readonly string[]
  /** True for commits of the gateway, which commits only on the branch's head. */
  readonly isOurs: boolean
}

export interface OnLine {
  readonly commit: string
  /** The commit that the branch pointed to before; undefined for its first commit. */
  readonly parent: string | undefined
}

type Ancestors = ReadonlyMap<string, Ancestor>
/** For each commit, the number of the gateway's commits on the way to it, itself included. */
type Weights = ReadonlyMap<string, number>

/**
 * The main line to a head, oldest first, back to the first commit that is not among the given ancestors. At a merge it
 * follows the parent with most of the gateway's commits behind it, and the first one if there are several: after a `git
 * pull` and a push the branch is the second parent.
 * @param outside the weights of commits that are not among the ancestors
 */
export function mainLine(head: string, ancestors: Ancestors, outside: Weights = new Map()): readonly OnLine[] {
  const hasMerges = [...ancestors.values()].some(({ parents }) => parents.length > 1)
  const weights = hasMerges ? weigh(ancestors, outside) : outside
  const line: OnLine[] = []
  for (let at = ancestors.get(head); at;) {
    // Git has no cycles, but the answers of a server may have some.
    if (line.length > ancestors.size) throw new TypeError(CYCLE)
    const parent = heaviest(at.parents, weights)
    line.push({ commit: at.commit, parent })
    at = parent === undefined ? undefined : ancestors.get(parent)
  }
  return line.reverse()
}

/**
 * The main line after `from`: back to `from`, or past it if `from` is not on the line. `ancestors` are those new since
 * `from`.
 * @param hasOurs whether the gateway has a commit between `base`, which is older than `from`, and `from`
 */
export async function mainLineSince(
  from: string,
  head: string,
  ancestors: Ancestors,
  hasOurs: (base: string) => Promise<boolean>,
): Promise<readonly OnLine[]> {
  // All earlier commits of the gateway are ancestors of `from`, so no other commit has more of the gateway's commits among its ancestors.
  const weights = new Map([[from, 1]])
  for (const parent of [...ancestors.values()].flatMap(({ parents }) => parents)) {
    if (!ancestors.has(parent) && !weights.has(parent)) weights.set(parent, (await hasOurs(parent)) ? 0 : 1)
  }
  return mainLine(head, ancestors, weights)
}

/** The parent with the highest weight; the first one if several have it. */
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

/**
 * The parents, with the one first that the branch pointed to before. It is the last one if the message is Git's own for
 * merging the branch into other work.
 */
export function parentsOf(parents: readonly string[], message: string, branch: string): readonly string[] {
  const words = [`Merge branch '${branch}'`, `Merge remote-tracking branch 'origin/${branch}'`]
  return parents.length > 1 && words.some((start) => message.startsWith(start)) ? parents.toReversed() : parents
}
