// In charge of requests for a document's history (spec 4.5, 9): who may have which answer, and which file gives it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision } from '../../policies/decide.js'
import { isSetback } from '../../versioning/change.js'
import { documentLinks, historyLinks, mementoLinks, mementosOf } from '../../versioning/memento/time-map.js'
import { decideOn, type Facts } from '../request/access.js'
import { answerDifference } from './difference.js'
import { documentOf } from '../documents/document.js'
import type { Response } from '../http/exchange.js'
import type { Member } from '../gateway.js'
import { graphOf } from '../rdf/graph.js'
import type { Context } from '../request/context.js'
import { answerMemento, mementoFields } from './memento.js'
import { parseAccept } from '../http/media-type.js'
import { failed, findVersion, PATIENCE_MS, refuse, underWay, type Past } from './answer.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { methodNotAllowed, refusalOf } from '../request/refusal.js'
import { READ_METHODS } from '../request/respond.js'
import type { Decided } from '../request/route.js'
import type { Target } from '../http/target.js'
import { answerTimeGate } from './time-gate.js'
import { answerTimeMap, LINK_FORMAT } from './time-map.js'

export type PastTarget = Extract<Target<Member>, { kind: 'version' | 'diff' | 'timemap' | 'timegate' }>

export async function past({ context, target, facts }: Decided<PastTarget>): Promise<Response | Problem> {
  const { application, request } = context
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const asked = await pastOf(context, facts, PATIENCE_MS)
  if (isFailure(asked)) return asked
  if (!application.history) {
    return isRead ? unversioned(context, target) : methodNotAllowed(request.method, READ_METHODS)
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

/**
 * The history as far as who is asking may read it: whoever may read the document, and where it is deleted, as it was before
 * (design 6). Refused are those who may not even be told that it is not there.
 */
export async function pastOf(context: Context, facts: Facts, patience: number): Promise<Past | Problem> {
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return decision
  // Whether there was a document, and is, must not be seen by how long it took to refuse.
  const leastTime = decision.allowed ? undefined : sleep(REFUSAL_MS)
  const { history = NO_HISTORY } = context.application
  const document = facts.iri
  const state = await lastState({ context, history, document, isPublic: false }, facts, patience)
  if (isFailure(state) && (decision.allowed || decision.absent)) return state
  const onState = isFailure(state) ? decision : decideOn(context, state, 'Read')
  if (isFailure(onState)) return onState
  if (!onState.allowed) await leastTime
  if (!onState.allowed && !decision.absent) return refusalOf(decision, context, document)
  // A write that restores keeps its own decision in the log.
  if (context.trace.decision?.required === 'Read') context.trace.decision = onState.allowed ? onState : decision
  const forEveryone = isFailure(state) ? undefined : decideOn({ ...context, agent: {} }, state, 'Read')
  return {
    context,
    history: onState.allowed ? history : NO_HISTORY,
    document,
    isPublic: forEveryone !== undefined && !isFailure(forEveryone) && mayBeShared(forEveryone),
  }
}

const REFUSAL_MS = 25

const mayBeShared = ({ allowed, absent, unenforced }: Decision): boolean => !unenforced && (allowed || absent)

function unversioned({ accept }: Context, { kind }: PastTarget): Problem {
  // Spec 7: 406 on ?timemap with Accept application/link-format when the document is not versioned.
  if (kind === 'timemap' && parseAccept(accept).some(({ type, q }) => type === LINK_FORMAT.mediaType && q > 0)) {
    return problem('negotiation.not-acceptable', 'This document is not versioned.')
  }
  return problem('document.no-versions', 'This document has no versions: its dataspace is not versioned.')
}

/** Spec 7: 405. What makes a memento one stays on it (RFC 7089 §4.5.7). */
async function readOnly(asked: Past, target: PastTarget): Promise<Response> {
  const reason = methodNotAllowed(asked.context.request.method, READ_METHODS)
  if (target.kind !== 'version') return refuse(asked, reason, historyLinks(asked.document, []))
  const found = await findVersion(asked, target.version)
  const memento = isFailure(found) ? undefined : found.memento
  if (isFailure(found) || !memento) return refuse(asked, reason, historyLinks(asked.document, []))
  return refuse(asked, reason, mementoLinks(asked.document, found.mementos, memento), mementoFields(memento))
}

/** For whom a deleted document is as one that never was. */
const NO_HISTORY: Past['history'] = {
  versions: () => Promise.resolve({ versions: [], pending: false }),
  resolve: () => Promise.resolve(undefined),
  content: () => Promise.resolve(undefined),
}

/** A deleted document as it last was: its types and owners count, and not that anything may be an item or a container. */
async function lastState(
  { context, history, document }: Past,
  facts: Facts,
  patience: number,
): Promise<Facts | Problem> {
  if (facts.kind !== 'document' || facts.document) return facts
  const found = await history.versions(document, patience)
  if (isSetback(found)) return failed(context, found)
  if (found.pending) return underWay(context)
  const last = mementosOf(found.versions).at(-1)
  if (!last) return facts
  const content = await history.content(document, last)
  if (isSetback(content)) return failed(context, content)
  const graph = graphOf(readNTriples(content ?? '') ?? [])
  return { ...facts, document: documentOf(document, context.application.base, graph) }
}

/**
 * What a refusal links for those who may read there: TimeMap and TimeGate of a document that is there, or that was deleted
 * (RFC 7089 §4.2.1, §4.5.2).
 */
export async function linksOfRefused(context: Context, facts: Facts): Promise<readonly string[]> {
  const { history } = context.application
  if (!history || facts.kind !== 'document') return []
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return []
  if (facts.document) return decision.allowed ? documentLinks(facts.iri) : []
  const asked = decision.allowed ? { history } : await pastOf(context, facts, 0)
  if (isFailure(asked)) return []
  const found = await asked.history.versions(facts.iri, 0)
  if (isSetback(found) || (found.versions.length === 0 && !found.pending)) return []
  return documentLinks(facts.iri)
}
