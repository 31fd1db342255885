// In charge of requests for a document's history (spec 4.5, 9): who may have which answer, and which file gives it.
import { documentLinks, historyLinks, mementosOf } from '../versioning/time-map.js'
import { isSetback } from '../versioning/change.js'
import type { History } from '../versioning/history.js'
import { decideOn, type Facts } from './access.js'
import { answerDifference } from './diff-answer.js'
import { documentOf } from './document.js'
import type { Response } from './exchange.js'
import type { Application } from './gateway.js'
import { graphOf } from './graph.js'
import type { Context } from './handle.js'
import { answerMemento, mementoFields } from './memento.js'
import { parseAccept } from './negotiate.js'
import { failed, findVersion, PATIENCE_MS, refuse, underWay, type Past } from './past-answer.js'
import { isProblem, problem, type Problem } from './problem.js'
import { readNTriples } from './rdf-read.js'
import { methodNotAllowed } from './refusal.js'
import { READ_METHODS } from './respond.js'
import type { Target } from './target.js'
import { answerTimeGate } from './time-gate-answer.js'
import { answerTimeMap, LINK_FORMAT } from './time-map-answer.js'

export type PastTarget = Extract<Target<Application>, { kind: 'version' | 'diff' | 'timemap' | 'timegate' }>

export const isPast = (target: Target<Application>): target is PastTarget =>
  ['version', 'diff', 'timemap', 'timegate'].includes(target.kind)

/** Whoever may read the document now may read its history; where it is deleted, as it was before (design 6). */
export async function past(context: Context, target: PastTarget, facts: Facts): Promise<Response | Problem> {
  const { application, request } = context
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const { history } = application
  if (!history) return isRead ? unversioned(context, target) : methodNotAllowed(request.method, READ_METHODS)
  const state = await lastState({ context, history, document: target.document, isPublic: false }, facts)
  if (isProblem(state)) return state
  const decision = decideOn(context, state, 'Read')
  if (isProblem(decision)) return decision
  const forEveryone = decideOn({ ...context, agent: {} }, state, 'Read')
  const asked: Past = {
    context,
    history: decision.allowed || decision.absent ? history : withoutVersions(history),
    document: target.document,
    isPublic: !isProblem(forEveryone) && !forEveryone.unenforced && (forEveryone.allowed || forEveryone.absent),
  }
  if (!isRead) return readOnly(asked, target)
  switch (target.kind) {
    case 'version':
      return answerMemento(asked, target.version)
    case 'diff':
      return answerDifference(asked, target.diff, target.version)
    case 'timemap':
      return answerTimeMap(asked)
    case 'timegate':
      return answerTimeGate(asked)
  }
}

function unversioned({ accept }: Context, { kind }: PastTarget): Problem {
  // Spec 7: 406 on ?timemap with Accept application/link-format when the document is not versioned.
  if (kind === 'timemap' && parseAccept(accept).some(({ type }) => type === LINK_FORMAT.mediaType)) {
    return problem('negotiation.not-acceptable', 'This document is not versioned.')
  }
  return problem('document.no-versions', 'This document has no versions: its dataspace is not versioned.')
}

/** Spec 7: 405. What makes a memento one stays on it (RFC 7089 §4.5.7). */
async function readOnly(asked: Past, target: PastTarget): Promise<Response> {
  const reason = methodNotAllowed(asked.context.request.method, READ_METHODS)
  if (target.kind !== 'version') return refuse(asked, reason, historyLinks(asked.document, []))
  const found = await findVersion(asked, target.version)
  const memento = isProblem(found) ? undefined : found.memento
  if (isProblem(found) || !memento) return refuse(asked, reason, historyLinks(asked.document, []))
  return refuse(asked, reason, historyLinks(asked.document, found.mementos, memento), mementoFields(memento))
}

/** For whom a deleted document is as one that never was. */
const withoutVersions = (history: History): History => ({
  ...history,
  versions: () => Promise.resolve({ versions: [], pending: false }),
  resolve: () => Promise.resolve(undefined),
})

/** A deleted document as it last was: its types and owners count, and not that anything may be an item or a container. */
async function lastState({ context, history, document }: Past, facts: Facts): Promise<Facts | Problem> {
  if (facts.kind !== 'document' || facts.document) return facts
  const found = await history.versions(document, PATIENCE_MS)
  if (isSetback(found)) return failed(context, found)
  if (found.pending) return underWay()
  const last = mementosOf(found.versions).at(-1)
  if (!last) return facts
  const content = await history.content(document, last)
  if (isSetback(content)) return failed(context, content)
  const graph = graphOf(readNTriples(content ?? '') ?? [])
  return { ...facts, document: documentOf(document, context.application.base, graph) }
}

/** What the 404 of a document that was deleted links: its TimeMap and TimeGate (RFC 7089 §4.5.2). */
export async function linksOfAbsent({ history }: Application, document: string): Promise<readonly string[]> {
  const found = await history?.versions(document, 0)
  if (!found || isSetback(found) || (found.versions.length === 0 && !found.pending)) return []
  return documentLinks(document)
}
