// Requests for a document's history (spec 4.5, 9): the decision whether the agent may read it, and the response.
import type { Decision } from '../../policies/decide.js'
import type { Version } from '../../versioning/change.js'
import type { Setback } from '../../versioning/failure.js'
import { parseMementoDatetime } from '../../versioning/memento/memento-datetime.js'
import { documentLinks, historyLinks, mementoLinks, mementoUri } from '../../versioning/memento/time-map.js'
import { type DocumentState, documentFactsOf } from '../documents/facts.js'
import { hashedNTriples } from '../documents/mailboxes.js'
import type { Application, Member } from '../gateway.js'
import type { Field, Response } from '../http/exchange.js'
import { parseAccept } from '../http/media-type.js'
import type { Target } from '../http/target.js'
import { type Problem, isFailure, problem } from '../problem.js'
import { graphOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { type Facts, decideOn } from '../request/access.js'
import { graphUrl, rightsOnGraphs } from '../request/agent-graph-rights.js'
import type { Context } from '../request/context.js'
import { mayReadState } from '../request/decide-on-state.js'
import { hidesMailboxes } from '../request/hide-mailboxes.js'
import { methodNotAllowed, refusalOf } from '../request/refusal.js'
import { READ_METHODS, response } from '../request/respond.js'
import type { Decided } from '../request/route.js'
import { answerDifference } from './difference.js'
import {
  type HistoryRequest,
  cacheControl,
  commitsPending,
  findVersion,
  historyFailed,
  historyLinkField,
  refuseHistory,
  versionsOf,
} from './history-request.js'
import { answerMemento, mementoFields } from './memento.js'
import { LINK_FORMAT, answerTimeMap } from './time-map.js'
import { type IsOpen, type ReadHistory, stateInVersion, visibleHistory } from './visible-versions.js'
import { setTimeout as sleep } from 'node:timers/promises'

const VARY: Field = ['Vary', 'accept-datetime']

async function answerTimeGate(asked: HistoryRequest): Promise<Response | Problem> {
  const { document, context } = asked
  const list = await versionsOf(asked)
  if (isFailure(list)) return refuseHistory(asked, list, undefined, [VARY])
  const wanted = context.request.fields['accept-datetime']
  const datetime = wanted === undefined ? undefined : parseMementoDatetime(wanted)
  const isMalformed = wanted !== undefined && datetime === undefined
  const chosen = isMalformed ? undefined : await list.closest(datetime)
  if (isFailure(chosen)) return refuseHistory(asked, historyFailed(context, chosen), undefined, [VARY])
  const around = await list.around(chosen)
  if (isFailure(around)) return refuseHistory(asked, historyFailed(context, around), undefined, [VARY])
  if (isMalformed) {
    // RFC 7089 §4.5.3
    const detail = 'Accept-Datetime must be a date such as Sun, 06 Nov 1994 08:49:37 GMT.'
    return refuseHistory(asked, problem('request.malformed', detail), historyLinks(document, around), [VARY])
  }
  if (!chosen)
    return refuseHistory(asked, problem('document.no-versions', 'This document has no versions.'), undefined, [VARY])
  return response(302, [
    ['Location', mementoUri(document, chosen)],
    cacheControl(asked, 'no-cache'),
    VARY,
    historyLinkField(asked, historyLinks(document, around, chosen)),
  ])
}

export type HistoryTarget = Extract<Target<Member>, { kind: 'version' | 'diff' | 'timemap' | 'timegate' }>

export async function answerHistory({
  context,
  target,
  facts,
  decision,
}: Decided<HistoryTarget>): Promise<Response | Problem> {
  const { application, request } = context
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const asked = await historyRequestOf({ context, facts, decision }, context.gateway.commitsWait)
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
      return answerTimeMap(asked, target)
    case 'timegate':
      return answerTimeGate(asked)
  }
}

