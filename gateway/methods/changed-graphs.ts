// Updates caches, rules and profiles after an update has changed graphs of a store, or may have.
import { sharersOf, type Gateway, type Member } from '../gateway.js'
import type { GraphSet } from '../sparql/language/graph-sets.js'

/** Called before the response is sent. @param until the time until which the store may still perform a failed update */
export async function graphsChanged(
  { application, gateway }: Pick<Member, 'application'> & { readonly gateway: Gateway },
  graphs: GraphSet,
  until: number | undefined,
): Promise<void> {
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
      // If this fails, the gateway decides nothing until it succeeds (compiled-rules.ts).
      await access.reload()
    }),
  )
}
