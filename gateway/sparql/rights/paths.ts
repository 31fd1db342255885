// Property paths: rewritten to triples, alternatives and fresh variables (SPARQL 1.1 §18.4), and their meaning in a
// graph without triples. Pure.
import { iriTerm, type Expression, type Path, type Term, type Triple, type Variable } from '../language/syntax.js'

/** The parts of a path between two terms. */
export type Unfolded =
  | { readonly kind: 'triple'; readonly triple: Triple }
  | { readonly kind: 'filter'; readonly expression: Expression }
  | { readonly kind: 'alternatives'; readonly branches: readonly (readonly Unfolded[])[] }

/** Undefined for a path with *, + or ?, which is more than a list of triples. */
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

/** SPARQL 1.1 §9.1: any property except these, in the directions of the named ones; forwards if none is named. */
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

/** Counting stops here: `(<p>?|<q>?)/…` doubles the ways with each step. */
export const MOST_WAYS = 1000

/**
 * The number of ways without a step from a term to itself (SPARQL 1.1 §18.4, in a graph without triples). MOST_WAYS + 1
 * stands for all larger numbers.
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
