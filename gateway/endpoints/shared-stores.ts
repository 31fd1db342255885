// In charge of keeping dataspaces apart that share a store: a SPARQL endpoint of one reads and writes graphs under its own
// base only (design 4).
import { MOST_OWN_GRAPHS } from '../documents/own-graphs.js'
import { membersOf, sharersOf } from '../gateway.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Context } from '../request/context.js'
import type { DatasetDescription, QueryAnalysis, UpdateAnalysis } from '../sparql/analysis.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'

/**
 * The query itself, or one over the application's own graphs where it names none. `restricted` analyses it again with this
 * dataset, which takes the place of FROM.
 */
export async function ownQuery(
  context: Context,
  query: QueryAnalysis,
  restricted: (dataset: DatasetDescription) => Promise<QueryAnalysis | Problem>,
): Promise<QueryAnalysis | Problem> {
  if (!isShared(context)) return query
  const { from, reads } = query
  const { application } = context
  const foreign = foreignIn(context, reads.graphs)
  if (foreign !== undefined) return refusal(context, `<${foreign}> is not one of them`, NAME_OWN)
  if (reads.magic) return refusal(context, 'the query has a predicate or a syntax that may read others', NAME_OWN)
  if (!reads.default && !reads.any) return query
  if (from.default.length + from.named.length > 0) {
    const missing = reads.default ? 'its default graph' : 'the graphs for GRAPH with a variable'
    const clause = reads.default ? 'FROM or default-graph-uri' : 'FROM NAMED or named-graph-uri'
    return refusal(context, `the dataset of the query lacks ${missing}`, `Name them with ${clause} too.`)
  }
  const own = await context.trace.store(application.cache.ownGraphs.list())
  if (isFailure(own)) return own
  if (own === undefined) {
    return refusal(
      context,
      `there are more than ${MOST_OWN_GRAPHS}, and the query does not name those it reads`,
      NAME_OWN,
    )
  }
  // Without any graph of its own: the root document, which does not exist.
  const graphs = own.length > 0 ? own : [application.base]
  return restricted({ default: graphs, named: graphs })
}

/** An update has to name each graph that it reads or writes: afterwards it cannot be undone. */
export function foreignUpdate(context: Context, { reads, writeSet }: UpdateAnalysis): Problem | undefined {
  if (!isShared(context)) return undefined
  if (writeSet === 'dataset') return refusal(context, 'the update may write others', NAME_WRITTEN)
  const foreign = foreignIn(context, [...writeSet, ...reads.graphs])
  if (foreign === DEFAULT_GRAPH) return refusal(context, 'the update writes the default graph', NAME_WRITTEN)
  if (foreign !== undefined) return refusal(context, `<${foreign}> is not one of them`, NAME_WRITTEN)
  if (!reads.default && !reads.any && !reads.magic) return undefined
  return refusal(context, 'the pattern of the update may read others', NAME_READ)
}

const NAME_OWN = 'Name the graphs that the query reads: GRAPH <…>, or FROM <…> and FROM NAMED <…>.'
const NAME_WRITTEN = 'Name each graph that the update writes: no CLEAR ALL, no DROP NAMED, no GRAPH with a variable.'
const NAME_READ = 'Name each graph that its pattern reads: GRAPH <…>, WITH <…>, or USING <…> and USING NAMED <…>.'

const refusal = ({ application }: Context, reason: string, fix: string): Problem =>
  problem(
    'access.graphs',
    `Several dataspaces share this store, so that only graphs under ${application.base} can be used here: ${reason}. ${fix}`,
  )

const isShared = ({ application, dataspace, gateway }: Context): boolean =>
  sharersOf(application.store, gateway).some((member) => member.dataspace !== dataspace)

/** The first of these graphs that is not the application's: of nested bases, the longest one counts. */
function foreignIn({ application, gateway }: Context, graphs: readonly string[]): string | undefined {
  const { base } = application
  const below = membersOf(gateway.dataspaces)
    .map((member) => member.application.base)
    .filter((other) => other.length > base.length && other.startsWith(base))
  return graphs.find((graph) => !graph.startsWith(base) || below.some((other) => graph.startsWith(other)))
}
