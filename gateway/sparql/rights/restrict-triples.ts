// Restricts triples depending on their place: in a GRAPH or in none (design 4). Pure.
import { withoutBlanks } from './default-graph.js'
import { branched } from './jena-hash-joins.js'
import { isPath, triples, type Modifiers, type GraphPattern, type Triple, type Variable } from '../language/syntax.js'
import { isPlainTriple, mayMeetTerm } from './triple-terms.js'
import { unfitIn } from './jena-predicates.js'
import { RefusedQuery, tested, unusedIn, type Restriction } from './restriction.js'

/**
 * The place of patterns. In no GRAPH: first in a group, later, or in EXISTS. 'graph': in a GRAPH that is restricted as
 * a whole. A variable: in a GRAPH in which every triple is restricted.
 */
export type TriplePlace = 'first' | 'later' | 'exists' | 'graph' | Variable

export const isInGraph = (place: TriplePlace): place is 'graph' | Variable =>
  place === 'graph' || typeof place === 'object'

/** Stores may join the VALUES at the end of a query first. */
export const startOf = ({ values }: Modifiers, place: TriplePlace = 'first'): TriplePlace =>
  values && place === 'first' ? 'later' : place

/**
 * Separates triples on which Jena would fail if other triples are next to them, each in a branch of a UNION: Jena does
 * not order these together with other triples.
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

/** Triples that Jena orders together, or a single one on whose predicate it would fail. */
interface Part {
  readonly triples: Triple[]
  readonly isUnfit: boolean
}

/**
 * The triples that Jena orders first, if any, and the others. Triples before a path stay before it, since Jena may
 * substitute their values into the path.
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
    // A blank node can occur in only one basic graph pattern (SPARQL 1.1 §5.1.1).
    parts.at(-1)!.triples.push(withoutBlanks(each, work))
  }
  return { first: first.triples, others: parts.slice(1) }
}

/** True if the store could fail on a pattern in GRAPH because of an earlier value. */
export const mayFailOnTerm = (work: Restriction, patterns: readonly GraphPattern[]): boolean =>
  work.isolates() && mayMeetTerm(patterns)

/** Binds the name of the graph in each solution of the patterns, even if the ?g of `GRAPH ?g` is not in scope. */
export function inGraph(work: Restriction, name: Variable, patterns: readonly GraphPattern[]): readonly GraphPattern[] {
  work.showsFresh = true
  if (!patterns.every(isPlainTriple) && mayFailOnTerm(work, patterns)) throw new RefusedQuery('pattern')
  return tested(work, { kind: 'graph', name, patterns }, work.view.named.test(name, work.place))
}
