// A TimeMap as triples (spec 9.4). Pure, so that a thread can write long ones.
import type { Version } from '../../versioning/change.js'
import { mementoUri, timeMapUri, type TimeMap } from '../../versioning/memento/time-map.js'
import { flawOf, iri, text, triple, typed, type Quad } from './graph.js'
import { DCT, HTTP, PROV, RDF, XSD } from './vocabulary.js'

/** xsd:dateTime in UTC without fractions (spec 2.3). */
export const dateTimeInSeconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')

/**
 * The TimeMap in PROV-O (spec 9.4), with the agent and method of each version. A version that deleted the document is
 * not a member but invalidates the one before it. If there are several TimeMaps, the newest has the others as parts.
 */
export function timeMapTriples({ document, uri: timeMap, versions, ...map }: TimeMap): Quad[] {
  const newest = timeMapUri(document)
  const triples = [triple(timeMap, RDF('type'), iri(PROV('Collection')))]
  if (timeMap !== newest) triples.push(triple(timeMap, DCT('isPartOf'), iri(newest)))
  else triples.push(...map.others.map(({ uri }) => triple(timeMap, DCT('hasPart'), iri(uri))))
  let before = map.before && mementoUri(document, map.before)
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
  // Commits not made by the gateway may name agents by texts that are not IRIs.
  return triples.filter((one) => flawOf(one) === undefined)
}

/** The write, with its method and agent. Commits not made by the gateway have neither. */
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
