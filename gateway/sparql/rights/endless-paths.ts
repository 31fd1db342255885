// Property paths that Jena follows to their end before it looks at the time, in every way there is: for one query of a
// hundred characters, until its memory is full (design 7). It does so in *, + and ?, and in alternatives; sequences outside of them it
// joins. Pure.
import { isPath, type Path } from '../language/syntax.js'

/** What one node may cost: each step multiplies by what a node has, each way by one. */
interface Cost {
  readonly steps: number
  readonly ways: number
}

/** Of a path of several steps; in * and + there may be one. */
const MOST_STEPS = 3
const MOST_WAYS = 16
/** Of one step. */
const MOST_ALTERNATIVES = 500
const ENDLESS: Cost = { steps: Infinity, ways: Infinity }

/** @param path of a triple */
export function isEndlessPath(path: Path): boolean {
  if (path.kind === 'iri') return false
  const { operator, items } = path
  if (operator === '/' || (operator === '^' && isPath(items[0]!))) return items.some(isEndlessPath)
  return costOf(path) === ENDLESS
}

function costOf(path: Path): Cost {
  if (path.kind === 'iri' || path.operator === '!') return { steps: 1, ways: 1 }
  const costs = path.items.map(costOf)
  const [only] = costs as [Cost]
  const all = (of: keyof Cost, sum: (a: number, b: number) => number): number =>
    costs.map((cost) => cost[of]).reduce(sum)
  const add = (a: number, b: number): number => a + b
  switch (path.operator) {
    case '|':
      return bounded({ steps: all('steps', (a, b) => Math.max(a, b)), ways: all('ways', add) })
    case '/':
      return bounded({ steps: all('steps', add), ways: all('ways', (a, b) => a * b) })
    case '*':
    case '+':
      // Once for each node that it reaches.
      return only.steps === 1 ? { steps: 2, ways: 1 } : ENDLESS
    default:
      return only
  }
}

const bounded = (cost: Cost): Cost =>
  cost.steps <= MOST_STEPS && cost.ways <= (cost.steps === 1 ? MOST_ALTERNATIVES : MOST_WAYS) ? cost : ENDLESS
