// In charge of `?timemap`: the list of a document's versions, for Memento clients, as RDF and as JSON (spec 9.4).
import { entityTag } from '../../cache/entity-tag.js'
import type { Version } from '../../versioning/change.js'
import { historyLinks, mementosOf, mementoUri, timeMapText, timeMapUri } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import { graphOf } from '../rdf/graph.js'
import { negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import { cacheControl, pastLinks, refuse, versionsOf, type Past } from './answer.js'
import { isFailure, type Problem } from '../problem.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/conditions.js'
import { response } from '../request/respond.js'
import { dateTime, timeMapTriples } from './time-map-triples.js'

const linkFormat = 'application/link-format'
export const LINK_FORMAT: Format = { mediaType: linkFormat, code: 'link', contentType: linkFormat }
export const JSON_FORMAT: Format = { mediaType: 'application/json', code: 'json', contentType: 'application/json' }

/** Link format first: it is what the links to TimeMaps announce, and Memento clients send no Accept field. */
const FORMATS: readonly Format[] = [LINK_FORMAT, ...RDF_FORMATS, JSON_FORMAT]

export async function answerTimeMap(asked: Past): Promise<Response> {
  const { document, context } = asked
  const versions = await versionsOf(asked)
  if (isFailure(versions)) return refuse(asked, versions)
  const mementos = mementosOf(versions)
  const links = historyLinks(document, mementos)
  const { accept, request } = context
  const format = negotiate(accept, FORMATS)
  if (!format) return refuse(asked, notAcceptable(FORMATS), links)
  // A commit has its parents in its id: the last one stands for all of them.
  const current = { entityTags: [entityTag(versions.at(-1)!.commit, format.code)] }
  const fields: Field[] = [
    ['ETag', current.entityTags[0]!],
    cacheControl(asked, 'no-cache'),
    ['Vary', 'Accept'],
    pastLinks(asked, links),
  ]
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuse(asked, outcome, links)
  const body = write(document, versions, format)
  if (isFailure(body)) return refuse(asked, body, links)
  return response(200, [['Content-Type', format.contentType], ...fields], Buffer.from(body))
}

function write(document: string, versions: readonly Version[], format: Format): string | Problem {
  if (format === LINK_FORMAT) return timeMapText(document, mementosOf(versions))
  if (format === JSON_FORMAT) return timeMapJson(document, versions)
  return writeGraph(graphOf(timeMapTriples(document, versions)), format)
}

/** Times are xsd:dateTime without fractions; `uri` is missing where the document was deleted. */
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

/** All that is known, deletions included: for the history dialog and the command line. */
function timeMapJson(document: string, versions: readonly Version[]): string {
  const json: TimeMapJson = {
    original: document,
    timemap: timeMapUri(document),
    versions: versions.map(({ commit, blob, time, agent, method, added, removed, restores }) => ({
      version: commit,
      ...(blob !== undefined && { uri: mementoUri(document, { commit }) }),
      time: dateTime(time),
      ...(agent !== undefined && { agent }),
      ...(method !== undefined && { method }),
      ...(added !== undefined && { added }),
      ...(removed !== undefined && { removed }),
      ...(restores !== undefined && { restores }),
    })),
  }
  return JSON.stringify(json) + '\n'
}
