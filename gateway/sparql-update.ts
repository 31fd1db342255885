// In charge of SPARQL updates through the endpoint, and of everything that was made from what they may have changed.
import type { Decision } from '../policies/decide.js'
import { DOUBT_MS } from './compiled-access.js'
import type { Response } from './exchange.js'
import type { Context } from './handle.js'
import type { GraphSet } from './graph-set.js'
import type { Release } from './lock.js'
import { problem, type Problem } from './problem.js'
import { linkField, response } from './respond.js'
import type { UpdateAnalysis } from './sparql-analysis.js'

/** How many documents an update locks; beyond that it runs beside other writes, as one does that may change anything. */
const MOST_LOCKS = 64

export async function answerUpdate(
  context: Context,
  { text, writeSet }: UpdateAnalysis,
  decision: Decision,
): Promise<Response | Problem> {
  const { application, agent, gateway, trace } = context
  const documents =
    writeSet === 'dataset' ? [] : writeSet.filter((graph) => graph.startsWith(application.base)).slice(0, MOST_LOCKS)
  const held: Release[] = []
  try {
    // In order of their names, which has parents before their children, as documents are locked for a write.
    for (const document of documents) {
      const release = await gateway.locks.acquire(document, 'exclusive')
      if (!release) return BUSY
      held.push(release)
    }
    // Not ended when the client leaves: half the time it would be done all the same.
    const failed = await trace.store(application.store.update(text))
    // A store that cannot be reached has not done it; one that broke off or fell silent may have.
    if (failed?.code === 'store.unreachable' || failed?.code === 'store.overloaded') return failed
    const isOver = !failed || REFUSALS.has(failed.code)
    await changed(context, writeSet, isOver ? undefined : gateway.now() + DOUBT_MS)
    return failed ?? response(200, [linkField(application, agent.webId, decision)])
  } finally {
    for (const release of held) release()
  }
}

/** The store has said no: nothing of it happens later. Some of it may have happened before. */
const REFUSALS: ReadonlySet<string> = new Set(['update.syntax', 'update.failed', 'store.refused'])

const BUSY = problem('server.overloaded', 'Too many writes to a document of this update are waiting.', {
  fields: [['Retry-After', '1']],
})

/** Everything kept and everything compiled follows before the answer goes out. `until`: the update may still be done. */
async function changed({ application, gateway }: Context, graphs: GraphSet, until: number | undefined): Promise<void> {
  const { cache, dataspace, kind, base } = application
  if (graphs === 'dataset') {
    if (until === undefined) cache.versions.everythingChanged()
    else cache.versions.inDoubt(undefined, until)
  } else {
    for (const graph of graphs) {
      if (until === undefined) cache.versions.changed(graph)
      else cache.versions.inDoubt(graph, until)
    }
  }
  // A profile may be in any graph.
  gateway.webIds.clear()
  if (kind !== 'admin') return
  dataspace.ontologies.changed(`${base}ontologies/`)
  const { access } = dataspace
  const doubtful = graphs === 'dataset' ? [base] : graphs
  if (until !== undefined && graphs !== 'dataset') for (const graph of doubtful) access.changed(graph, 'uncertain')
  // Decides nothing on rules that are known to be old.
  if (await access.reload()) for (const graph of doubtful) access.changed(graph, 'uncertain')
  if (until !== undefined) setTimeout(() => void access.reload(), DOUBT_MS).unref()
}
