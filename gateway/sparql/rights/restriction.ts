// The state of one restriction: the view that it is for, and what is known where it stands. Pure.
import { asSet, type Unused } from './jena-hash-joins.js'
import { hasEachOnce } from './group-properties.js'
import type { GraphPredicate, KnownGround, TestPlace } from './graph-condition.js'
import { filter, type Expression, type GraphPattern, type Triple, type Variable } from '../language/syntax.js'
import type { Before } from './jena-predicates.js'

/** So many characters of conditions and values are added to a query: it is too large for the rules of its agent. */
const MOST_ADDED = 8 * 1024 * 1024

/** About as long as the text of a part. */
export const lengthOf = (part: object): number => JSON.stringify(part).length

/** Counts what is added to one query. */
export function makeCount(): View['add'] {
  let count = 0
  return (characters) => {
    count += characters
    if (count > MOST_ADDED) throw new RefusedQuery('too-large')
  }
}

/** Why graphs may be read, by their names. */
export type Grounds = ReadonlyMap<string, KnownGround>

export interface View {
  /** Counts what restricting adds to the query, before it is made where it may be much. */
  readonly add: (characters: number) => void
  /** Restricts triples that stand in no GRAPH. `isFirst`: nothing before them gives values to their variables. */
  readonly defaultGraph: (triples: readonly Triple[], work: Restriction, isFirst: boolean) => readonly GraphPattern[]
  /** For GRAPH. */
  readonly named: GraphPredicate
  /** The graphs that may be read, of those for which `named.byName` says that it depends. */
  readonly grounds: Grounds
  /** The name of no graph. */
  readonly nothing: string
  /**
   * True where the store evaluates `GRAPH ?g` by putting ?g into each triple in it, as TDB2 and Oxigraph do: then a
   * part of it in which ?g is not in scope, such as a sub-query, matches any graph.
   */
  readonly asQuads: boolean
  /**
   * Of such a store, true where ?g has its value in all that stands in `GRAPH ?g`, but for sub-queries that do not
   * select it, as in Oxigraph. In TDB2, patterns that do not mention ?g are matched in its graph. In patterns that
   * mention ?g, the graph has another variable, and both are compared at the end, and `SELECT *` selects ?g.
   */
  readonly showsName: boolean
  /**
   * True where an empty group among others in `GRAPH ?g` matches each graph, as SPARQL 1.1 §18.2.2 says: with TDB2 only
   * one alone does.
   */
  readonly listsGraphs: boolean
  /**
   * True where `GRAPH ?g { ?g ?p ?o }` looks into the graph ?g alone where ?g has a value before. RDF4J looks into
   * every graph then.
   */
  readonly looksInItself: boolean
  readonly isJena: boolean
  /**
   * True where the store gets a FROM that is not the author's. Jena takes such a query apart and, of the conditions of
   * a HAVING, keeps one.
   */
  readonly addsFrom: boolean
}

/** It alone does both. It is free of Jena's defects, which the restriction works around. */
export const isOxigraph = ({ showsName, listsGraphs }: Pick<View, 'showsName' | 'listsGraphs'>): boolean =>
  showsName && listsGraphs

/** The part of an expression that has no small bound (unbounded-expressions.ts). */
export type Unbounded = 'regex' | 'sum' | 'duration' | 'long-text'

/** The reason why a query cannot be restricted: nothing of it depends on what the dataset has. */
export type Unanswerable =
  'closure' | 'store-name' | 'no-variables' | 'counted' | 'too-large' | 'pattern' | Unbounded | 'computed' | 'service'

/** Thrown by the functions that restrict. */
export class RefusedQuery extends Error {
  constructor(readonly reason: Unanswerable) {
    super(reason)
  }
}

