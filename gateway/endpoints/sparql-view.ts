// In charge of what an agent's query is answered over: the graphs that the agent may read, and no others (design 4). Read on the
// endpoint lets the agent in.
import { createHash } from 'node:crypto'
import { mayTouch, type GraphRights } from '../../policies/authorizations/graph-rights.js'
import type { ByteCache, KnownView } from '../caches.js'
import { readFacts } from '../documents/document.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Context } from '../request/context.js'
import { rightsOnGraphs } from '../request/graphs.js'
import type { QueryAnalysis } from '../sparql/analysis.js'
import { graphsQuery } from '../sparql/view/listing.js'
import { overCopy } from '../sparql/view/copy.js'
import {
  CLOSURE,
  dependsOn,
  MERGED_GRAPHS,
  overView,
  UNREAD,
  type Sight,
  type StoreTraits,
} from '../sparql/view/over-view.js'
import { select } from '../stores/select.js'
import { NOTHING } from '../stores/traits.js'

/** The query to be sent for the agent: as it is where nothing is hidden from the agent. */
export async function queryOfView(context: Context, query: QueryAnalysis): Promise<QueryAnalysis | Problem> {
  const rights = rightsOnGraphs(context, 'Read')
  if (isFailure(rights)) return rights
  const { application, gateway, trace } = context
  if (rights.everything && !query.from.default.includes(MERGED_GRAPHS)) return query
  if (!query.tree || (!rights.everything && (query.functions.length > 0 || query.reads.magic))) return UNREAD
  const { traits } = application
  const store = traits.known() ?? (await trace.store(traits.current()))
  if (isFailure(store)) return store
  const known = knownView(gateway.caches.views, { base: application.base, rights, store, query })
  const { depending } = known
  const readable = depending.length > 0 ? await readableOf(context, depending, rights) : NONE
  if (isFailure(readable)) return readable
  const mayRead = (graph: string): boolean => readable.has(graph)
  const variant = [...readable].join(' ')
  let restricted = known.queries.get(variant)
  if (!restricted) {
    restricted = restrictedTo(query, { rights, store, nothing: NOTHING, mayRead })
    if (known.queries.size >= REMEMBERED) known.queries.clear()
    known.queries.set(variant, restricted)
  }
  trace.view = isFailure(restricted) ? 'refused' : restricted.readSet === 'dataset' ? 'predicate' : 'constants'
  return restricted === CLOSURE ? overList(context, query, rights, store) : restricted
}

const NONE: ReadonlySet<string> = new Set()

interface Viewing {
  readonly base: string
  readonly rights: GraphRights
  readonly store: StoreTraits
  readonly query: QueryAnalysis
}

function knownView(views: ByteCache<KnownView>, { base, rights, store, query }: Viewing): KnownView {
  const key = `${base} ${rights.fingerprint} ${JSON.stringify(store)} ${query.key}`
  const before = views.get(key)
  if (before) return before
  const view = { depending: dependsOn(query.tree!, rights), queries: new Map(), length: query.text.length }
  views.set(key, view)
  return view
}

/** The same, over a copy of what the agent may read where no other way is exact. */
export async function answerable(context: Context, query: QueryAnalysis): Promise<QueryAnalysis | Problem> {
  const seen = await queryOfView(context, query)
  const store = context.application.traits.known()
  const rights = rightsOnGraphs(context, 'Read')
  if (seen !== CLOSURE || !store || isFailure(rights)) return seen
  const found = overCopy(query.tree!, { rights, store, nothing: NOTHING, mayRead: () => false })
  if (!found) return CLOSURE
  context.trace.view = 'copy'
  const { plan, text } = found
  return { ...query, text, copy: plan, readSet: 'dataset', key: keyOf(rights, plan.collect + text), isAgeless: true }
}

/** Agents with the same rights share results, others never do. */
const keyOf = ({ fingerprint }: GraphRights, text: string): string =>
  `${fingerprint} ${createHash('sha256').update(text).digest('base64url')}`

/** Above that, a store takes long for a dataset of named graphs. */
const MOST_LISTED = 100
const LIST_BYTES = 1024 * 1024

/** The query over the graphs by their names, where they are few. */
async function overList(
  { application, trace }: Context,
  query: QueryAnalysis,
  rights: GraphRights,
  store: StoreTraits,
): Promise<QueryAnalysis | Problem> {
  if (query.tree!.dataset) return CLOSURE
  const text = graphsQuery(rights, NOTHING, MOST_LISTED + 1)
  const rows = await trace.store(select(application.store, text, ['graph'], { maxBytes: LIST_BYTES }))
  if (isFailure(rows)) return rows
  if (rows.length > MOST_LISTED) return CLOSURE
  const graphs = rows.flatMap(([graph]) => (graph?.termType === 'NamedNode' ? [graph.value] : [])).sort()
  const tree = { ...query.tree!, dataset: { default: graphs, named: graphs } }
  const listed = new Set(graphs)
  const sight = { rights, store, nothing: NOTHING, mayRead: (graph: string) => listed.has(graph) }
  const found = restrictedTo({ ...query, tree }, sight)
  if (isFailure(found)) return found
  trace.view = 'list'
  // Another graph may be one of them later.
  return { ...found, readSet: 'dataset', isAgeless: true }
}

/** So many states of the graphs that a query names. */
const REMEMBERED = 8

function restrictedTo(query: QueryAnalysis, sight: Sight): QueryAnalysis | Problem {
  const found = overView(query.tree!, sight)
  if (isFailure(found)) return found
  const { text, readSet } = found
  return {
    ...query,
    text,
    readSet,
    key: keyOf(sight.rights, text),
    ...(readSet === 'dataset' && !sight.rights.everything && { isAgeless: true }),
  }
}

const MOST_DEPENDING = 256

/** Those of these graphs that exist and that the agent may read, by what they say of themselves. */
async function readableOf(
  { application, trace }: Context,
  graphs: readonly string[],
  rights: GraphRights,
): Promise<ReadonlySet<string> | Problem> {
  if (graphs.length > MOST_DEPENDING) return TOO_MANY
  const facts = await Promise.all(graphs.map(async (graph) => readFacts(application, graph, trace)))
  const failed = facts.find((found) => isFailure(found))
  if (failed) return failed as Problem
  return new Set(
    graphs.filter((_, i) => {
      const found = facts[i]!
      return !isFailure(found) && found.value !== undefined && mayTouch(rights, found.value)
    }),
  )
}

const TOO_MANY = problem(
  'access.graphs',
  `The query names more than ${MOST_DEPENDING} graphs whose rights depend on their content. Name fewer, or write GRAPH ?g { }.`,
)
