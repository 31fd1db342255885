// `?form=restore&of=VERSION`: asks before restoring an earlier version, which creates a new version (spec 9.6).
import type { Decision } from '../../../policies/decide.js'
import { mementoUri } from '../../../versioning/memento/time-map.js'
import { entityTagOf } from '../../documents/document.js'
import type { Response } from '../../http/exchange.js'
import { TURTLE } from '../../http/media-type.js'
import { historyRequestOf } from '../../memento/history.js'
import { findVersion, historyFailed } from '../../memento/history-request.js'
import { restorePage } from './form-page.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { dateTimeInSeconds } from '../../rdf/time-map-triples.js'
import { graphOf, nTriplesOf } from '../../rdf/graph.js'
import { readNTriples } from '../../rdf/read.js'
import { hasMethod } from '../../request/admission.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'
import { methodNotAllowed, refusalOf } from '../../request/refusal.js'
import type { Decided } from '../../request/route.js'
import { differenceOf, isTooLargeToEdit, ownTriples, shownDocument, tooLargeToEdit } from './turtle-editor.js'
import { sendForm, FORM_METHODS, seeOther, type FormTarget, type SentForm } from '../../request/page-form.js'

const LARGEST = 256 * 1024

interface AskedRestore extends Decided<FormTarget, SentForm | undefined> {
  /** The decision on reading: the question shows the document. */
  readonly reading: Decision
}

export async function answerRestore(
  { context, target, facts, decision, reading }: AskedRestore,
  values: URLSearchParams,
  isSent: boolean,
): Promise<Response | Problem> {
  const { document } = target
  const { method } = context.request
  if (!hasMethod(FORM_METHODS, method)) return methodNotAllowed(method, FORM_METHODS)
  // An agent who may not read the document must not learn whether it exists or existed (design 3).
  const asked = await historyRequestOf({ context, facts, decision: reading }, context.gateway.commitsWait)
  if (isFailure(asked)) return asked
  // For a deleted document, the write itself decides.
  const isThere = facts.kind === 'document' && facts.document !== undefined
  if (isThere && !decision.allowed) return refusalOf(decision, context, document)
  if (!context.application.history) return problem('document.no-versions', 'This document has no versions.')
  const found = await findVersion(asked, (target.query.get('of') ?? '').toLowerCase())
  if (isFailure(found)) return found
  const { memento } = found
  if (!memento) return problem('document.no-versions', 'This version deleted the document.')
  const content = await asked.history.content(document, memento)
  if (isFailure(content)) return historyFailed(context, content)
  if (content === undefined || content.length > LARGEST) return tooLargeToEdit
  const current = await shownDocument(context, document)
  if (isFailure(current)) return current
  if (current && isTooLargeToEdit(current)) return tooLargeToEdit
  const version = { iri: document, nTriples: nTriplesOf(graphOf(readNTriples(content) ?? [])) }
  const view = {
    ...{ frame: frameOf(context, document), document, version: memento.commit },
    time: dateTimeInSeconds(memento.time),
    entityTag: current && entityTagOf(current, TURTLE),
    changed: differenceOf(current ? ownTriples(current) : '', ownTriples(version)),
  }
  if (!isSent) return pageAnswer(200, restorePage(view))
  const ifMatch = values.get('if-match')
  const done = await sendForm(context, {
    ...{ method: 'PUT', url: document, turtle: ownTriples(version) },
    fields: {
      'content-location': mementoUri(document, memento),
      ...(ifMatch ? { 'if-match': ifMatch } : { 'if-none-match': '*' }),
    },
  })
  if (done.status < 400) return seeOther(document)
  return pageAnswer(done.status, restorePage({ ...view, refusal: done }), done.fields)
}
