// Restricts an agent's query to the graphs that the agent may read (design 4). Read on the endpoint only allows the
// agent to use the endpoint.
import { type GraphRights, groundOf } from '../../../policies/authorizations/graph-rights.js'
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { readFacts } from '../../documents/document.js'
import { type Awaitable, type Steps, all, run, wait } from '../../maybe-async.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import { rightsOnGraphs } from '../../request/agent-graph-rights.js'
import { type Context, askerOf } from '../../request/context.js'
import { MOST_ORDERING, OXIGRAPH, tooManyPatterns } from '../../stores/oxigraph-traits.js'
import { select } from '../../stores/select.js'
import type { Call, GraphStore } from '../../stores/store.js'
import { NOTHING } from '../../stores/traits.js'
import type { QueryAnalysis } from '../language/analysis.js'
import { graphsQuery, isOfAll } from '../rights/readable-graph-list.js'
import { UNREAD, mayBeCopied, mayBeListed } from '../rights/refusals.js'
import type { Depending, Readable } from '../rights/restrict-in-thread.js'
import type { StoreTraits } from '../rights/restrict-query.js'
import { type Viewing, dependingAtOnce, restrictedBy, takeStep, viewKeyOf } from './ask-restricted.js'
import { only } from './hide-store-traces.js'

/** For more, a store takes long to build a dataset of named graphs. */
const MOST_LISTED = 100
const LIST_BYTES = 1024 * 1024

/** The query over a list of the graphs by name, if they are few. */
async function overList(
  context: Context,
  viewing: Viewing,
  refused: Problem,
  call: Call | undefined,
): Promise<QueryAnalysis | Problem> {
  const text = graphsQuery({ ...viewing, nothing: NOTHING }, MOST_LISTED + 1)
  const store = call ? context.application.store : cachedStore(context, viewing.rights)
  const rows = await select(store, text, ['graph'], { ...call, maxBytes: LIST_BYTES })
  if (isFailure(rows)) return rows
  if (rows.length > MOST_LISTED) return refused
  const listed = rows.flatMap(([graph]) => (graph?.termType === 'NamedNode' ? [graph.value] : [])).sort()
  const found = restrictedBy(viewing, await takeStep(context, viewing, { readable: undefined, listed }))
  if (isFailure(found)) return found.failure === 'access.graphs' ? refused : found
  if ('depending' in found) return refused
  context.trace.view = 'list'
  // Another graph may join the list later.
  return { ...found, readSet: 'dataset' }
}

/** Answers are cached like results: if the result is cached, so is its list. */
const cachedStore = (context: Context, rights: GraphRights): Pick<GraphStore, 'query'> => ({
  async query(sparql, accept) {
    const { application, request, trace } = context
    const asked = { key: `${accept} ${viewKeyOf(rights, sparql)}`, readSet: 'dataset', formatCode: '' } as const
    const answer = await application.cache.results.get<Problem>(
      { ...asked, signal: request.signal() },
      async (signal) => {
        const pieces = await trace.store(application.store.query(sparql, accept, { signal, asker: askerOf(context) }))
        return isFailure(pieces) ? { failure: pieces } : { pieces }
      },
    )
    if (answer.kind === 'failed') return answer.failure
    return answer.kind === 'stored' ? only(answer.result.bytes) : answer.pieces
  },
})

/** The query to send for the agent; unchanged if nothing is hidden from the agent. */
export function queryOfView(context: Context, query: QueryAnalysis, call?: Call): Awaitable<QueryAnalysis | Problem> {
  const rights = rightsOnGraphs(context, 'Read')
  if (isFailure(rights)) return rights
  if (rights.everything && !query.from.default.includes(MERGED_GRAPHS) && !isDescribed(context, query)) {
    context.trace.view = 'unchanged'
    return query
  }
  const last = lastOf(context, query, rights, context.application.traits.known())
  return last && 'text' in last ? noted(context, last) : run(restrictedTo(context, query, rights, call))
}

/** Oxigraph describes from its default graph only, which has no documents. */
const isDescribed = ({ application }: Context, { form, tree, isLong }: QueryAnalysis): boolean =>
  form === 'DESCRIBE' && (tree !== undefined || isLong === true) && application.traits.known() === OXIGRAPH

