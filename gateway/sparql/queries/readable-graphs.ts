// Asking a query over the graphs that its agent may read, by their names, where these are few (design 4).
import type { GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { isFailure, type Problem } from '../../problem.js'
import { askerOf, type Context } from '../../request/context.js'
import type { QueryAnalysis } from '../language/analysis.js'
import { graphsQuery } from '../rights/readable-graph-list.js'
import { select } from '../../stores/select.js'
import type { Call, GraphStore } from '../../stores/store.js'
import { NOTHING } from '../../stores/traits.js'
import { only } from './hide-store-traces.js'
import { viewKeyOf, restrictedBy, takeStep, type Viewing } from './ask-restricted.js'

/** Above that, a store takes long for a dataset of named graphs. */
const MOST_LISTED = 100
const LIST_BYTES = 1024 * 1024

/** The query over the graphs by their names, where they are few. */
export async function overList(
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
  // Another graph may be one of them later.
  return { ...found, readSet: 'dataset' }
}

/** Its answers are cached as results are: the list of a cached result is. */
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
