// `?timegate`: the redirect to the version closest to a datetime (RFC 7089 §4.2.1, spec 9.5).
import { parseMementoDatetime } from '../../versioning/memento/memento-datetime.js'
import { historyLinks, mementoUri } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import {
  cacheControl,
  historyFailed,
  historyLinkField,
  refuseHistory,
  versionsOf,
  type HistoryRequest,
} from './history-request.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { response } from '../request/respond.js'

const VARY: Field = ['Vary', 'accept-datetime']

export async function answerTimeGate(asked: HistoryRequest): Promise<Response | Problem> {
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
    const detail = 'Accept-Datetime has to be a date such as Sun, 06 Nov 1994 08:49:37 GMT.'
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
