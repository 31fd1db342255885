// Estimates the work to order the patterns of a query or an update. Some stores compare each pattern with all others,
// again and again, before their own time limits apply (design 7). Pure.
import { isTemplate, PLAIN, type Node } from './tree.js'

/** Patterns that a store joins in an order that it chooses. */
interface Joined {
  /** The number of these patterns. */
  count: number
  /** That number plus the patterns of the unions, OPTIONALs and sub-queries inside. */
  all: number
  readonly around: Joined | undefined
}

interface Waiting {
  readonly node: unknown
  readonly joined: Joined
}

/** Nodes whose inner patterns are ordered separately. */
const APART = new Set<unknown>(['optional', 'minus', 'service', 'patternOperation'])
const PLAIN_GROUPS = new Set<unknown>(['group', 'bgp'])
const OPERANDS = new Set<unknown>(['union', 'values', 'service'])
/** A query with fewer variables counts as one with this many. */
const FEWEST_VARIABLES = 30

/** About the number of steps that the embedded store takes. No recursion: the client determines the depth. */
export function orderingWork(tree: Node): number {
  const variables = new Set<unknown>()
  const groups: Joined[] = []
  let parts = 0
  const apart = (around: Joined | undefined): Joined => {
    const joined = { count: 0, all: 0, around }
    groups.push(joined)
    return joined
  }
  const waiting: Waiting[] = [{ node: tree, joined: apart(undefined) }]
  while (waiting.length > 0) {
    const { node, joined } = waiting.pop()!
    if (typeof node !== 'object' || node === null) continue
    const { type, subType, value } = node as Node
    if (type === 'term') {
      if (subType === 'variable') variables.add(value)
      continue
    }
    const isUnion = subType === 'union'
    joined.count += operandsOf(node as Node)
    if (type === 'triple' || type === 'query' || (type === 'pattern' && !PLAIN_GROUPS.has(subType))) parts++
    const inner = type === 'query' || APART.has(subType) ? apart(joined) : joined
    for (const [name, child] of Object.entries(node)) {
      if (PLAIN.has(name) || isTemplate(node as Node, name)) continue
      const branches = isUnion && Array.isArray(child) ? child : undefined
      parts += branches?.length ?? 0
      for (const each of branches ?? [child]) waiting.push({ node: each, joined: branches ? apart(joined) : inner })
    }
  }
  // Inner groups come after the groups that contain them.
  for (const joined of groups.reverse()) {
    joined.all += joined.count
    if (joined.around) joined.around.all += joined.all
  }
  const joining = groups.reduce((sum, { count, all }) => sum + count ** 3 * all, 0)
  return joining + parts ** 2 * (variables.size + FEWEST_VARIABLES)
}

/** How many operands of a join this node is. A path has a triple for each step. */
function operandsOf({ type, subType, items }: Node): number {
  if (type === 'path') return subType === '/' ? (items as unknown[]).length - 1 : 0
  return type === 'triple' || type === 'query' || OPERANDS.has(subType) ? 1 : 0
}
