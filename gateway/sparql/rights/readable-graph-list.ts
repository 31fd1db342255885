// The graphs that an agent may read, if they are few: the query for their names, and the dataset of them. Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { NAMES_OF_JENA, type Sight, type StoreTraits } from './restrict-query.js'
import { hasTriples } from './group-properties.js'
import { graphPredicate, isDocument, type TestPlace } from './graph-condition.js'
import { expressionWords, isWritable, queryText, printedText } from '../language/print.js'
import {
  allOf,
  filter,
  NO_MODIFIERS,
  triples,
  variable,
  type Dataset,
  type GraphPattern,
  type Query,
  type Select,
} from '../language/syntax.js'

/** The query for `?graph`, with a limit. */
export function graphsQuery({ rights, store, nothing }: Rights, most: number): string {
  const name = variable('graph')
  const test = graphPredicate(rights, nothing, placeIn(store)).test(name)
  // Jena and Oxigraph list the names for an empty pattern; RDF4J does not.
  const any = store.looksInItself
    ? []
    : [triples({ subject: variable('s'), predicate: variable('p'), object: variable('o') })]
  const where: GraphPattern[] = [{ kind: 'graph', name, patterns: any }, ...(test ? [filter(test)] : [])]
  const modifiers = { ...NO_MODIFIERS, limit: most }
  const body: Select = { form: 'SELECT', duplicates: 'DISTINCT', projection: [name], where, modifiers }
  return queryText({ base: undefined, dataset: undefined, body })
}

type Rights = Pick<Sight, 'rights' | 'store' | 'nothing'>

function placeIn({ looksInItself }: Pick<StoreTraits, 'looksInItself'>): TestPlace | undefined {
  let count = 0
  return looksInItself ? undefined : { fresh: () => variable(`other${count++}`), isInExists: false }
}

/** A SPARQL condition: true if the variable names a readable document. */
export function documentCondition({ rights, store, nothing }: Rights, name: string): string {
  const graph = variable(name)
  const isAll = rights.documents || rights.everything
  const test = isAll ? undefined : graphPredicate(rights, nothing, placeIn(store)).test(graph)
  return printedText(['(', expressionWords(allOf([isDocument(rights, graph), ...(test ? [test] : [])])), ')'])
}

/** True if the dataset of a query is everything that its agent may read, or the merge of it. */
export const isOfAll = ({ default: graphs, named }: Dataset): boolean =>
  graphs.includes(MERGED_GRAPHS) || graphs.length + named.length === 0

/**
 * FROM and FROM NAMED that mean the same as no dataset, or as the merge, for an agent who may read these graphs;
 * undefined if FROM cannot express it, or the store would answer differently.
 */
export function datasetOf(
  graphs: readonly string[],
  { body, dataset }: Query,
  { rights, store }: Pick<Sight, 'rights' | 'store'>,
): Dataset | undefined {
  if (!graphs.every(isWritable)) return undefined
  // Jena fails on such a path over several graphs; in EXISTS, the failure counts as false.
  if (store.isJena && graphs.length > 1 && hasAlternativeInExists(body)) return undefined
  // Jena treats a graph of FROM NAMED that does not exist as an empty graph.
  const named = dataset && dataset.named.length > 0 && dataset.named.filter((graph) => graphs.includes(graph))
  if (named) return store.isJena ? { default: graphs, named } : undefined
  if (store.asQuads !== store.asQuadsOfFrom && !isAlikeOverFrom(body)) return undefined
  if (dataset) return store.isJena ? { default: graphs, named: graphs } : undefined
  const isOwn = store.defaultGraph === 'own' && rights.reach.alone
  if ((isOwn && !rights.defaultGraph) || !readsDefault(body)) return { default: [], named: graphs }
  if (isOwn) return store.isJena ? { default: [NAMES_OF_JENA.default], named: graphs } : undefined
  // In other stores, FROM may repeat a triple for each graph that has it.
  return store.isJena || store.defaultGraph === 'bag' ? { default: graphs, named: graphs } : undefined
}

function hasAlternativeInExists(part: unknown, isInExists = false): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, operator } = part as { readonly kind?: string; readonly operator?: string }
  if (isInExists && kind === 'path' && operator === '|') return true
  return Object.values(part).some((each) => hasAlternativeInExists(each, isInExists || kind === 'exists'))
}

/** True if a part has triples outside GRAPH, or is DESCRIBE. */
function readsDefault(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, form } = part as { readonly kind?: string; readonly form?: string }
  if (form === 'DESCRIBE' || (kind === 'triples' && hasTriples(part as GraphPattern))) return true
  return kind !== 'graph' && kind !== 'service' && Object.values(part).some(readsDefault)
}

/**
 * TDB2 evaluates GRAPH triple by triple, but not for a dataset of FROM NAMED. True if both ways give the same answer:
 * each GRAPH begins with a pattern of its graph, and has no group that is evaluated separately.
 */
function isAlikeOverFrom(part: unknown, isInGraph = false): boolean {
  if (typeof part !== 'object' || part === null) return true
  const { kind = '' } = part as { readonly kind?: string }
  if (isInGraph && ['select', 'minus', 'exists'].includes(kind)) return false
  if (kind === 'graph' && !isOfGraph((part as { readonly patterns: readonly GraphPattern[] }).patterns)) return false
  return Object.values(part).every((each) => isAlikeOverFrom(each, isInGraph || kind === 'graph'))
}

/** True if each solution has a triple of a graph. */
const isOfGraph = (patterns: readonly GraphPattern[]): boolean =>
  patterns.some((each) => {
    if (each.kind === 'union') return each.branches.every(isOfGraph)
    return each.kind === 'graph' || (each.kind === 'group' ? isOfGraph(each.patterns) : hasTriples(each))
  })
