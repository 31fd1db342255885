// In charge of `?timemap`: the list of a document's versions, in link format for Memento clients, as RDF and as JSON (spec 9.4).
import { entityTag } from '../../cache/entity-tag.js'
import type { Version } from '../../versioning/change.js'
import { historyLinks, mementosOf, mementoUri, timeMapText, timeMapUri } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import { graphOf } from '../rdf/graph.js'
import { HTML, JSON_FORMAT, negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import { cacheControl, historyLinkField, refuse, versionsOf, type HistoryRequest } from './history-request.js'
import { answerHistoryPage } from './history-pages.js'
import { isFailure, type Problem } from '../problem.js'
import { dateTimeInSeconds, timeMapTriples } from '../rdf/time-map-triples.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/conditions.js'
import { askerOf, type Context } from '../request/context.js'
import { response } from '../request/respond.js'
import { nameOfList } from './visible-versions.js'

const linkFormat = 'application/link-format'
export const LINK_FORMAT: Format = { mediaType: linkFormat, code: 'link', contentType: linkFormat }

/** Link format first: links to TimeMaps announce it, and Memento clients send no Accept field. */
const FORMATS: readonly Format[] = [LINK_FORMAT, ...RDF_FORMATS, JSON_FORMAT]

/** @param page of the history as a page for people, from 1 */
export async function answerTimeMap(asked: HistoryRequest, page = 1): Promise<Response> {
  const { document, context } = asked
  const versions = await versionsOf(asked)
  if (isFailure(versions)) return refuse(asked, versions)
  if (negotiate(context.accept, [...FORMATS, HTML]) === HTML) return answerHistoryPage(asked, versions, page)
  const mementos = mementosOf(versions)
  const links = historyLinks(document, mementos)
  const { accept, request } = context
  const format = negotiate(accept, FORMATS)
  if (!format) return refuse(asked, notAcceptable(FORMATS), links)
  const current = { entityTags: [entityTag(nameOfList(versions), format.code)] }
  const fields: Field[] = [
    ['ETag', current.entityTags[0]!],
    cacheControl(asked, 'no-cache'),
    ['Vary', 'Accept'],
    historyLinkField(asked, links),
  ]
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuse(asked, outcome, links)
  const body = await write(context, document, versions, format, current.entityTags[0]!)
  if (isFailure(body)) return refuse(asked, body, links)
  return response(200, [['Content-Type', format.contentType], ...fields], Buffer.from(body))
}

/** RDF of more versions is written in a thread, and cached: each version has about eight triples. */
const QUICKLY_WRITTEN = 200

async function write(
  context: Context,
  document: string,
  versions: readonly Version[],
  format: Format,
  entityTag: string,
): Promise<string | Uint8Array | Problem> {
  if (format === LINK_FORMAT) return timeMapText(document, mementosOf(versions))
  if (format === JSON_FORMAT) return timeMapJson(document, versions)
  if (versions.length <= QUICKLY_WRITTEN) return writeGraph(graphOf(timeMapTriples(document, versions)), format)
  const { caches, reading } = context.gateway
  const key = `${timeMapUri(document)} ${entityTag}`
  const known = caches.histories.get(key)
  if (known) return known.bytes
  const bytes = await reading.writeTimeMap(askerOf(context), document, versions, format)
  if (!isFailure(bytes)) caches.histories.set(key, { format, bytes })
  return bytes
}

/** Times are xsd:dateTime without fractions. A version that deleted the document has no `uri`. */
export interface TimeMapJson {
  readonly original: string
  readonly timemap: string
  readonly versions: readonly {
    readonly version: string
    readonly uri?: string
    readonly time: string
    readonly agent?: string
    readonly method?: string
    readonly added?: number
    readonly removed?: number
    readonly restores?: string
  }[]
}

/** Everything known about the versions, deletions included: for the history dialog and the command line. */
function timeMapJson(document: string, versions: readonly Version[]): string {
  const json: TimeMapJson = {
    original: document,
    timemap: timeMapUri(document),
    versions: versions.map(({ commit, blob, time, agent, method, added, removed, restores }) => ({
      version: commit,
      ...(blob !== undefined && { uri: mementoUri(document, { commit }) }),
      time: dateTimeInSeconds(time),
      ...(agent !== undefined && { agent }),
      ...(method !== undefined && { method }),
      ...(added !== undefined && { added }),
      ...(removed !== undefined && { removed }),
      ...(restores !== undefined && { restores }),
    })),
  }
  return JSON.stringify(json) + '\n'
}
