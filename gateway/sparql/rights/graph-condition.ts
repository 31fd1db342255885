// An agent's rights on graphs as a condition of SPARQL, which a store can evaluate for every graph: the condition
// says of each what `GraphRights` says (design 4). It grows with the rules and not with the graphs. Pure.
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
 * Where the name of a graph must not stand in its own GRAPH: in a store that does not look in itself, and in OPTIONAL.
 * Jena puts the values of the variables around OPTIONAL into what is in it, and fails where that gives the name of the
 * graph a value of its own: where the name stands in its GRAPH too, and, within EXISTS, beside constants.
 */
export interface TestPlace {
  readonly fresh: () => Variable
  readonly isInExists: boolean
}

/** `unknown`: any of those that the rights have. */
export type KnownGround = Ground | 'unknown'

/** Which graphs a pattern may match. */
export interface GraphPredicate {
  /** The decision by the name of the graph alone. */
  byName(graph: string): boolean | 'depends'
  /** True for those graphs; undefined where it is true of every graph. */
  test(graph: Variable, place?: TestPlace): Expression | undefined
  /**
   * True while a graph of which `byName` says that it depends has what its right rests on; undefined where nothing has
   * to be tested.
   */
  holds(graph: Iri, ground: KnownGround): Expression | undefined
  /** It is true of no graph. */
  readonly isNothing: boolean
}

/** @param nothing the name of no graph @param anywhere the place of conditions that have no other */
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

/** Only these graphs, whatever else there is. */
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

/** `isDocumentName`. */
export function isDocument({ reach: { base, below } }: GraphRights, graph: Variable): Expression {
  const slash = operation('strends', operation('str', graph), textTerm('/'))
  return allOf([begins(graph, base), slash, ...below.map((other) => not(begins(graph, other)))])
}

/** The condition on a graph of any name: `mayTouch`. */
function ofAny(rights: GraphRights, graph: Variable, nothing: string, place: TestPlace | undefined): Expression {
  const { graphs } = rights
  const found = alternatives(rights, graph, place)
  if (graphs.length === 0) return found.length > 0 ? anyOf(found) : isOneOf(graph, [nothing], place)
  const isNamed = isOneOf(graph, graphs, place)
  return found.length > 0 ? either(isNamed, anyOf(found)) : isNamed
}

/** True where they are true of no graph. */
const hasNothing = (rights: GraphRights): boolean => isByNames(rights) && rights.graphs.length === 0

/** True where they are true of listed graphs only. */
export const isByNames = (rights: GraphRights): boolean =>
  !(rights.everything || rights.documents || rights.others || rights.items || rights.containers) &&
  rights.owner === undefined &&
  [rights.prefixes, rights.otherPrefixes, rights.classes].every(({ length }) => length === 0)

/** But for the names. */
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
  // Jena tests the parts of && one by one, the names as early as it can: on more rows than it has at last.
  if (state.length > 0) found.push(operation('if', anyOf(state), document, FALSE))
  return found
}

/** A graph's name may be computed, and stores have names for unions. */
const notOfStores = (graph: Variable, isMet: (start: string) => boolean = () => true): Expression[] => [
  ...OF_STORES.filter(isMet).map((start) => not(begins(graph, start))),
  ...[MERGED_GRAPHS].filter(isMet).map((name) => operation('!=', graph, iriTerm(name))),
]

/** The condition on a constant whose name says that it depends. */
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

/** The graph has this statement about itself. */
function says(graph: Iri | Variable, property: string, value: string, place?: TestPlace): Expression {
  const subject = place ? place.fresh() : graph
  const said = triples({ subject, predicate: iriTerm(property), object: iriTerm(value) })
  const isItself = operation('=', operation('str', subject), operation('str', graph))
  return exists({ kind: 'graph', name: graph, patterns: [said] }, ...(place ? [filter(isItself)] : []))
}

/** The statements that the graph needs about itself: its types and owners. */
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