/**
 * The history, for an agent who may read the document or, if it is deleted, could read its last version (design 6).
 * Agents who may learn that the document does not exist get an empty history; all others are refused.
 * @param decision the decision on reading the document
 * @param patience how long to wait for pending commits, in ms
 */
export async function historyRequestOf(
  { context, facts, decision }: Pick<Decided, 'context' | 'facts' | 'decision'>,
  patience: number,
): Promise<HistoryRequest | Problem> {
  // The time of a refusal must not tell whether the document exists or existed.
  const leastTime = decision.allowed ? undefined : sleep(REFUSAL_MS)
  const { agent, application } = context
  // Notes the rights by which versions are shown, for the decision after the wait for them (decide-again.ts).
  const rights = rightsOnGraphs(context, 'Read')
  if (isFailure(rights)) return rights
  const history = historyFor(application, facts)
  const isOther = facts.kind !== 'document'
  const document = isOther ? graphUrl(application, facts.iri) : facts.iri
  const state = await lastState(context, facts, patience)
  if (isFailure(state) && (decision.allowed || decision.absent)) return state
  const onState = isFailure(state) || state === facts ? decision : decideOn(context, state, 'Read')
  if (isFailure(onState)) return onState
  if (!onState.allowed) await leastTime
  if (!onState.allowed && !decision.absent) return refusalOf(decision, context, document)
  // The log keeps the decision on the write of a PUT that restores.
  if (context.trace.decision?.required === 'Read') context.trace.decision = onState.allowed ? onState : decision
  const isAnonymous = agent.webId === undefined
  const isHashed = hidesMailboxes(context)
  // Shared caches must not give anonymous clients what other agents get in the admin application.
  const isTheirs = !isAnonymous && application.kind === 'admin'
  const forEveryone =
    isFailure(state) || isTheirs
      ? undefined
      : isAnonymous
        ? onState
        : decideOn({ ...context, agent: {} }, state, 'Read')
  const isPublic = forEveryone !== undefined && !isFailure(forEveryone) && mayBeShared(forEveryone)
  if (!onState.allowed)
    return { context, history: visibleHistory(NO_HISTORY, never).history, document, isPublic, isHashed }
  const { history: visible, isSeenByEveryone } = visibleHistory(
    history,
    isOther ? openIfReadable(context, facts) : opennessOf(context, history, document),
  )
  return {
    context,
    history: isHashed ? hashedHistory(visible) : visible,
    document,
    // Evaluated only after the versions are known.
    get isPublic() {
      return isPublic && isSeenByEveryone()
    },
    isHashed,
  }
}

/** A graph that is not a document has its history under its name, which may differ from the URL of the request. */
function historyFor({ history, isRecorded }: Application, { kind, iri }: Facts): ReadHistory {
  if (!history) return NO_HISTORY
  if (kind === 'document') return history
  if (!isRecorded(iri)) return NO_HISTORY
  return {
    outline: (_, patience) => history.outline(iri, patience),
    numbered: (_, numbers) => history.numbered(iri, numbers),
    resolve: (_, ...asked) => history.resolve(iri, ...asked),
    content: (_, version) => history.content(iri, version),
  }
}

/** Rights on a graph that is not a document do not depend on its state. */
const openIfReadable =
  (context: Context, facts: Facts): IsOpen =>
  () => {
    const [agent, everyone] = [decideOn(context, facts, 'Read'), decideOn({ ...context, agent: {} }, facts, 'Read')]
    const isOpen = (decision: Decision | Problem): boolean => !isFailure(decision) && decision.allowed
    return Promise.resolve({ agent: isOpen(agent), everyone: isOpen(everyone) })
  }

/** True if the current rules would let the document be read in the last version before its deletion. */
const opennessOf =
  (context: Context, history: ReadHistory, document: string): IsOpen =>
  async (last) => {
    const state = await rightsAt(context, history, document, last)
    if (isFailure(state)) return state
    return {
      agent: mayReadState(context, context.agent, state),
      everyone: mayReadState(context, {}, state),
    }
  }

