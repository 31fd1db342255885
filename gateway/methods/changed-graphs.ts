// Updates caches, rules and profiles after an update has changed graphs of a store, or may have.
import { sharersOf, type Application, type Dataspace, type Gateway, type Member } from '../gateway.js'
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
      if (until !== undefined && graphs !== 'dataset')
        for (const graph of graphs) void access.changed(graph, 'uncertain')
      // If this fails, the gateway decides nothing until it succeeds (compiled-rules.ts).
      await access.reload()
    }),
  )
}

/** Clears everything derived from a store's answers: documents, results, profiles, shapes and rules. */
export async function forget(
  { endUser, admin, ontologies, access }: Dataspace,
  graph: string | undefined,
  { webIds }: Pick<Gateway, 'webIds'>,
): Promise<string | undefined> {
  const drop = ({ cache }: Application): void => {
    if (graph !== undefined) return cache.versions.changed(graph)
    cache.versions.everythingChanged()
    cache.graphRights.clear()
    cache.decisions.clear()
  }
  drop(endUser)
  drop(admin)
  if (graph === undefined) webIds.clear()
  else webIds.forget(graph)
  if (graph !== undefined && !graph.startsWith(admin.base)) return undefined
  ontologies.changed(graph ?? `${admin.base}ontologies/`)
  const failed = await access.reload()
  return failed?.detail
}
