// Keeps root documents: no update removes one (spec 4.1, design 3). An update that would is refused before it reaches
// the store. If its text does not show that, and the store announces no changes, the same request restores the root.
import type { Application } from '../../gateway.js'
import { isLarge, readDocumentNow } from '../../documents/document.js'
import { managedTriples, nextState } from '../../documents/next-state.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { rootKept, withoutEnd } from '../../mirror/journalled-update.js'
import type { Context } from '../../request/context.js'
import { isSparql } from '../../stores/batch-sparql.js'
import type { UpdateAnalysis } from '../language/analysis.js'
import { isRemoved } from '../language/removed-graphs.js'

/** The update for the store, to run while its written graphs are locked; a problem if it is refused. */
export async function keepingRoots(
  context: Context,
  { text, writeSet, removes, besideCleared }: UpdateAnalysis,
  applications: readonly Application[],
): Promise<string | Problem> {
  const touched = applications.filter(({ base }) => writeSet === 'dataset' || writeSet.includes(base))
  const removed = touched.find(({ base }) => (besideCleared ? removes.graphs.includes(base) : isRemoved(removes, base)))
  if (removed) return rootKept(removed.base)
  const guards: string[] = []
  for (const application of touched) {
    const isAnnounced = application.store.announces && !besideCleared
    const guard = isAnnounced ? undefined : await guardOf(context, application, besideCleared !== undefined)
    if (isFailure(guard)) return guard
    if (guard !== undefined) guards.push(guard)
    const kept = besideCleared ? await protectedOf(context, application) : []
    if (isFailure(kept)) return kept
    guards.push(...kept)
  }
  return guards.length === 0 ? text : [withoutEnd(text), ...guards].join(' ;\n')
}

/** An operation that restores the managed triples of a root with no triples left; undefined if there is no root. */
async function guardOf(
  { gateway, trace, request }: Context,
  application: Application,
  isCleared: boolean,
): Promise<string | undefined | Problem> {
  const { base } = application
  const found = await readDocumentNow(application, base, trace)
  if (isFailure(found)) return found
  const root = found.value
  if (!root) return undefined
  // A root that is too large to read loses its owner and dates.
  const current = isLarge(root) ? undefined : managedTriples(root)
  const kept = { method: 'PUT', document: base, base, current, content: [], agent: undefined } as const
  const { lines } = nextState({ ...kept, now: request.receivedAt, uuid: gateway.uuid })
  const triples = lines.filter(isSparql).join('\n')
  // Other operations may have filled the root again.
  if (isCleared) return `INSERT DATA { GRAPH <${base}> {\n${triples}\n} }`
  return `INSERT { GRAPH <${base}> {\n${triples}\n} } WHERE { FILTER NOT EXISTS { GRAPH <${base}> { ?s ?p ?o } } }`
}

/** Spec 4.1: clearing all graphs does not change the documents of the owner and the secretary. */
async function protectedOf(
  { trace, dataspace }: Context,
  application: Application,
): Promise<readonly string[] | Problem> {
  const kept: string[] = []
  for (const document of [...dataspace.protectedDocuments].filter(application.isDocument)) {
    const found = await readDocumentNow(application, document, trace)
    if (isFailure(found)) return found
    const current = found.value
    if (!current) continue
    if (isLarge(current) || !isSparql(current.nTriples))
      return problem('access.denied', `Name each graph that the update clears: <${document}> cannot be changed.`)
    kept.push(`INSERT DATA { GRAPH <${document}> {\n${current.nTriples}} }`)
  }
  return kept
}
