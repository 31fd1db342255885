// In charge of keeping root documents: no update removes one (spec 4.1, design 3). An update that would is refused before the
// store gets it; where its text does not say, a store that announces no changes puts the root back in the same request.
import type { Application } from '../gateway.js'
import { isLarge, readDocumentNow } from '../documents/document.js'
import { managedTriples, nextState } from '../documents/next-state.js'
import { isFailure, type Problem } from '../problem.js'
import { rootKept } from '../mirror/journalled-update.js'
import type { Context } from '../request/context.js'
import { isSparql } from '../stores/several-graphs.js'
import type { UpdateAnalysis } from '../sparql/analysis.js'
import { isRemoved } from '../sparql/removed-graphs.js'

/** The update for the store, to be made under the locks of what it writes; a problem where it is refused. */
export async function keepingRoots(
  context: Context,
  { text, writeSet, removes }: UpdateAnalysis,
  applications: readonly Application[],
): Promise<string | Problem> {
  const touched = applications.filter(({ base }) => writeSet === 'dataset' || writeSet.includes(base))
  const removed = touched.find(({ base }) => isRemoved(removes, base))
  if (removed) return rootKept(removed.base)
  const guards: string[] = []
  for (const application of touched) {
    const guard = application.store.announces ? undefined : await guardOf(context, application)
    if (isFailure(guard)) return guard
    if (guard !== undefined) guards.push(guard)
  }
  return guards.length === 0 ? text : [withoutEnd(text), ...guards].join(' ;\n')
}

/** The update without the semicolons and blanks at its end. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && /[;\s]/.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** Puts back the managed triples of a root that has lost all of its triples; undefined where there is no root to keep. */
async function guardOf(
  { gateway, trace, request }: Context,
  application: Application,
): Promise<string | undefined | Problem> {
  const { base } = application
  const found = await readDocumentNow(application, base, trace)
  if (isFailure(found)) return found
  const root = found.value
  if (!root) return undefined
  // A root that is too large to be read loses its owner and dates.
  const current = isLarge(root) ? undefined : managedTriples(root)
  const kept = { method: 'PUT', document: base, base, current, content: [], agent: undefined } as const
  const { lines } = nextState({ ...kept, now: request.receivedAt, uuid: gateway.uuid })
  const triples = lines.filter(isSparql).join('\n')
  return `INSERT { GRAPH <${base}> {\n${triples}\n} } WHERE { FILTER NOT EXISTS { GRAPH <${base}> { ?s ?p ?o } } }`
}
