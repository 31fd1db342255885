// In charge of `?timemap`: the list of a document's versions, in link format for Memento clients, as RDF and as JSON (spec 9.4).
import { entityTag } from '../../cache/entity-tag.js'
import type { Version } from '../../versioning/change.js'
import { historyLinks, mementosOf, mementoUri, timeMapText, timeMapUri } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import { flawOf, graphOf, iri, text, triple, typed, type Quad } from '../rdf/graph.js'
import { negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import { cacheControl, historyLinkField, refuse, versionsOf, type HistoryRequest } from './history-request.js'
import { isFailure, type Problem } from '../problem.js'
import { HTTP, PROV, RDF, XSD } from '../rdf/vocabulary.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/conditions.js'
import { response } from '../request/respond.js'
import { nameOfList } from './visible-versions.js'

const linkFormat = 'application/link-format'
export const LINK_FORMAT: Format = { mediaType: linkFormat, code: 'link', contentType: linkFormat }
export const JSON_FORMAT: Format = { mediaType: 'application/json', code: 'json', contentType: 'application/json' }

/** Link format first: links to TimeMaps announce it, and Memento clients send no Accept field. */
const FORMATS: readonly Format[] = [LINK_FORMAT, ...RDF_FORMATS, JSON_FORMAT]

export async function answerTimeMap(asked: HistoryRequest): Promise<Response> {
  const { document, context } = asked
  const versions = await versionsOf(asked)
  if (isFailure(versions)) return refuse(asked, versions)
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
  const body = write(document, versions, format)
  if (isFailure(body)) return refuse(asked, body, links)
  return response(200, [['Content-Type', format.contentType], ...fields], Buffer.from(body))
}

function write(document: string, versions: readonly Version[], format: Format): string | Problem {
  if (format === LINK_FORMAT) return timeMapText(document, mementosOf(versions))
  if (format === JSON_FORMAT) return timeMapJson(document, versions)
  return writeGraph(graphOf(timeMapTriples(document, versions)), format)
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

/** xsd:dateTime in UTC without fractions (spec 2.3). */
export const dateTimeInSeconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')

/**
 * The TimeMap in PROV-O (spec 9.4), with the agent and method of each version.
 * @param versions oldest first; a version that deleted the document invalidates the one before it, and is no member
 */
function timeMapTriples(document: string, versions: readonly Version[]): Quad[] {
  const timeMap = timeMapUri(document)
  const triples = [triple(timeMap, RDF('type'), iri(PROV('Collection')))]
  let before: string | undefined
  let deleted = false
  for (const version of versions) {
    if (version.blob === undefined) {
      if (before === undefined || deleted) continue
      deleted = true
      triples.push(triple(before, PROV('invalidatedAtTime'), typed(dateTimeInSeconds(version.time), XSD('dateTime'))))
      triples.push(...activity(document, version, before, PROV('wasInvalidatedBy')))
      continue
    }
    deleted = false
    const memento = mementoUri(document, version)
    triples.push(
      triple(timeMap, PROV('hadMember'), iri(memento)),
      triple(memento, RDF('type'), iri(PROV('Entity'))),
      triple(memento, PROV('specializationOf'), iri(document)),
      triple(memento, PROV('generatedAtTime'), typed(dateTimeInSeconds(version.time), XSD('dateTime'))),
      ...activity(document, version, memento, PROV('wasGeneratedBy')),
    )
    if (version.agent !== undefined) triples.push(triple(memento, PROV('wasAttributedTo'), iri(version.agent)))
    if (before !== undefined) triples.push(triple(memento, PROV('wasRevisionOf'), iri(before)))
    if (version.restores !== undefined) {
      triples.push(triple(memento, PROV('wasDerivedFrom'), iri(mementoUri(document, { commit: version.restores }))))
    }
    before = memento
  }
  // Commits that the gateway did not make may name agents by texts that are no IRIs.
  return triples.filter((one) => flawOf(one) === undefined)
}

/** The write, with its method and agent. A commit that the gateway did not make has none. */
function activity(document: string, version: Version, entity: string, relation: string): Quad[] {
  const { method, agent } = version
  if (method === undefined) return []
  const write = `${mementoUri(document, version)}#write`
  return [
    triple(entity, relation, iri(write)),
    triple(write, RDF('type'), iri(PROV('Activity'))),
    triple(write, HTTP('methodName'), text(method)),
    ...(agent === undefined ? [] : [triple(write, PROV('wasAssociatedWith'), iri(agent))]),
  ]
}
