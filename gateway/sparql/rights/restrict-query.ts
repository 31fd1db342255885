// Answers a query over the dataset that an agent may read: returns the query to send instead, restricted in the
// cheapest exact way, or why there is none (design 4). Pure.
import type { GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { MERGED_GRAPHS, isNameOfStores } from '../../../policies/authorizations/reach.js'
import { type Problem, isFailure } from '../../problem.js'
import { RDFS } from '../../rdf/vocabulary.js'
import type { GraphSet } from '../language/graph-sets.js'
import { queryText } from '../language/print.js'
import {
  type Dataset,
  type Expression,
  type GraphPattern,
  type Iri,
  type Query,
  type Restrictable,
  type Triple,
  type Variable,
  filter,
  iriTerm,
  isPath,
  variable,
} from '../language/syntax.js'
import {
  contentsOf,
  freshNames,
  hasAlternatives,
  hasOptional,
  mayLackName,
  mayRepeat,
  mentions,
} from '../language/variables.js'
import { computesInPatterns } from './computed-values.js'
import { restrictConstant } from './constant-graph.js'
import { asItIs, bagOf, empty, mergeOf, unionOf } from './default-graph.js'
import { constructOf } from './describe.js'
import { type GraphPredicate, graphPredicate, isByNames, listedGraphs } from './graph-condition.js'
import { usesName } from './graph-name.js'
import { hasEachOnce, hasExists, hasGraph, withoutRepeats } from './group-properties.js'
import { withHead, withoutHead } from './head.js'
import { deferredIn } from './jena-hash-joins.js'
import { startBefore } from './jena-predicates.js'
import { filtersDeep, runsDeep } from './recursive-paths.js'
import { REFUSALS, UNREAD } from './refusals.js'
import { startOf } from './restrict-triples.js'
import { restrictModifiers, restrictPatterns, restrictSelect } from './restrict.js'
import {
  type Grounds,
  RefusedQuery,
  type Restriction,
  type View,
  hasOwnGroup,
  isOxigraph,
  lengthOf,
  makeCount,
  once,
  startWork,
  unusedIn,
} from './restriction.js'
import { mayMeetTerm } from './triple-terms.js'
import { hasService, unboundedIn } from './unbounded-expressions.js'

const readsMore = (
  { body, dataset }: Query,
  { looksInItself, isJena }: Pick<View, 'looksInItself' | 'isJena'>,
): boolean =>
  readsIndexes(body) || (isJena && countsMembers(body)) || (!looksInItself && hasPath(body, dataset !== undefined))

// Property functions whose names look like ordinary properties (tree.ts): they may read an index over all graphs.
const INDEXES =
  /^(?:http:\/\/www\.opengis\.net\/ont\/geosparql#(?:sf|eh|rcc8)|http:\/\/www\.openrdf\.org\/contrib\/lucenesail#|http:\/\/franz\.com\/ns\/|http:\/\/www\.openlinksw\.com\/|http:\/\/marklogic\.com\/|http:\/\/qlever\.)/i

/** True if a predicate may be such a function. */
function readsIndexes(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, value } = part as { kind?: string; value?: unknown }
  if (kind === 'iri') return INDEXES.test(value as string)
  for (const key in part) if (readsIndexes(part[key as keyof typeof part])) return true
  return false
}

/**
 * True if rdfs:member is a predicate. Jena treats it as a function that returns a member once for each triple in any
 * graph, and that fails on some numbers.
 */
function countsMembers(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  if (kind === 'triples') {
    return (part as { readonly triples: readonly Triple[] }).triples.some(({ predicate }) =>
      usesName(predicate, MEMBER),
    )
  }
  return Object.values(part).some(countsMembers)
}

const MEMBER = iriTerm(RDFS('member'))

/**
 * True if a path with *, +, ? or ! is in a GRAPH. In RDF4J, a path without steps then leads from the terms of all
 * graphs, and ! reads all graphs.
 */
function hasPath(part: unknown, isInGraph: boolean): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  if (kind === 'triples') return isInGraph && (part as { readonly triples: readonly Triple[] }).triples.some(looksOut)
  return Object.values(part as Record<string, GraphPattern>).some((each) =>
    hasPath(each, isInGraph || kind === 'graph'),
  )
}

