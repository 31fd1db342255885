// In charge of the TimeMap as RDF: PROV-O, as spec 9.4 has it, with who wrote each version and how. Pure.
import type { Version } from '../../versioning/change.js'
import { mementoUri, timeMapUri } from '../../versioning/memento/time-map.js'
import { flawOf, iri, text, triple, typed, type Quad } from '../rdf/graph.js'
import { HTTP, PROV, RDF, XSD } from '../rdf/vocabulary.js'

/** xsd:dateTime in UTC without fractions (spec 2.3). */
export const dateTime = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')

/** @param versions oldest first; one that deleted the document invalidates the one before it, and is no member. */
export function timeMapTriples(document: string, versions: readonly Version[]): Quad[] {
  const timeMap = timeMapUri(document)
  const triples = [triple(timeMap, RDF('type'), iri(PROV('Collection')))]
  let before: string | undefined
  let deleted = false
  for (const version of versions) {
    if (version.blob === undefined) {
      if (before === undefined || deleted) continue
      deleted = true
      triples.push(triple(before, PROV('invalidatedAtTime'), typed(dateTime(version.time), XSD('dateTime'))))
      triples.push(...activity(document, version, before, PROV('wasInvalidatedBy')))
      continue
    }
    deleted = false
    const memento = mementoUri(document, version)
    triples.push(
      triple(timeMap, PROV('hadMember'), iri(memento)),
      triple(memento, RDF('type'), iri(PROV('Entity'))),
      triple(memento, PROV('specializationOf'), iri(document)),
      triple(memento, PROV('generatedAtTime'), typed(dateTime(version.time), XSD('dateTime'))),
      ...activity(document, version, memento, PROV('wasGeneratedBy')),
    )
    if (version.agent !== undefined) triples.push(triple(memento, PROV('wasAttributedTo'), iri(version.agent)))
    if (before !== undefined) triples.push(triple(memento, PROV('wasRevisionOf'), iri(before)))
    if (version.restores !== undefined) {
      triples.push(triple(memento, PROV('wasDerivedFrom'), iri(mementoUri(document, { commit: version.restores }))))
    }
    before = memento
  }
  // Commits that others made may name agents by anything.
  return triples.filter((one) => flawOf(one) === undefined)
}

/** The write itself: which method, by whom. There is nothing to say of a commit that the gateway did not make. */
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
