// An agent's rights on graphs as a SPARQL condition that a store can evaluate for any graph. It agrees with
// `GraphRights` for each graph (design 4). Its size depends on the rules, not on the graphs. Pure.
import {
  hasOthers,
  isDocumentName,
  isNameOfStores,
  MERGED_GRAPHS,
  OF_STORES,
} from '../../../policies/authorizations/reach.js'
import type { GraphRights, Ground } from '../../../policies/authorizations/graph-rights.js'
import { ACL, DH, RDF } from '../../rdf/vocabulary.js'
import {
  allOf,
  anyOf,
  either,
  exists,
  FALSE,
  filter,
  iriTerm,
  operation,
  textTerm,
  triples,
  type Expression,
  type Iri,
  type Variable,
} from '../language/syntax.js'

/**
 * Use a fresh variable instead of ?g inside GRAPH ?g. Needed for stores that then search other graphs (RDF4J), and for
 * Jena inside OPTIONAL: Jena substitutes the values of outer variables there, and fails if that gives ?g a value; in
 * EXISTS, it fails even next to constants.
 */
export interface TestPlace {
  readonly fresh: () => Variable
  readonly isInExists: boolean
}

/** `unknown`: any of the grounds in the rights. */
export type KnownGround = Ground | 'unknown'

/** A restriction on the graphs that a pattern may match. */
export interface GraphPredicate {
  /** The decision based on the name of the graph alone. */
  byName(graph: string): boolean | 'depends'
  /** True for allowed graphs; undefined if every graph is allowed. */
  test(graph: Variable, place?: TestPlace): Expression | undefined
  /**
   * For a graph whose `byName` is 'depends': true while the graph contains the ground of its right; undefined if
   * nothing needs testing.
   */
  holds(graph: Iri, ground: KnownGround): Expression | undefined
  /** No graph is allowed. */
  readonly isNothing: boolean
}

/** @param nothing a name that no graph has @param anywhere the default place of conditions */
export function graphPredicate(rights: GraphRights, nothing: string, anywhere?: TestPlace): GraphPredicate {
  const { everything, graphs } = rights
  const named = new Set(graphs)
  return {
    byName: (graph) => everything || byName(rights, named, graph),
    test: (graph, place = anywhere) => (everything ? undefined : ofAny(rights, graph, nothing, place)),
    holds: (graph, ground) => ofConstant(rights, graph, ground, anywhere),
    isNothing: hasNothing(rights),
  }
}

/** Allows only these graphs, whatever other graphs exist. */
export function listedGraphs(graphs: readonly string[], nothing: string): GraphPredicate {
  const listed = new Set(graphs)
  return {
    byName: (graph) => listed.has(graph),
    test: (graph, place) => isOneOf(graph, graphs.length > 0 ? graphs : [nothing], place),
    holds: () => undefined,
    isNothing: graphs.length === 0,
  }
}

function byName(rights: GraphRights, named: ReadonlySet<string>, graph: string): boolean | 'depends' {
  const { reach, documents, others, prefixes, otherPrefixes, items, containers, classes, owner } = rights
  if (isNameOfStores(graph)) return false
  const isBelow = (prefix: string): boolean => graph.startsWith(prefix) && graph !== prefix
  if (named.has(graph)) return true
  if (!isDocumentName(reach, graph)) {
    return others || (hasOthers(reach) && (prefixes.some(isBelow) || otherPrefixes.some(isBelow)))
  }
  const isRoot = graph === reach.base
  if (documents || prefixes.some(isBelow) || (items && containers && !isRoot)) return true
  return classes.length > 0 || owner !== undefined || (!isRoot && (items || containers)) ? 'depends' : false
}

const not = (condition: Expression): Expression => operation('!', condition)
const begins = (graph: Variable, start: string): Expression =>
  operation('strstarts', operation('str', graph), textTerm(start))
const isOneOf = (graph: Variable, graphs: readonly string[], place?: TestPlace): Expression =>
  place?.isInExists
    ? { kind: 'operation', operator: 'in', args: [operation('str', graph), ...graphs.map(textTerm)] }
    : { kind: 'operation', operator: 'in', args: [graph, ...graphs.map(iriTerm)] }

/** Like `isDocumentName`. */
export function isDocument({ reach: { base, below } }: GraphRights, graph: Variable): Expression {
  const slash = operation('strends', operation('str', graph), textTerm('/'))
  return allOf([begins(graph, base), slash, ...below.map((other) => not(begins(graph, other)))])
}