const looksOut = ({ predicate }: Triple): boolean =>
  isPath(predicate) && /"operator":"[*+?!]"/.test(JSON.stringify(predicate))

/**
 * A shortcut for queries that have only FILTERs and GRAPHs with constant names: the result is that of `restrictBody`.
 * Undefined for other queries.
 */
function restrictOnlyConstants(work: Restriction, body: Restrictable): Restrictable | undefined {
  const { looksInItself, addsFrom } = work.view
  const isOnly = looksInItself && !addsFrom && body.where.every(isOnlyConstants)
  if (!isOnly || !isFit(body.where) || computesOfGraphs(body)) return undefined
  const restricted = withoutRepeats(body.where).flatMap((each) =>
    each.kind === 'graph' ? restrictConstant(work, each.name as Iri, each.patterns) : [each],
  )
  return { ...body, where: restricted }
}

function isOnlyConstants(pattern: GraphPattern): boolean {
  if (pattern.kind !== 'graph') return isPlainFilter(pattern)
  const [first, ...others] = pattern.patterns
  return pattern.name.kind === 'iri' && first !== undefined && hasEachOnce([first]) && others.every(isPlainFilter)
}

const isPlainFilter = (pattern: GraphPattern): boolean => pattern.kind === 'filter' && !hasExists(pattern.expression)

/** False if Jena would order triples of which jena-predicates.ts has to separate some. */
function isFit(where: readonly GraphPattern[]): boolean {
  const patterns = where.flatMap((each) => (each.kind === 'graph' ? each.patterns : []))
  const all = patterns.flatMap((each) => (each.kind === 'triples' ? each.triples : []))
  return all.length < 2 || all.every(({ predicate }) => predicate.kind === 'iri')
}

function computesOfGraphs(body: Restrictable): boolean {
  const { group, having, order, values } = body.modifiers
  const projected = body.form === 'SELECT' && body.projection !== '*' ? body.projection : []
  const computed: Expression[] = [
    ...[...projected, ...group].map((each) => (each.kind === 'bind' ? each.expression : each)),
    ...having,
    ...order.map(({ expression }) => expression),
  ]
  return values !== undefined || computed.some(hasExists)
}

/** Jena's names for this merge and for the store's default graph, also in FROM. */
export const NAMES_OF_JENA = { union: 'urn:x-arq:UnionGraph', default: 'urn:x-arq:DefaultGraph' } as const

/** How a store behaves, according to probes (stores/traits.ts). */
export interface StoreTraits {
  /**
   * Its default graph: its own; the union of its named graphs; or this union with each triple as often as graphs have
   * it. `unclear`: one of the latter two.
   */
  readonly defaultGraph: 'own' | 'union' | 'bag' | 'unclear'
  /** True if `<x> <p>* ?y` leads from <x> to itself even if no triple has <x>. */
  readonly stays: boolean
  /** See `View.asQuads`. */
  readonly asQuads: boolean
  /** `View.asQuads` for a dataset of FROM or FROM NAMED. */
  readonly asQuadsOfFrom: boolean
  /** See `View.showsName`. */
  readonly showsName: boolean
  /** See `View.listsGraphs`. */
  readonly listsGraphs: boolean
  /** See `View.looksInItself`. */
  readonly looksInItself: boolean
  /** True if the store honours FROM and FROM NAMED. */
  readonly honoursFrom: boolean
  /** It is Jena: FROM lists a set of graphs, and may have `NAMES_OF_JENA`. */
  readonly isJena: boolean
  /** False while the store has no named graphs: its kind of default graph may still change. */
  readonly isSettled: boolean
}

export interface Sight {
  readonly rights: GraphRights
  readonly store: StoreTraits
  /** The readable graphs among those whose names alone do not decide. */
  readonly grounds: Grounds
  /** A name that no graph has. */
  readonly nothing: string
  /** The dataset of the query lists all readable graphs (readable-graph-list.ts). */
  readonly isListed?: boolean
  /** See `Later.expressions`. */
  readonly later?: ReadonlySet<Expression>
}

