// In charge of `?version=B&diff=A`: the triples of version B that are not in A, and those of A that are not in B (spec 9.6).
import { entityTag } from '../../cache/entity-tag.js'
import type { Version } from '../../versioning/change.js'
import {
  bySubject,
  documentDifference,
  rdfPatchOf,
  type DocumentDifference,
} from '../../versioning/memento/difference.js'
import { documentLinks, mementoUri } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import { graphOf, iri, nTriplesOf, quad, triple, typed, type Quad, type Term } from '../rdf/graph.js'
import { negotiate, RDF_FORMATS, type Format } from '../http/media-type.js'
import {
  findVersion,
  historyFailed,
  historyLinkField,
  immutable,
  inAcceptedFormat,
  refuse,
  variantOf,
  type HistoryRequest,
} from './history-request.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { CS, PROV, RDF, XSD } from '../rdf/vocabulary.js'
import { writeGraph } from '../rdf/write.js'
import { evaluateConditions, notAcceptable } from '../request/conditions.js'
import { response } from '../request/respond.js'
import { dateTimeInSeconds, JSON_FORMAT } from './time-map.js'

const rdfPatch = 'application/rdf-patch'
const RDF_PATCH: Format = { mediaType: rdfPatch, code: 'rdfp', contentType: `${rdfPatch};charset=UTF-8` }
const FORMATS: readonly Format[] = [...RDF_FORMATS, JSON_FORMAT, RDF_PATCH]

/** Two versions of a document, and the URI of their difference. */
interface Compared {
  readonly document: string
  readonly uri: string
  readonly from: Version
  readonly to: Version
}

/** @param earlier and `later` are ids of versions, 4 to 40 hexadecimal digits; either may be the older one */
export async function answerDifference(asked: HistoryRequest, earlier: string, later: string): Promise<Response> {
  const { document, context } = asked
  const links = documentLinks(document)
  const [from, to] = [await findVersion(asked, earlier), await findVersion(asked, later)]
  if (isFailure(from)) return refuse(asked, from, links)
  if (isFailure(to)) return refuse(asked, to, links)
  const { accept, request } = context
  if (!negotiate(accept, FORMATS)) return refuse(asked, notAcceptable(FORMATS), links)
  const compared = {
    document,
    uri: `${mementoUri(document, to.version)}&diff=${from.version.commit}`,
    from: from.version,
    to: to.version,
  }
  const difference = await compare(asked, compared)
  if (isFailure(difference)) return refuse(asked, difference, links)
  const representation = await inAcceptedFormat(accept, FORMATS, (format) => write(compared, difference, format))
  if (isFailure(representation)) return refuse(asked, representation, links)
  const { format, written: body } = representation
  const current = {
    entityTags: [entityTag(`${from.version.commit}..${to.version.commit}${variantOf(asked)}`, format.code)],
  }
  const fields: Field[] = [
    ['ETag', current.entityTags[0]!],
    immutable(asked),
    ['Vary', 'Accept'],
    ['Content-Location', compared.uri],
    historyLinkField(asked, links),
  ]
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') return response(304, fields)
  if (outcome !== 'proceed') return refuse(asked, outcome, links)
  return response(200, [['Content-Type', format.contentType], ...fields], Buffer.from(body))
}

/** A version that deleted the document has no triples. */
async function compare(
  { history, document, context }: HistoryRequest,
  { from, to }: Compared,
): Promise<DocumentDifference | Problem> {
  const [before, after] = await Promise.all([history.content(document, from), history.content(document, to)])
  if (isFailure(before)) return historyFailed(context, before)
  if (isFailure(after)) return historyFailed(context, after)
  const { added, removed } = documentDifference(before ?? '', after ?? '')
  // Commits that the gateway did not make may write the same triple in another way: only differing triples count.
  const [more, less] = [canonical(added), canonical(removed)]
  if (more === undefined || less === undefined) {
    return problem('history.failed', 'These versions cannot be compared: one of them is not N-Triples.')
  }
  return documentDifference(less, more)
}

function canonical(lines: readonly string[]): string | undefined {
  const triples = readNTriples(lines.join('\n'))
  return triples && nTriplesOf(graphOf(triples))
}

function write(compared: Compared, difference: DocumentDifference, format: Format): string | Problem {
  if (format === RDF_PATCH) return rdfPatchOf(difference)
  if (format === JSON_FORMAT) return JSON.stringify(differenceJson(compared, difference)) + '\n'
  return writeGraph(graphOf(changeSetTriples(compared, difference)), format)
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

/** The difference in the ChangeSet vocabulary: one change set for each subject, with reified statements. */
function changeSetTriples({ document, uri, from, to }: Compared, difference: DocumentDifference): Quad[] {
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
      triple(changeSet, CS('createdDate'), typed(dateTimeInSeconds(to.time), XSD('dateTime'))),
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

function differenceJson({ document, from, to }: Compared, difference: DocumentDifference): object {
  const version = ({ commit, blob, time }: Version): object => ({
    version: commit,
    ...(blob !== undefined && { uri: mementoUri(document, { commit }) }),
    time: dateTimeInSeconds(time),
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

/** A term as in SPARQL 1.1 Query Results JSON §3.2.2. */
function termJson(term: Term): object {
  if (term.termType !== 'Literal') return { type: term.termType === 'BlankNode' ? 'bnode' : 'uri', value: term.value }
  const { value, language, datatype } = term
  if (language) return { type: 'literal', value, 'xml:lang': language }
  return { type: 'literal', value, ...(datatype.value !== XSD('string') && { datatype: datatype.value }) }
}
