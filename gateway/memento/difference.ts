// `?version=B&diff=A`: the triples of version B that are not in A, and those of A that are not in B (spec 9.6).
import { entityTag } from '../../cache/entity-tag.js'
import type { Version } from '../../versioning/change.js'
import { documentLinks, mementoUri } from '../../versioning/memento/time-map.js'
import type { Converted } from '../evaluation/reading.js'
import type { Field, Response } from '../http/exchange.js'
import { inOrderOf, JSON_FORMAT, OTHER_RDF_NAMES, RDF_FORMATS, type Format } from '../http/media-type.js'
import {
  findVersion,
  historyFailed,
  historyLinkField,
  immutable,
  refuseHistory,
  variantOf,
  type HistoryRequest,
} from './history-request.js'
import { isFailure, type Problem } from '../problem.js'
import { dateTimeInSeconds } from '../rdf/time-map-triples.js'
import { RDF_PATCH } from '../rdf/write-difference.js'
import { evaluateConditions, notAcceptable } from '../request/negotiate.js'
import { askerOf } from '../request/context.js'
import { prefersPage } from '../request/page-answer.js'
import { answerDifferencePage } from './history-pages.js'
import { response } from '../request/respond.js'

const FORMATS: readonly Format[] = [...RDF_FORMATS, JSON_FORMAT, RDF_PATCH, ...OTHER_RDF_NAMES]

interface Asked {
  readonly uri: string
  readonly from: Version
  readonly to: Version
  /** Most preferred first. */
  readonly formats: readonly Format[]
}

/** @param earlier and `later` are ids of versions, 4 to 40 hexadecimal digits; either may be the older one */
export async function answerDifference(
  asked: HistoryRequest,
  earlier: string,
  later: string,
): Promise<Response | Problem> {
  const { document, context } = asked
  const links = documentLinks(document)
  const [from, to] = [await findVersion(asked, earlier), await findVersion(asked, later)]
  if (isFailure(from)) return refuseHistory(asked, from, links)
  if (isFailure(to)) return refuseHistory(asked, to, links)
  if (prefersPage(context.accept)) return answerDifferencePage(asked, from.version, to.version, links)
  const formats = inOrderOf(context.accept, FORMATS)
  if (formats.length === 0) return refuseHistory(asked, notAcceptable(FORMATS), links)
  const uri = `${mementoUri(document, to.version)}&diff=${from.version.commit}`
  const written = await difference(asked, { uri, from: from.version, to: to.version, formats })
  if (isFailure(written)) return refuseHistory(asked, written, links)
  const { format, bytes } = written
  const compared = `${from.version.commit}..${to.version.commit}${variantOf(asked)}`
  const current = { entityTags: [entityTag(compared, format.code)] }
  const fields: Field[] = [
    ['ETag', current.entityTags[0]!],
    immutable(asked),
    ['Vary', 'Accept'],
    ['Content-Location', uri],
    historyLinkField(asked, links),
  ]
  const outcome = evaluateConditions(context.request, current)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuseHistory(asked, outcome, links)
  return response(
    200,
    [['Content-Type', format.contentType], ...fields],
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  )
}

/** From the cache, since versions never change, otherwise from a thread. */
async function difference(asked: HistoryRequest, { uri, from, to, formats }: Asked): Promise<Converted | Problem> {
  const { history, document, context } = asked
  const { histories } = context.gateway.caches
  // One entry per format, since formats can be preferred in many orders.
  const keyOf = ({ code }: Format): string => `${uri} ${code}${variantOf(asked)}`
  const able = formats.find((format) => histories.get(keyOf(format))?.bytes !== NO_FORM)
  const known = able && histories.get(keyOf(able))
  if (known) return known
  const [before, after] = await Promise.all([history.content(document, from), history.content(document, to)])
  if (isFailure(before)) return historyFailed(context, before)
  if (isFailure(after)) return historyFailed(context, after)
  // A version that deleted the document has no triples.
  const versionOf = ({ commit, blob, time }: Version, content = '') => ({
    commit,
    uri: blob === undefined ? undefined : mementoUri(document, { commit }),
    time: dateTimeInSeconds(time),
    content,
  })
  const compared = { document, uri, from: versionOf(from, before), to: versionOf(to, after) }
  const written = await context.gateway.reading.writeDifference(askerOf(context), compared, formats)
  if (isFailure(written)) return written
  const chosen = formats.findIndex(({ code }) => code === written.format.code)
  for (const format of formats.slice(0, chosen)) histories.set(keyOf(format), { format, bytes: NO_FORM })
  histories.set(keyOf(written.format), written)
  return written
}

/** Stored instead of a difference that this format cannot express, or that is too large for it. */
const NO_FORM = new Uint8Array()
