// In charge of SPARQL updates through the endpoint: the locks, the update, and the caches and rules that depend on it.
import type { Decision } from '../../policies/decide.js'
import { LATEST_WRITE_MS } from '../stores/store.js'
import type { Response } from '../http/exchange.js'
import { sharersOf } from '../gateway.js'
import type { Context } from '../request/context.js'
import { hadNoEffect, hasNoLaterEffect } from '../mirror/write-failures.js'
import type { GraphSet } from '../sparql/graph-sets.js'
import { everyWrite, underLocks, type Lock } from '../documents/locks.js'
import { isFailure, type Problem } from '../problem.js'
import { linkField, response } from '../request/respond.js'
import type { UpdateAnalysis } from '../sparql/analysis.js'
import { keepingRoots } from './root-guard.js'

/** The most documents that an update locks one by one. */
const MOST_LOCKS = 64

export async function answerUpdate(
  context: Context,
  update: UpdateAnalysis,
  decision: Decision,
): Promise<Response | Problem> {
  const { application, agent, gateway, trace, request } = context
  const { writeSet } = update
  const sharers = sharersOf(application.store, gateway).map((member) => member.application)
  const written = writeSet === 'dataset' ? [] : writeSet.filter((graph) => sharers.some((one) => one.isDocument(graph)))
  // An update that may change any document, or too many, makes all other writes wait.
  const isWide = writeSet === 'dataset' || written.length > MOST_LOCKS
  const parts = sharers.flatMap((sharer) => {
    const documents = isWide ? undefined : written.filter((graph) => sharer.isDocument(graph))
    return documents?.length === 0 && sharer !== application ? [] : [{ sharer, documents }]
  })
  const locks: Lock[] = parts.map(({ sharer }) => everyWrite(sharer, isWide ? 'exclusive' : 'shared'))
  if (!isWide) for (const document of written) locks.push([document, 'exclusive'])
  return underLocks(gateway, locks, async () => {
    // Not aborted when the client leaves: the store may perform the update all the same.
    const own = parts.find(({ sharer }) => sharer === application)!
    const others = parts.filter((part) => part !== own)
    const text = await keepingRoots(context, update, sharers)
    if (isFailure(text)) return text
    const announced = { text, documents: own.documents, agent: agent.webId, time: request.receivedAt }
    const asParts = others.map(({ sharer: { journalled }, documents }) => ({ journalled, documents }))
    const failed = await trace.store(application.journalled.update(announced, asParts))
    const isOver = !failed || hasNoLaterEffect(failed)
    if (!isOver && hadNoEffect(failed)) return failed
    await changed(context, writeSet, isOver ? undefined : gateway.now() + LATEST_WRITE_MS)
    return failed ?? response(200, [linkField(application, agent.webId, decision)])
  })
}

/** Updates caches and rules before the response is sent. @param until until then the store may perform a failed update */
async function changed({ application, gateway }: Context, graphs: GraphSet, until: number | undefined): Promise<void> {
  const { cache, store } = application
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
  const admins = sharersOf(store, gateway).filter((member) => member.application.kind === 'admin')
  await Promise.all(
    admins.map(async ({ application: { base }, dataspace: { ontologies, access } }) => {
      ontologies.changed(`${base}ontologies/`, until)
      if (until !== undefined && graphs !== 'dataset') for (const graph of graphs) access.changed(graph, 'uncertain')
      // While this fails, the gateway decides nothing (compiled-rules.ts).
      await access.reload()
    }),
  )
}
