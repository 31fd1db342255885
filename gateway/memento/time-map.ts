// `?timemap`: the list of a document's versions, in link format for Memento clients, as RDF and as JSON (spec 9.4).
import { entityTag } from '../../cache/entity-tag.js'
import { historyLinks, mementoUri, timeMapText, type TimeMap } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import { graphOf } from '../rdf/graph.js'
import { HTML, JSON_FORMAT, negotiate, OTHER_RDF_NAMES, RDF_FORMATS, type Format } from '../http/media-type.js'
import {
  cacheControl,
  historyFailed,
  historyLinkField,
  refuseHistory,
  versionsOf,
  type HistoryRequest,
} from './history-request.js'
import { answerHistoryPage } from './history-pages.js'
import { VERSIONS_PER_PAGE } from '../pages/history-page.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { dateTimeInSeconds, timeMapTriples } from '../rdf/time-map-triples.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/negotiate.js'
import { askerOf, type Context } from '../request/context.js'
import { response } from '../request/respond.js'
import { VERSIONS_PER_MAP, type VersionList } from './version-list.js'

const linkFormat = 'application/link-format'
export const LINK_FORMAT: Format = { mediaType: linkFormat, code: 'link', contentType: linkFormat }

/** Link format first: links to TimeMaps announce it, and Memento clients send no Accept field. */
const FORMATS: readonly Format[] = [LINK_FORMAT, ...RDF_FORMATS, JSON_FORMAT, ...OTHER_RDF_NAMES]

/** The requested TimeMap; `shown.page` is the page of the history for people, from 1. */
export interface WantedMap {
  readonly map?: number
  readonly shown?: { readonly page: number }
}

export async function answerTimeMap(asked: HistoryRequest, { map, shown }: WantedMap): Promise<Response | Problem> {
  const { document, context } = asked
  const list = await versionsOf(asked)
  if (isFailure(list)) return refuseHistory(asked, list)
  if (map !== undefined && map > list.maps) return refuseHistory(asked, NO_MAP)
  const [around, name] = await Promise.all([list.around(), list.name()])
  if (isFailure(around)) return refuseHistory(asked, historyFailed(context, around))
  if (isFailure(name)) return refuseHistory(asked, historyFailed(context, name))
  const links = historyLinks(document, around)
  if (negotiate(context.accept, [...FORMATS, HTML]) === HTML) {
    return answerHistoryPage(asked, { list, name, links }, shown?.page ?? pageOf(list, map))
  }
  const { accept, request } = context
  const format = negotiate(accept, FORMATS)
  if (!format) return refuseHistory(asked, notAcceptable(FORMATS), links)
  const current = { entityTags: [entityTag(map === undefined ? name : `${name}.${map}`, format.code)] }
  const fields: Field[] = [
    ['ETag', current.entityTags[0]!],
    cacheControl(asked, 'no-cache'),
    ['Vary', 'Accept'],
    historyLinkField(asked, links),
  ]
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuseHistory(asked, outcome, links)
  const read = await list.timeMap(map)
  if (isFailure(read)) return refuseHistory(asked, historyFailed(context, read), links)
  const body = await write(context, read, format, current.entityTags[0]!)
  if (isFailure(body)) return refuseHistory(asked, body, links)
  return response(200, [['Content-Type', format.contentType], ...fields], Buffer.from(body))
}

const NO_MAP = problem('document.no-versions', 'There is no such TimeMap. ?timemap lists those of this document.')

/** The page that shows the newest version of a TimeMap. */
const pageOf = ({ count }: VersionList, map: number | undefined): number =>
  map === undefined ? 1 : 1 + Math.floor(Math.max(0, count - map * VERSIONS_PER_MAP) / VERSIONS_PER_PAGE)

/** More versions are written as RDF in a thread and cached: each has about eight triples. */
const QUICKLY_WRITTEN = 200

async function write(
  context: Context,
  timeMap: TimeMap,
  format: Format,
  entityTag: string,
): Promise<string | Uint8Array | Problem> {
  if (format === LINK_FORMAT) return timeMapText(timeMap)
  if (format === JSON_FORMAT) return timeMapJson(timeMap)
  if (timeMap.versions.length <= QUICKLY_WRITTEN) return writeGraph(graphOf(timeMapTriples(timeMap)), format)
  const { caches, reading } = context.gateway
  const key = `${timeMap.uri} ${entityTag}`
  const known = caches.histories.get(key)
  if (known) return known.bytes
  const bytes = await reading.writeTimeMap(askerOf(context), timeMap, format)
  if (!isFailure(bytes)) caches.histories.set(key, { format, bytes })
  return bytes
}

/** Times are xsd:dateTime without fractions. A version that deleted the document has no `uri`. */
export interface TimeMapJson {
  readonly original: string
  readonly timemap: string
  /** The TimeMaps with the other versions, oldest first, if there are too many versions for one. */
  readonly timemaps?: readonly { readonly uri: string; readonly from: string; readonly until: string }[]
  /** Oldest first. */
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
function timeMapJson({ document, uri, others, versions }: TimeMap): string {
  const timemaps = others.map(({ uri, from, until }) => ({
    ...{ uri, from: dateTimeInSeconds(from), until: dateTimeInSeconds(until) },
  }))
  const json: TimeMapJson = {
    original: document,
    timemap: uri,
    ...(timemaps.length > 0 && { timemaps }),
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
