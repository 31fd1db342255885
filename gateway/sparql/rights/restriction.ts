// The state of one restriction: its view, and what is known about the current place. Pure.
import { asSet, type Unused } from './jena-hash-joins.js'
import { hasEachOnce } from './group-properties.js'
import type { GraphPredicate, KnownGround, TestPlace } from './graph-condition.js'
import { filter, type Expression, type GraphPattern, type Triple, type Variable } from '../language/syntax.js'
import type { Before } from './jena-predicates.js'

/** The most characters of conditions and values that may be added to a query. */
const MOST_ADDED = 8 * 1024 * 1024

/** The approximate length of a part as text. */
export const lengthOf = (part: object): number => JSON.stringify(part).length

/** Counts the characters that are added to one query. */
export function makeCount(): View['add'] {
  let count = 0
  return (characters) => {
    count += characters
    if (count > MOST_ADDED) throw new RefusedQuery('too-large')
  }
}

/** For each graph, why it may be read. */
export type Grounds = ReadonlyMap<string, KnownGround>

export interface View {
  /** Counts what the restriction adds to the query, before building parts that may be large. */
  readonly add: (characters: number) => void
  /** Restricts triples outside GRAPH. `isFirst`: no earlier pattern binds their variables. */
  readonly defaultGraph: (triples: readonly Triple[], work: Restriction, isFirst: boolean) => readonly GraphPattern[]
  /** The graphs that GRAPH may match. */
  readonly named: GraphPredicate
  /** The readable graphs among those whose `named.byName` is 'depends'. */
  readonly grounds: Grounds
  /** A name that no graph has. */
  readonly nothing: string
  /**
   * True if the store evaluates `GRAPH ?g` by putting ?g into each triple in it, as TDB2 and Oxigraph do. A part
   * without ?g in scope, such as a sub-query, then matches any graph.
   */
  readonly asQuads: boolean
  /**
   * For a store with `asQuads`: true if ?g has its value everywhere in `GRAPH ?g`, except in sub-queries that do not
   * select it (Oxigraph). In TDB2 it has no value there: if patterns mention ?g, TDB2 uses another variable for the
   * graph, compares both at the end, and `SELECT *` selects ?g.
   */
  readonly showsName: boolean
  /**
   * True if an empty group among others in `GRAPH ?g` matches each graph, as SPARQL 1.1 §18.2.2 says. In TDB2 only an
   * empty group by itself does.
   */
  readonly listsGraphs: boolean
  /** True if `GRAPH ?g { ?g ?p ?o }` reads only graph ?g when ?g is already bound. RDF4J reads every graph then. */
  readonly looksInItself: boolean
  readonly isJena: boolean
  /**
   * True if the store gets a FROM that the client did not write. Jena then keeps only one of the conditions of a
   * HAVING.
   */
  readonly addsFrom: boolean
}

/** Only Oxigraph has both traits; it needs no Jena workarounds. */
export const isOxigraph = ({ showsName, listsGraphs }: Pick<View, 'showsName' | 'listsGraphs'>): boolean =>
  showsName && listsGraphs

/** The kind of unbounded expression (unbounded-expressions.ts). */
export type Unbounded = 'regex' | 'sum' | 'duration' | 'long-text'

/** Why a query cannot be restricted. The reason never depends on the data. */
export type Unanswerable =
  'closure' | 'store-name' | 'no-variables' | 'counted' | 'too-large' | 'pattern' | Unbounded | 'computed' | 'service'

/** Thrown when a query cannot be restricted. */
export class RefusedQuery extends Error {
  constructor(readonly reason: Unanswerable) {
    super(reason)
  }
}

