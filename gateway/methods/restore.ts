// In charge of a PUT that restores: the version of the document that its content equals, where it names one (spec 9.6).
import { decideOn, type Facts } from '../request/access.js'
import { graphOf, nTriplesOf, type Quad } from '../rdf/graph.js'
import type { Context } from '../request/context.js'
import { areSame } from '../rdf/same-graph.js'
import { clientTriples } from '../documents/next-state.js'
import { historyRequestOf } from '../memento/history.js'
import { COMMITS_WAIT_MS, findVersion, historyFailed } from '../memento/history-request.js'
import { isFailure, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import type { WriteRequest } from './write-request.js'

export interface Restored {
  readonly commit: string
  /** The whole version. */
  readonly nTriples: string
}

/**
 * RFC 9110 §8.7: Content-Location of a request names the source of its content. It counts where it is a version that the writer
 * may read and whose content is the same; every other PUT is an ordinary one.
 */
export async function restoredVersion(
  context: Context,
  facts: Facts,
  write: WriteRequest,
): Promise<Restored | undefined | Problem> {
  const id = versionNamed(context, facts.iri)
  if (id === undefined || write.method !== 'PUT') return undefined
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return decision
  const asked = await historyRequestOf({ context, facts, decision }, COMMITS_WAIT_MS)
  if (isFailure(asked)) return asked.failure === 'access.denied' ? undefined : asked
  const found = await findVersion(asked, id)
  if (isFailure(found)) return found.failure === 'document.no-versions' ? undefined : found
  if (!found.memento) return undefined
  const { commit } = found.memento
  const nTriples = await asked.history.content(facts.iri, found.memento)
  if (isFailure(nTriples)) return historyFailed(context, nTriples)
  const version = readNTriples(nTriples ?? '')
  if (nTriples === undefined || !version) return undefined
  const own = (triples: readonly Quad[]): string => nTriplesOf(graphOf(clientTriples(triples, facts.iri)))
  return areSame(own(version), own(write.content)) ? { commit, nTriples: nTriplesOf(graphOf(version)) } : undefined
}

/** The id of the version that Content-Location names, if it is one of this document. */
function versionNamed({ application, gateway, request: { fields } }: Context, iri: string): string | undefined {
  const location = fields['content-location']
  if (location === undefined || !application.history || !URL.canParse(location, iri)) return undefined
  const target = gateway.targetOf(new URL(location, iri).href, undefined)
  return !isFailure(target) && target.kind === 'version' && target.document === iri ? target.version : undefined
}