/** One restriction of one text. */
export interface Restriction {
  readonly view: View
  /** How often the query mentions each variable, but for its FILTERs. */
  readonly mentions: () => ReadonlyMap<string, number>
  /** The variables of the FILTERs of the groups around, the innermost last. */
  readonly filtered: ReadonlySet<string>[]
  /** The variables of all VALUES. */
  readonly given: () => ReadonlySet<string>
  /** VALUES may give a row twice: Jena joins them before a DISTINCT that stands first. */
  readonly repeats: () => boolean
  /** A variable that nothing has. */
  readonly fresh: () => Variable
  /** The variables that stand for blank nodes. */
  readonly blanks: Map<string, Variable>
  /** The named graphs that are read by name. */
  readonly graphs: Set<string>
  /**
   * What is hidden must not leave a GRAPH: the store may fail on a triple term where another part of the query has it.
   */
  readonly isolates: () => boolean
  /** A condition stands in a group of its own with its GRAPH. */
  readonly groups: () => boolean
  /** The patterns that have been restricted; undefined where the store does not fail on the values that these give. */
  readonly before: () => Before | undefined
  readonly body: unknown
  /** Others may be read too. */
  readsDataset: boolean
  /** The store tests graphs, after it has matched what the agent may not read. */
  isTested: boolean
  /** Variables of ours are in scope. */
  showsFresh: boolean
  /** Jena orders several triples where the restricted part stands. */
  areOrdered: boolean
  /** A pattern of the group has a FILTER of alternatives in it. */
  isBesideAlternatives: boolean
  /** The restricted part stands in OPTIONAL. */
  place: TestPlace | undefined
}

/** Makes it when it is first asked for: most queries need little of it. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** The functions search the query: each is called once. */
export const startWork = (
  given: Pick<
    Restriction,
    'view' | 'body' | 'mentions' | 'given' | 'repeats' | 'fresh' | 'isolates' | 'groups' | 'before'
  >,
): Restriction => ({
  view: given.view,
  body: given.body,
  mentions: once(given.mentions),
  given: once(given.given),
  repeats: once(given.repeats),
  fresh: given.fresh,
  isolates: once(given.isolates),
  groups: once(given.groups),
  before: once(given.before),
  blanks: new Map(),
  graphs: new Set(),
  filtered: [],
  readsDataset: false,
  isTested: false,
  showsFresh: false,
  areOrdered: false,
  isBesideAlternatives: false,
  place: undefined,
})

/**
 * A condition stands in a group of its own with its GRAPH. It meets no name but that of this; in OPTIONAL, Jena would
 * leave the whole of it out beside a FILTER around that lists names; and Jena loses a FILTER beside a UNION that has a
 * FILTER of alternatives in it.
 */
export const hasOwnGroup = ({ isolates, groups, place, isBesideAlternatives, view }: Restriction): boolean =>
  !isOxigraph(view) && (isBesideAlternatives || place !== undefined || isolates() || groups())

/** The pattern with its condition, if it has one. In a group of its own, the store tests it before anything else. */
export function tested(
  work: Restriction,
  pattern: GraphPattern,
  test: Expression | undefined,
): readonly GraphPattern[] {
  if (!test) return [pattern]
  work.isTested = true
  const both = [pattern, filter(test)]
  if (!hasOwnGroup(work)) return both
  return [
    pattern.kind === 'graph' && hasEachOnce(pattern.patterns) ? setIn(work, both) : { kind: 'group', patterns: both },
  ]
}

/**
 * A group of patterns that have each solution once. Where Jena orders triples, it fails on what no predicate can be.
 */
export const setIn = (work: Restriction, patterns: readonly GraphPattern[]): GraphPattern =>
  work.view.isJena && work.place?.isInExists === false && !mayBeOrdered(patterns)
    ? asSet(patterns, unusedIn(work))
    : { kind: 'group', patterns }

/** True where several triples have a variable as predicate. */
const mayBeOrdered = (patterns: readonly GraphPattern[]): boolean =>
  patterns.some((each) => {
    if (each.kind === 'graph') return mayBeOrdered(each.patterns)
    return (
      each.kind === 'triples' &&
      each.triples.length > 1 &&
      each.triples.some(({ predicate }) => predicate.kind === 'variable')
    )
  })

/** Names that nothing has. */
export const unusedIn = ({ view: { nothing, add }, fresh }: Restriction): Unused => ({ nothing, fresh, add })

/** True where a FILTER of a group around mentions the variable. */
export const isFiltered = ({ filtered }: Restriction, { value }: Variable): boolean =>
  filtered.some((names) => names.has(value))

/** A variable that is in scope where it stands. */
export function freshInScope(work: Restriction): Variable {
  work.showsFresh = true
  return work.fresh()
}

/** Does work on what stands in OPTIONAL. */
export function placedPattern<T>(work: Restriction, place: TestPlace | undefined, make: () => T): T {
  const before = work.place
  work.place = place
  const made = make()
  work.place = before
  return made
}

/** Does work on what shows none of its variables outside. */
export function apart<T>(work: Restriction, make: () => T): { readonly made: T; readonly showsFresh: boolean } {
  const before = work.showsFresh
  work.showsFresh = false
  const made = make()
  const { showsFresh } = work
  work.showsFresh = before
  return { made, showsFresh }
}
