// Separates dataspaces that share a store: an update through one of them reads and writes only graphs under its own
// base (design 4).
import { membersOf, sharersOf } from '../../gateway.js'
import { problem, type Problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import type { UpdateAnalysis } from '../language/analysis.js'
import { DEFAULT_GRAPH } from '../language/graph-sets.js'

/** An update has to name each graph that it reads or writes, since it cannot be undone. */
export function foreignUpdate(context: Context, { reads, writeSet }: UpdateAnalysis): Problem | undefined {
  if (!isShared(context)) return undefined
  if (writeSet === 'dataset') return refusal(context, 'the update may write others', NAME_WRITTEN)
  const foreign = foreignIn(context, [...writeSet, ...reads.graphs])
  if (foreign === DEFAULT_GRAPH) return refusal(context, 'the update writes the default graph', NAME_WRITTEN)
  if (foreign !== undefined) return refusal(context, `<${foreign}> is not one of them`, NAME_WRITTEN)
  if (!reads.default && !reads.any && !reads.magic) return undefined
  return refusal(context, 'the pattern of the update may read others', NAME_READ)
}

const NAME_WRITTEN = 'Name each graph that the update writes: no CLEAR ALL, no DROP NAMED, no GRAPH with a variable.'
const NAME_READ = 'Name each graph that its pattern reads: GRAPH <…>, WITH <…>, or USING <…> and USING NAMED <…>.'

const refusal = ({ application }: Context, reason: string, fix: string): Problem =>
  problem(
    'access.graphs',
    `Dataspaces share this store, so updates here can use only graphs under ${application.base}, but ${reason}. ${fix}`,
  )

const isShared = ({ application, dataspace, gateway }: Context): boolean =>
  sharersOf(application.store, gateway).some((member) => member.dataspace !== dataspace)

/** The first of these graphs outside the application. If bases are nested, the longest one counts. */
function foreignIn({ application, gateway }: Context, graphs: readonly string[]): string | undefined {
  const { base } = application
  const below = membersOf(gateway.dataspaces)
    .map((member) => member.application.base)
    .filter((other) => other.length > base.length && other.startsWith(base))
  return graphs.find((graph) => !graph.startsWith(base) || below.some((other) => graph.startsWith(other)))
}