/** Like `mayTouch`, for a graph of any name. */
function ofAny(rights: GraphRights, graph: Variable, nothing: string, place: TestPlace | undefined): Expression {
  const { graphs } = rights
  const found = alternatives(rights, graph, place)
  if (graphs.length === 0) return found.length > 0 ? anyOf(found) : isOneOf(graph, [nothing], place)
  const isNamed = isOneOf(graph, graphs, place)
  return found.length > 0 ? either(isNamed, anyOf(found)) : isNamed
}

/** True if the rights allow no graph. */
const hasNothing = (rights: GraphRights): boolean => isByNames(rights) && rights.graphs.length === 0

/** True if the rights allow listed graphs only. */
export const isByNames = (rights: GraphRights): boolean =>
  !(rights.everything || rights.documents || rights.others || rights.items || rights.containers) &&
  rights.owner === undefined &&
  [rights.prefixes, rights.otherPrefixes, rights.classes].every(({ length }) => length === 0)

/** All conditions except the list of names. */
function alternatives(rights: GraphRights, graph: Variable, place?: TestPlace): Expression[] {
  const { reach, documents, others, prefixes, otherPrefixes, items, containers } = rights
  const document = isDocument(rights, graph)
  const isOther = [operation('isiri', graph), not(document)]
  const below = (prefix: string): Expression[] => [
    ...[begins(graph, prefix), operation('!=', graph, iriTerm(prefix))],
    ...notOfStores(graph, (start) => start.startsWith(prefix) || prefix.startsWith(start)),
  ]
  const found: Expression[] = []
  if (documents) found.push(document)
  for (const prefix of prefixes) found.push(allOf(hasOthers(reach) ? below(prefix) : [...below(prefix), document]))
  if (others) found.push(allOf([...isOther, ...notOfStores(graph)]))
  for (const prefix of otherPrefixes) found.push(allOf([...below(prefix), ...isOther]))
  if (items && containers) found.push(allOf([document, operation('!=', graph, iriTerm(reach.base))]))
  const state = stateConditions(rights, graph, items && containers, place)
  // Jena tests the parts of && separately, and names as early as possible: on more rows than remain at the end.
  if (state.length > 0) found.push(operation('if', anyOf(state), document, FALSE))
  return found
}

/** The name of a graph may be computed, and stores have special names for unions. */
const notOfStores = (graph: Variable, isMet: (start: string) => boolean = () => true): Expression[] => [
  ...OF_STORES.filter(isMet).map((start) => not(begins(graph, start))),
  ...[MERGED_GRAPHS].filter(isMet).map((name) => operation('!=', graph, iriTerm(name))),
]

/** The condition on a constant name whose right depends on the graph's content. */
function ofConstant(
  rights: GraphRights,
  graph: Iri,
  ground: KnownGround,
  place: TestPlace | undefined,
): Expression | undefined {
  if (ground === 'name') return undefined
  if (ground === 'no-container') return not(says(graph, TYPE, DH('Container'), place))
  if (ground !== 'unknown') return says(graph, ground.property, ground.value, place)
  const state = stateConditions(rights, graph, false, place)
  return state.length > 0 ? anyOf(state) : undefined
}

/** The graph contains this statement about itself. */
function says(graph: Iri | Variable, property: string, value: string, place?: TestPlace): Expression {
  const subject = place ? place.fresh() : graph
  const said = triples({ subject, predicate: iriTerm(property), object: iriTerm(value) })
  const isItself = operation('=', operation('str', subject), operation('str', graph))
  return exists({ kind: 'graph', name: graph, patterns: [said] }, ...(place ? [filter(isItself)] : []))
}

/** The statements that the graph must contain about itself: types and owners. */
function stateConditions(
  rights: GraphRights,
  graph: Iri | Variable,
  isKindKnown: boolean,
  place?: TestPlace,
): Expression[] {
  const { reach, items, containers, classes, owner } = rights
  const has = (property: string, value: string): Expression => says(graph, property, value, place)
  const isNoRoot = operation('!=', graph, iriTerm(reach.base))
  const found: Expression[] = []
  if (containers && !isKindKnown) found.push(allOf([isNoRoot, has(TYPE, DH('Container'))]))
  if (items && !isKindKnown) {
    found.push(allOf([isNoRoot, anyOf([has(TYPE, DH('Item')), not(has(TYPE, DH('Container')))])]))
  }
  for (const type of classes) found.push(has(TYPE, type))
  if (owner !== undefined) found.push(has(ACL('owner'), owner))
  return found
}
const TYPE = RDF('type')