async function rightsAt(
  { application: { base }, gateway: { caches } }: Context,
  history: ReadHistory,
  document: string,
  last: Version,
): Promise<DocumentState | Setback> {
  const key = `${last.blob} ${document}`
  const known = caches.rights.get(key)
  if (known) return known
  const content = await history.content(document, last)
  if (isFailure(content)) return content
  const state = stateInVersion(document, base, content ?? '')
  caches.rights.set(key, state)
  return state
}

const REFUSAL_MS = 25

const hashedHistory = (history: HistoryRequest['history']): HistoryRequest['history'] => ({
  ...history,
  content: async (...asked) => {
    const content = await history.content(...asked)
    return typeof content === 'string' ? hashedNTriples(content) : content
  },
})

const mayBeShared = ({ allowed, absent, unenforced }: Decision): boolean => !unenforced && (allowed || absent)

function unversioned({ accept }: Context, { kind }: HistoryTarget): Problem {
  // Spec 7: 406 on ?timemap with Accept application/link-format when the document is not versioned.
  if (kind === 'timemap' && parseAccept(accept).some(({ type, q }) => type === LINK_FORMAT.mediaType && q > 0)) {
    return problem('negotiation.not-acceptable', 'This document is not versioned.')
  }
  return problem('document.no-versions', 'This document has no versions: its dataspace is not versioned.')
}

/** Spec 7: 405. The refusal has the links and fields of the memento (RFC 7089 §4.5.7). */
async function readOnly(asked: HistoryRequest, target: HistoryTarget): Promise<Response | Problem> {
  const reason = methodNotAllowed(asked.context.request.method, READ_METHODS)
  if (target.kind !== 'version') return refuseHistory(asked, reason, historyLinks(asked.document))
  const found = await findVersion(asked, target.version)
  const memento = isFailure(found) ? undefined : found.memento
  if (isFailure(found) || !memento) return refuseHistory(asked, reason, historyLinks(asked.document))
  return refuseHistory(asked, reason, mementoLinks(asked.document, found.around, memento), mementoFields(memento))
}

/** For agents to whom a deleted document must look like one that never existed. */
const NO_HISTORY: ReadHistory = {
  outline: () => Promise.resolve({ count: 0, deletions: [], pending: false }),
  numbered: () => Promise.resolve([]),
  resolve: () => Promise.resolve(undefined),
  content: () => Promise.resolve(undefined),
}

const never: IsOpen = () => Promise.resolve({ agent: false, everyone: false })

/**
 * The last state of a deleted document: the decision then uses its types and owners, not those of any item or
 * container.
 */
async function lastState(context: Context, facts: Facts, patience: number): Promise<Facts | Problem> {
  const { history, base } = context.application
  if (!history || facts.kind !== 'document' || facts.document) return facts
  const found = await history.lastExcerpt(facts.iri, patience)
  if (isFailure(found)) return historyFailed(context, found)
  if (found.pending) return commitsPending(context)
  if (found.excerpt === undefined) return facts
  return { ...facts, document: documentFactsOf(facts.iri, base, graphOf(readNTriples(found.excerpt) ?? [])) }
}

/**
 * The links of a refused request, for an agent who may read the document: TimeMap and TimeGate of an existing or a
 * deleted document (RFC 7089 §4.2.1, §4.5.2).
 */
export async function linksOfRefused(context: Context, facts: Facts): Promise<readonly string[]> {
  const { history } = context.application
  if (!history || facts.kind !== 'document') return []
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return []
  if (facts.document) return decision.allowed ? documentLinks(facts.iri) : []
  const asked = decision.allowed ? undefined : await historyRequestOf({ context, facts, decision }, 0)
  if (isFailure(asked)) return []
  const found = await (asked ? asked.history.list(facts.iri, 0) : history.outline(facts.iri, 0))
  return isFailure(found) || (found.count === 0 && !found.pending) ? [] : documentLinks(facts.iri)
}