export interface Overviewed {
  readonly text: string
  readonly readSet: GraphSet
  /** `constants`: the query names each graph that it reads; `predicate`: it reads all graphs that meet a condition. */
  readonly strategy: 'constants' | 'predicate'
}

/** @param asked the client's query, if `query` is a rewritten one */
export function overView(query: Query, sight: Sight, asked: Query['body'] = query.body): Overviewed | Problem {
  if (!sight.rights.everything && readsMore(query, sight.store)) return UNREAD
  const name = freshNames([query.body])
  const fresh = () => variable(name())
  try {
    const seen = datasetOver(query, sight, fresh)
    if (isFailure(seen)) return seen
    const { view, dataset, guard, reads } = seen
    const body = query.body.form === 'DESCRIBE' ? constructOf(query.body, fresh) : query.body
    const mayMislead = !isOxigraph(sight.store)
    const contents = once(() => contentsOf(body))
    const work = startWork({
      view,
      body,
      mentions: () => mentions(withoutHead(body)),
      given: () => new Set(contents().values.flatMap(({ variables }) => variables.map(({ value }) => value))),
      repeats: () => mayMislead && contents().values.some(mayRepeat),
      fresh,
      isolates: () => mayMislead && mayMeetTerm(body),
      before: () => (mayMislead && contents().hasPredicates ? startBefore(body, contents().values) : undefined),
      groups: () =>
        mayMislead &&
        (mayLackName(body) ||
          computesInPatterns(body) ||
          runsDeep(body) ||
          // Jena drops an OPTIONAL whose FILTER mentions a variable that an outer FILTER limits to a list of values.
          (isByNames(sight.rights) && hasOptional(body))),
    })
    const restricted = guarded(work, restrictOnlyConstants(work, body) ?? restrictBody(work, body), guard)
    if (work.isTested && hasService(body)) throw new RefusedQuery('service')
    const unbounded = work.isTested && unboundedIn(body, sight.later)
    if (unbounded) throw new RefusedQuery(unbounded)
    if (work.isTested && view.isJena && filtersDeep(body)) throw new RefusedQuery('closure')
    const sent = sight.store.isJena ? deferredIn(restricted, unusedIn(work)) : restricted
    const text = queryText({ base: query.base, dataset, body: withHead(sent, asked, sight.store) })
    const isWhole = reads === undefined && work.readsDataset
    const readSet = isWhole ? 'dataset' : [...new Set([...work.graphs, ...(reads ?? [])])].sort()
    return { text, readSet, strategy: isWhole ? 'predicate' : 'constants' }
  } catch (error) {
    if (error instanceof RefusedQuery) return REFUSALS[error.reason]
    throw error
  }
}

function restrictBody(work: Restriction, body: Restrictable): Restrictable {
  if (body.form === 'SELECT') return restrictSelect(work, body)
  return {
    ...body,
    where: restrictPatterns(work, body.where, startOf(body.modifiers)),
    modifiers: restrictModifiers(work, body.modifiers),
  }
}

/**
 * Adds the condition that the graphs of FROM are still readable when the store answers: beside alternatives, in a
 * separate group.
 */
function guarded(work: Restriction, body: Restrictable, guard: readonly Expression[]): Restrictable {
  if (guard.length === 0) return body
  const conditions = guard.map(filter)
  const isApart = hasOwnGroup(work) || body.where.some(hasAlternatives)
  return {
    ...body,
    where: isApart ? [{ kind: 'group', patterns: conditions }, ...body.where] : [...body.where, ...conditions],
  }
}

interface Seen {
  readonly view: View
  /** The dataset to send. */
  readonly dataset: Dataset | undefined
  readonly guard: readonly Expression[]
  /** All graphs that can be read; undefined: those in the patterns. */
  readonly reads: readonly string[] | undefined
}

