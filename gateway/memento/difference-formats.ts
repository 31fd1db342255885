// In charge of a difference as RDF (the ChangeSet vocabulary: one change set per subject, statements reified) and as
// JSON (terms as SPARQL 1.1 Query Results JSON has them). Pure.
import type { Version } from '../../versioning/change.js'
import { bySubject, type DocumentDifference } from '../../versioning/memento/difference.js'
import { mementoUri } from '../../versioning/memento/time-map.js'
import { iri, quad, triple, typed, type Quad, type Term } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { dateTime } from './time-map-triples.js'
import { CS, PROV, RDF, XSD } from '../rdf/vocabulary.js'

/** Two versions of a document, and the URI of what differs between them. */
export interface Compared {
  readonly document: string
  readonly uri: string
  readonly from: Version
  readonly to: Version
}

interface SubjectTriples {
  readonly subject: Quad['subject']
  readonly added: readonly Quad[]
  readonly removed: readonly Quad[]
}

const subjectsOf = (difference: DocumentDifference): SubjectTriples[] =>
  bySubject(difference).map((lines) => {
    const [added, removed] = [readNTriples(lines.added.join('\n'))!, readNTriples(lines.removed.join('\n'))!]
    return { subject: [...added, ...removed][0]!.subject, added, removed }
  })

export function changeSetTriples({ document, uri, from, to }: Compared, difference: DocumentDifference): Quad[] {
  const triples = [triple(uri, RDF('type'), iri(PROV('Collection')))]
  for (const version of [from, to]) {
    if (version.blob === undefined) continue
    triples.push(triple(uri, PROV('wasDerivedFrom'), iri(mementoUri(document, version))))
  }
  for (const [i, { subject, added, removed }] of subjectsOf(difference).entries()) {
    const changeSet = `${uri}#${i + 1}`
    triples.push(
      triple(uri, PROV('hadMember'), iri(changeSet)),
      triple(changeSet, RDF('type'), iri(CS('ChangeSet'))),
      quad(iri(changeSet), iri(CS('subjectOfChange')), subject),
      triple(changeSet, CS('createdDate'), typed(dateTime(to.time), XSD('dateTime'))),
      ...reified(changeSet, 'addition', added),
      ...reified(changeSet, 'removal', removed),
    )
  }
  return triples
}

const reified = (changeSet: string, kind: 'addition' | 'removal', triples: readonly Quad[]): Quad[] =>
  triples.flatMap(({ subject, predicate, object }, i) => {
    const statement = iri(`${changeSet}-${kind}-${i + 1}`)
    return [
      quad(iri(changeSet), iri(CS(kind)), statement),
      quad(statement, iri(RDF('type')), iri(RDF('Statement'))),
      quad(statement, iri(RDF('subject')), subject),
      quad(statement, iri(RDF('predicate')), predicate),
      quad(statement, iri(RDF('object')), object),
    ]
  })

export function differenceJson({ document, from, to }: Compared, difference: DocumentDifference): object {
  const version = ({ commit, blob, time }: Version): object => ({
    version: commit,
    ...(blob !== undefined && { uri: mementoUri(document, { commit }) }),
    time: dateTime(time),
  })
  const values = (triples: readonly Quad[]): object[] =>
    triples.map(({ predicate, object }) => ({ predicate: predicate.value, object: termJson(object) }))
  return {
    original: document,
    from: version(from),
    to: version(to),
    added: difference.added.length,
    removed: difference.removed.length,
    subjects: subjectsOf(difference).map(({ subject, added, removed }) => ({
      subject: termJson(subject),
      added: values(added),
      removed: values(removed),
    })),
  }
}

/** SPARQL 1.1 Query Results JSON §3.2.2 */
function termJson(term: Term): object {
  if (term.termType !== 'Literal') return { type: term.termType === 'BlankNode' ? 'bnode' : 'uri', value: term.value }
  const { value, language, datatype } = term
  if (language) return { type: 'literal', value, 'xml:lang': language }
  return { type: 'literal', value, ...(datatype.value !== XSD('string') && { datatype: datatype.value }) }
}
