// A PUT that restores: finds the version of the document that Content-Location names, if its content is the same (spec
// 9.6).
import { decideOn, type Facts } from '../request/access.js'
import { graphOf, iri, nTriplesLine, nTriplesOf, triple } from '../rdf/graph.js'
import { changedLines } from '../rdf/sorted-lines.js'
import { DH, RDF } from '../rdf/vocabulary.js'
import { askerOf, type Context } from '../request/context.js'
import { managedLines } from '../documents/changed-document.js'
import { historyRequestOf } from '../memento/history.js'
import { findVersion, historyFailed } from '../memento/history-request.js'
import { isFailure, type Problem } from '../problem.js'
import { isLargeContent, type WriteRequest } from './write-request.js'

export interface Restored {
  readonly commit: string
  /** The content of the whole version. */
  readonly nTriples: string
}

/**
 * RFC 9110 §8.7: Content-Location of a request names the source of its content. It has an effect only if it names a
 * version that the writer may read, with the same content; any other PUT is an ordinary one.
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
  const asked = await historyRequestOf({ context, facts, decision }, context.gateway.commitsWait)
  if (isFailure(asked)) return asked.failure === 'access.denied' ? undefined : asked
  const found = await findVersion(asked, id)
  if (isFailure(found)) return found.failure === 'document.no-versions' ? undefined : found
  if (!found.memento) return undefined
  const { commit } = found.memento
  const stored = await asked.history.content(facts.iri, found.memento)
  if (stored === undefined) return undefined
  if (isFailure(stored)) return historyFailed(context, stored)
  const { application, gateway } = context
  const version = await gateway.reading.canonical(askerOf(context), stored, application.cache.tagKey)
  // Nobody but the gateway should write the history: a version that cannot be read restores nothing.
  if (isFailure(version)) return version.failure === 'store.unreadable' ? undefined : version
  const content = isLargeContent(write.content)
    ? (write.content.labelled ?? write.content.nTriples)
    : nTriplesOf(graphOf(write.content))
  const [a, b] = [version.nTriples, content].map((text) => ownText(text, facts.iri)) as [string, string]
  const same = a === b || (await gateway.reading.areSame(askerOf(context), a, b))
  if (isFailure(same)) return same
  return same ? { commit, nTriples: version.nTriples } : undefined
}

/**
 * The client's triples in canonical N-Triples: all but the managed ones; includes dh:Container, which clients choose.
 */
function ownText(nTriples: string, document: string): string {
  const container = nTriplesLine(triple(document, RDF('type'), iri(DH('Container'))))
  const managed = managedLines(nTriples, document).filter((line) => line !== container)
  return changedLines(nTriples, managed, [])
}

/** The id of the version that Content-Location names, if it is one of this document. */
function versionNamed({ application, gateway, request: { fields } }: Context, iri: string): string | undefined {
  const location = fields['content-location']
  if (location === undefined || !application.history || !URL.canParse(location, iri)) return undefined
  const target = gateway.targetOf(new URL(location, iri).href, undefined)
  return !isFailure(target) && target.kind === 'version' && target.document === iri ? target.version : undefined
}