/** The state while one query is restricted. */
export interface Restriction {
  readonly view: View
  /** How often the query mentions each variable outside its FILTERs. */
  readonly mentions: () => ReadonlyMap<string, number>
  /** The variables in the FILTERs of the surrounding groups, the innermost last. */
  readonly filtered: ReadonlySet<string>[]
  /** The variables of all VALUES. */
  readonly given: () => ReadonlySet<string>
  /** VALUES may repeat a row: Jena joins them before a DISTINCT that comes first. */
  readonly repeats: () => boolean
  /** A variable that is not used anywhere. */
  readonly fresh: () => Variable
  /** The variables that replace blank nodes. */
  readonly blanks: Map<string, Variable>
  /** The graphs that the query reads by name. */
  readonly graphs: Set<string>
  /** Hidden values must not leave a GRAPH: the store may fail on a triple term in another part of the query. */
  readonly isolates: () => boolean
  /** A condition is in a separate group with its GRAPH. */
  readonly groups: () => boolean
  /** The patterns restricted so far; undefined if the store does not fail on their values. */
  readonly before: () => Before | undefined
  readonly body: unknown
  /** Other graphs may be read too. */
  readsDataset: boolean
  /** The store tests graphs after it has matched hidden data. */
  isTested: boolean
  /** Variables that the restriction added are in scope. */
  showsFresh: boolean
  /** Jena orders several triples at the current place. */
  areOrdered: boolean
  /** A pattern of the group has a FILTER with alternatives. */
  isBesideAlternatives: boolean
  /** The current place is in OPTIONAL. */
  place: TestPlace | undefined
}

/** Computes the value on first use: most queries need few of them. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** These functions search the query, so each is called once. */
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
 * A condition is in a separate group with its GRAPH. It sees only the name of that graph. In OPTIONAL, Jena would
 * otherwise drop the whole OPTIONAL if an outer FILTER lists names. And Jena loses a FILTER beside a UNION that has a
 * FILTER with alternatives.
 */
export const hasOwnGroup = ({ isolates, groups, place, isBesideAlternatives, view }: Restriction): boolean =>
  !isOxigraph(view) && (isBesideAlternatives || place !== undefined || isolates() || groups())

/** The pattern with its condition, if any. In a separate group, the store tests the condition before anything else. */
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
 * A group of patterns without repeated solutions. If Jena orders triples, it fails on values that cannot be predicates.
 */
export const setIn = (work: Restriction, patterns: readonly GraphPattern[]): GraphPattern =>
  work.view.isJena && work.place?.isInExists === false && !mayBeOrdered(patterns)
    ? asSet(patterns, unusedIn(work))
    : { kind: 'group', patterns }

/** True if several triples have a variable as predicate. */
const mayBeOrdered = (patterns: readonly GraphPattern[]): boolean =>
  patterns.some((each) => {
    if (each.kind === 'graph') return mayBeOrdered(each.patterns)
    return (
      each.kind === 'triples' &&
      each.triples.length > 1 &&
      each.triples.some(({ predicate }) => predicate.kind === 'variable')
    )
  })

/** Unused names. */
export const unusedIn = ({ view: { nothing, add }, fresh }: Restriction): Unused => ({ nothing, fresh, add })

/** True if a FILTER of a surrounding group mentions the variable. */
export const isFiltered = ({ filtered }: Restriction, { value }: Variable): boolean =>
  filtered.some((names) => names.has(value))

/** A new variable that `SELECT *` would return, so the original variables have to be listed. */
export function freshInScope(work: Restriction): Variable {
  work.showsFresh = true
  return work.fresh()
}

/** Runs `make` for a pattern in OPTIONAL. */
export function placedPattern<T>(work: Restriction, place: TestPlace | undefined, make: () => T): T {
  const before = work.place
  work.place = place
  const made = make()
  work.place = before
  return made
}

/** Runs `make` for a part whose variables are not visible outside. */
export function apart<T>(work: Restriction, make: () => T): { readonly made: T; readonly showsFresh: boolean } {
  const before = work.showsFresh
  work.showsFresh = false
  const made = make()
  const { showsFresh } = work
  work.showsFresh = before
  return { made, showsFresh }
}