function* restrictedTo(
  context: Context,
  query: QueryAnalysis,
  rights: GraphRights,
  call: Call | undefined,
): Steps<QueryAnalysis | Problem> {
  const { application, trace } = context
  const { from } = query
  const isUnread = !query.tree && !query.isLong
  if (isUnread || (!rights.everything && (query.functions.length > 0 || query.reads.magic))) return UNREAD
  const { traits } = application
  const store = traits.known() ?? (yield* wait(trace.store(traits.current())))
  if (isFailure(store)) return store
  const viewing = { query, rights, store }
  const last = lastOf(context, query, rights, store)
  const first = last ?? dependingAtOnce(viewing) ?? (yield* viewed(context, viewing, undefined))
  if (isFailure(first) && first.failure !== 'access.graphs') return first
  if (!last && !isFailure(first)) context.gateway.caches.lastViews.set(query.key, { rights, store, view: first })
  let restricted: QueryAnalysis | Problem
  if ('depending' in first) {
    const readable = yield* readableOf(context, first.depending, rights)
    if (isFailure(readable)) return readable
    const second = yield* viewed(context, viewing, readable)
    if ('depending' in second) throw new Error('A query whose graphs are known depends on them.')
    restricted = second
  } else restricted = first
  noted(context, restricted)
  if (!mayBeListed(restricted) || !isOfAll(from)) return restricted
  return yield* wait(overList(context, viewing, restricted, call))
}

function lastOf({ gateway }: Context, { key }: QueryAnalysis, rights: GraphRights, store: StoreTraits | undefined) {
  const last = gateway.caches.lastViews.get(key)
  return last?.rights === rights && last.store === store ? last.view : undefined
}

function noted({ trace }: Context, seen: QueryAnalysis | Problem): QueryAnalysis | Problem {
  trace.view = isFailure(seen) ? 'refused' : seen.readSet === 'dataset' ? 'predicate' : 'constants'
  return seen
}

/** The restricted query, from the cache if possible. @param readable as in `ViewStep` */
function* viewed(
  context: Context,
  viewing: Viewing,
  readable: readonly Readable[] | undefined,
): Steps<Depending | QueryAnalysis | Problem> {
  const { query, rights, store } = viewing
  const { views } = context.gateway.caches
  const isRemembered = query.text.length <= MOST_REMEMBERED
  const base = `${context.application.base} ${rights.fingerprint} ${JSON.stringify(store)}`
  const key = isRemembered ? `${base} ${readable ? JSON.stringify(readable) : ''} ${query.key}` : ''
  const known = isRemembered ? views.get(key) : undefined
  if (known) return known.view
  const view = restrictedBy(viewing, yield* wait(takeStep(context, viewing, { readable })))
  if ('depending' in view) return view
  const isLasting = !isFailure(view) || view.failure === 'access.graphs'
  if (isRemembered && isLasting) views.set(key, { view, length: isFailure(view) ? 0 : view.text.length })
  return view
}

/** Longer texts are not cached: their keys take long to make (design 7). */
const MOST_REMEMBERED = 256 * 1024

/**
 * The query to send for the agent, as from `queryOfView`, but over a copy of the readable graphs if no other way is
 * exact.
 */
export const answerable = (context: Context, query: QueryAnalysis): Awaitable<QueryAnalysis | Problem> =>
  run(viewOrCopy(context, query))

function* viewOrCopy(context: Context, query: QueryAnalysis): Steps<QueryAnalysis | Problem> {
  const seen = yield* wait(queryOfView(context, query))
  return mayBeCopied(seen) ? yield* wait(overCopyOf(context, query, seen)) : seen
}

async function overCopyOf(context: Context, query: QueryAnalysis, seen: Problem): Promise<QueryAnalysis | Problem> {
  const store = context.application.traits.known()
  const rights = rightsOnGraphs(context, 'Read')
  if (!store || isFailure(rights)) return seen
  const refused = tooManyPatterns(query, { mostOrdering: MOST_ORDERING })
  if (refused) return refused
  const found = await takeStep(context, { query, rights, store }, { readable: [], isCopied: true })
  if (isFailure(found)) return mayBeCopied(found) ? seen : found
  if (!('plan' in found)) throw new Error('The query does not use a copy.')
  context.trace.view = 'copy'
  const { plan, text } = found
  return {
    ...query,
    text,
    copy: plan,
    readSet: 'dataset',
    key: viewKeyOf(rights, plan.collect + text),
    isRestricted: true,
  }
}

const MOST_DEPENDING = 256

/** Those of these graphs that exist and that the agent may read, according to their own content. */
function* readableOf(
  { application, trace }: Context,
  graphs: readonly string[],
  rights: GraphRights,
): Steps<readonly Readable[] | Problem> {
  if (graphs.length > MOST_DEPENDING) return TOO_MANY
  const facts = yield* all(graphs.map((graph) => readFacts(application, graph, trace)))
  const failed = facts.find((found) => isFailure(found))
  if (failed) return failed
  return graphs.flatMap((graph, i): readonly Readable[] => {
    const found = facts[i]!
    const ground = !isFailure(found) && found.value && groundOf(rights, found.value)
    return ground ? [[graph, ground]] : []
  })
}

const TOO_MANY = problem(
  'access.graphs',
  `The query names more than ${MOST_DEPENDING} graphs whose rights depend on their content. Name fewer, or write GRAPH ?g { }.`,
)
