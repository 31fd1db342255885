// Restricting triples where they stand: in a GRAPH, or in none (design 4). Pure.
import { withoutBlanks } from './default-graph.js'
import { branched } from './jena-hash-joins.js'
import { isPath, triples, type Modifiers, type GraphPattern, type Triple, type Variable } from '../language/syntax.js'
import { isPlainTriple, mayMeetTerm } from './triple-terms.js'
import { unfitIn } from './jena-predicates.js'
import { RefusedQuery, tested, unusedIn, type Restriction } from './restriction.js'

/**
 * Where patterns stand: in no GRAPH, where nothing is known before them, or after others, or in EXISTS; in a GRAPH that
 * is restricted as a whole; in one whose every triple is restricted.
 */
export type TriplePlace = 'first' | 'later' | 'exists' | 'graph' | Variable

export const isInGraph = (place: TriplePlace): place is 'graph' | Variable =>
  place === 'graph' || typeof place === 'object'

/** Stores may join VALUES behind a query first. */
export const startOf = ({ values }: Modifiers, place: TriplePlace = 'first'): TriplePlace =>
  values && place === 'first' ? 'later' : place

/**
 * Those that Jena would fail on beside others stand apart, each as the branch of a UNION: it orders no triples of these
 * with others.
 */
export function restrictTriples(
  work: Restriction,
  all: readonly Triple[],
  place: TriplePlace,
): readonly GraphPattern[] {
  const { first, others } = inParts(work, all)
  return [
    ...(first.length > 0 || others.length === 0 ? restrictTogether(work, first, place) : []),
    ...others.flatMap(({ triples, isUnfit }) => {
      const restricted = restrictTogether(work, triples, place)
      return isUnfit ? [branched({ kind: 'group', patterns: restricted }, unusedIn(work))] : restricted
    }),
  ]
}

function restrictTogether(work: Restriction, all: readonly Triple[], place: TriplePlace): readonly GraphPattern[] {
  if (place === 'graph' || all.length === 0) return [triples(...all)]
  return isInGraph(place) ? inGraph(work, place, [triples(...all)]) : work.view.defaultGraph(all, work, false)
}

/** Triples that Jena orders, or one by itself, since it would fail on its predicate beside others. */
interface Part {
  readonly triples: Triple[]
  readonly isUnfit: boolean
}

/**
 * The triples that Jena orders first, if there are any, and the others. What is before a path stays there: Jena may
 * give its values to the path.
 */
export function inParts(
  work: Restriction,
  all: readonly Triple[],
): { readonly first: readonly Triple[]; readonly others: readonly Part[] } {
  const before = work.before()
  const unfit = new Set(before && work.areOrdered ? unfitIn(all, before) : [])
  if (unfit.size === 0) return { first: all, others: [] }
  const hasPath = all.some(({ predicate }) => isPath(predicate))
  const first: Part = { triples: [], isUnfit: false }
  const parts = [first]
  for (const each of hasPath ? all : [...all.filter((each) => !unfit.has(each)), ...unfit]) {
    const isUnfit = unfit.has(each)
    if (isUnfit || parts.at(-1)!.isUnfit) parts.push({ triples: [], isUnfit })
    // A blank node stands in one basic graph pattern only (SPARQL 1.1 §5.1.1).
    parts.at(-1)!.triples.push(withoutBlanks(each, work))
  }
  return { first: first.triples, others: parts.slice(1) }
}

/** True where the store could fail on what stands in GRAPH, for a value from before a part of it. */
export const mayFailOnTerm = (work: Restriction, patterns: readonly GraphPattern[]): boolean =>
  work.isolates() && mayMeetTerm(patterns)

/** Patterns of which each solution has the name of its graph, even where ?g of `GRAPH ?g` is not in scope. */
export function inGraph(work: Restriction, name: Variable, patterns: readonly GraphPattern[]): readonly GraphPattern[] {
  work.showsFresh = true
  if (!patterns.every(isPlainTriple) && mayFailOnTerm(work, patterns)) throw new RefusedQuery('pattern')
  return tested(work, { kind: 'graph', name, patterns }, work.view.named.test(name, work.place))
}
