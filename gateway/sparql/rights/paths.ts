// Property paths: as triples, alternatives and fresh variables (SPARQL 1.1 §18.4), and over a graph without any
// triple. Pure.
import { iriTerm, type Expression, type Path, type Term, type Triple, type Variable } from '../language/syntax.js'

/** The meaning of a path between two terms. */
export type Unfolded =
  | { readonly kind: 'triple'; readonly triple: Triple }
  | { readonly kind: 'filter'; readonly expression: Expression }
  | { readonly kind: 'alternatives'; readonly branches: readonly (readonly Unfolded[])[] }

/** Undefined for a path of any length, or of none, which is more than triples side by side. */
export function unfolded(
  subject: Term,
  path: Path,
  object: Term,
  fresh: () => Variable,
): readonly Unfolded[] | undefined {
  if (path.kind === 'iri') return [{ kind: 'triple', triple: { subject, predicate: path, object } }]
  const { operator, items } = path
  const [first] = items
  switch (operator) {
    case '^':
      return unfolded(object, first!, subject, fresh)
    case '/': {
      const steps: Unfolded[] = []
      let from = subject
      for (const [i, item] of items.entries()) {
        const to = i === items.length - 1 ? object : fresh()
        const step = unfolded(from, item, to, fresh)
        if (!step) return undefined
        steps.push(...step)
        from = to
      }
      return steps
    }
    case '|': {
      const branches = items.map((item) => unfolded(subject, item, object, fresh))
      return branches.includes(undefined) ? undefined : [{ kind: 'alternatives', branches: branches as Unfolded[][] }]
    }
    case '!':
      return negated(subject, first!, object, fresh)
    default:
      return undefined
  }
}

/** SPARQL 1.1 §9.1: any property but these, forwards and backwards each where one is named, forwards where none is. */
function negated(subject: Term, path: Path, object: Term, fresh: () => Variable): readonly Unfolded[] {
  const items = path.kind === 'path' && path.operator === '|' ? path.items : [path]
  const forwards = items.flatMap((item) => (item.kind === 'iri' ? [item.value] : []))
  const backwards = items.flatMap((item) =>
    item.kind === 'path' && item.items[0]?.kind === 'iri' ? [item.items[0].value] : [],
  )
  const other = (from: Term, to: Term, properties: readonly string[]): readonly Unfolded[] => {
    const predicate = fresh()
    return [
      { kind: 'triple', triple: { subject: from, predicate, object: to } },
      {
        kind: 'filter',
        expression: { kind: 'operation', operator: 'notin', args: [predicate, ...properties.map(iriTerm)] },
      },
    ]
  }
  if (backwards.length === 0) return other(subject, object, forwards)
  if (forwards.length === 0) return other(object, subject, backwards)
  return [{ kind: 'alternatives', branches: [other(subject, object, forwards), other(object, subject, backwards)] }]
}

/** No path is counted further: `(<p>?|<q>?)/…` doubles the ways with each step. */
export const MOST_WAYS = 1000

/**
 * In how many ways the path leads from a term to itself without a step (SPARQL 1.1 §18.4, over a graph without
 * triples): one more than MOST_WAYS is as many, or more.
 */
export function waysWithoutStep(path: Path): number {
  if (path.kind === 'iri') return 0
  const ways = path.items.map(waysWithoutStep)
  switch (path.operator) {
    case '*':
    case '?':
      return 1
    case '+':
      return Math.min(1, ways[0]!)
    case '^':
      return ways[0]!
    case '/':
      return ways.reduce((a, b) => Math.min(a * b, MOST_WAYS + 1), 1)
    case '|':
      return ways.reduce((a, b) => Math.min(a + b, MOST_WAYS + 1), 0)
    case '!':
      return 0
  }
}