function datasetOver(
  { dataset: stated, body }: Query,
  { rights, store, grounds, nothing, isListed = false }: Sight,
  fresh: () => Variable,
): Seen | Problem {
  const add = makeCount()
  const { asQuads, showsName, listsGraphs, looksInItself, isJena } = store
  const anywhere = looksInItself ? undefined : { fresh, isInExists: false }
  const readable = counted(graphPredicate(rights, nothing, anywhere), add)
  const view = (defaultGraph: View['defaultGraph'], named: GraphPredicate): View => ({
    ...{ defaultGraph, named, grounds, nothing, add, asQuads, showsName, listsGraphs, looksInItself, isJena },
    addsFrom: isListed,
  })
  const none = empty(store.stays)
  if (!stated) {
    const own = rights.everything || rights.defaultGraph ? asItIs : none
    const union = { union: unionOf, bag: bagOf, unclear: mergeOf, own: mergeOf }[store.defaultGraph](readable)
    // Design 4: the default graph of a store that dataspaces share belongs to none of them.
    const shared = readable.isNothing ? none : mergeOf(readable)
    const ofOwn = rights.reach.alone ? own : shared
    const defaultGraph = store.defaultGraph === 'own' ? ofOwn : readable.isNothing ? none : union
    return { view: view(defaultGraph, readable), dataset: undefined, guard: [], reads: undefined }
  }
  const isSeen = (graph: string): boolean => {
    const known = readable.byName(graph)
    return known === 'depends' ? grounds.has(graph) : known
  }
  const named = stated.named.filter(isSeen)
  // Solid's draft §7.4: all named graphs stay, unless FROM NAMED lists some.
  const hasAllNamed = stated.named.length === 0 && hasGraph(body)
  if (stated.default.includes(MERGED_GRAPHS) && rights.everything && store.isJena && !hasAllNamed) {
    const dataset = { default: [NAMES_OF_JENA.union], named }
    const asStated = { ...readable, test: () => undefined }
    const sent = { ...view(asItIs, asStated), asQuads: store.asQuadsOfFrom, addsFrom: true }
    return { view: sent, dataset, guard: [], reads: undefined }
  }
  if (stated.default.includes(MERGED_GRAPHS)) {
    const merged = store.defaultGraph === 'union' ? unionOf(readable) : mergeOf(readable)
    const listed = hasAllNamed ? readable : both(counted(listedGraphs(named, nothing), add), readable)
    return { view: view(readable.isNothing ? none : merged, listed), dataset: undefined, guard: [], reads: undefined }
  }
  if (!store.honoursFrom) return REFUSALS.from
  const isNamedByStores = [...stated.default, ...stated.named].some(
    (graph) => isNameOfStores(graph) && graph !== MERGED_GRAPHS,
  )
  if (!rights.everything && !isListed && isNamedByStores) return REFUSALS['store-name']
  const graphs = isListed ? stated.default : stated.default.filter(isSeen)
  const reads = [...new Set([...graphs, ...named])]
  const depending = reads.filter((graph) => readable.byName(graph) === 'depends')
  const guard = depending.flatMap((graph) => readable.holds(iriTerm(graph), grounds.get(graph)!) ?? [])
  const listed = counted(listedGraphs(named, nothing), add)
  const added = depending.filter((graph) => !named.includes(graph))
  // Some stores add their own default graph to a dataset without FROM.
  const dataset = { default: graphs.length > 0 ? graphs : [nothing], named: [...named, ...added] }
  const range = added.length > 0 ? listed : { ...listed, test: () => undefined }
  return { view: { ...view(asItIs, range), asQuads: store.asQuadsOfFrom }, dataset, guard, reads }
}

/** Each pattern gets a condition: many rules times many patterns make the query too long. */
function counted(graphs: GraphPredicate, add: View['add']): GraphPredicate {
  // Conditions on variables differ only in the names of the variables.
  let onVariable: number | undefined
  return {
    ...graphs,
    test: (graph, place) => {
      const test = graphs.test(graph, place)
      if (test) add((onVariable ??= lengthOf(test)))
      return test
    },
    holds: (graph, ground) => {
      const test = graphs.holds(graph, ground)
      if (test) add(lengthOf(test))
      return test
    },
  }
}

/** Graphs that meet both conditions. */
const both = (listed: GraphPredicate, readable: GraphPredicate): GraphPredicate => ({
  byName: (graph) => listed.byName(graph) && readable.byName(graph),
  test: listed.test,
  holds: readable.holds,
  isNothing: listed.isNothing || readable.isNothing,
})
