// Writes the difference between two versions of a document (spec 9.6) as RDF Patch, JSON, or RDF in the ChangeSet
// vocabulary. Pure: versions may be large, so a thread runs it.
import {
  linesBySubject,
  documentDifference,
  rdfPatchOf,
  type DocumentDifference,
} from '../../versioning/memento/difference.js'
import { JSON_FORMAT, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { canonicalLines } from './canonical.js'
import { graphOf, iri, nTriplesOf, quad, triple, typed, type Quad } from './graph.js'
import { readNTriples } from './read.js'
import { CS, PROV, RDF, XSD } from './vocabulary.js'
import { jsonTerm } from './write-sparql-results.js'
import { writeGraph } from './write.js'

const rdfPatch = 'application/rdf-patch'
export const RDF_PATCH: Format = { mediaType: rdfPatch, code: 'rdfp', contentType: `${rdfPatch};charset=UTF-8` }

/** Two versions of a document, and the URI of their difference. */
export interface Compared {
  readonly document: string
  readonly uri: string
  readonly from: ComparedVersion
  readonly to: ComparedVersion
}

interface ComparedVersion {
  readonly commit: string
  /** Undefined if this version deleted the document. */
  readonly uri: string | undefined
  /** xsd:dateTime. */
  readonly time: string
  /** N-Triples; '' if this version deleted the document. */
  readonly content: string
}

/** In UTF-16 units of the differing lines, by format. RDF Patch contains these lines; RDF has five triples for each. */
const LARGEST: Readonly<Record<string, number>> = { [RDF_PATCH.code]: 32 * 2 ** 20, [JSON_FORMAT.code]: 8 * 2 ** 20 }
const LARGEST_RDF = 2 * 2 ** 20

/** The difference in the first of these formats that can express it, otherwise a Problem. */
export function writeDifference(
  compared: Compared,
  formats: readonly Format[],
): { readonly format: Format; readonly text: string } | Problem {
  const difference = compare(compared)
  if (isFailure(difference)) return difference
  const size = [...difference.added, ...difference.removed].reduce((sum, { length }) => sum + length, 0)
  let reason: Problem | undefined
  for (const format of formats) {
    const text = size > largestIn(format) ? tooLarge(difference, format) : write(compared, difference, format)
    if (!isFailure(text)) return { format, text }
    if (text.failure !== 'negotiation.not-acceptable') return text
    reason ??= text
  }
  return reason!
}

const isPatch = ({ code }: Format): boolean => code === RDF_PATCH.code
const largestIn = ({ code }: Format): number => LARGEST[code] ?? LARGEST_RDF

const tooLarge = ({ added, removed }: DocumentDifference, format: Format): Problem =>
  problem(
    'negotiation.not-acceptable',
    `${added.length} triples added and ${removed.length} removed are too many for ${format.mediaType}. ` +
      (isPatch(format) ? 'Read both versions.' : `Ask for ${rdfPatch}, or read both versions.`),
  )

function compare({ from, to }: Compared): DocumentDifference | Problem {
  const { added, removed } = documentDifference(inOrder(from.content), inOrder(to.content))
  // Commits not made by the gateway may spell the same triple differently, so canonical lines are compared.
  const [more, less] = [canonical(added), canonical(removed)]
  if (more === undefined || less === undefined) {
    return problem('history.failed', 'These versions cannot be compared: one of them is not N-Triples.')
  }
  return documentDifference(less, more)
}

/** Commits not made by the gateway may have lines in any order, or duplicates. */
function inOrder(text: string): string {
  const lines = text.split('\n')
  return new Set(lines).size === lines.length ? text : [...new Set(lines)].join('\n')
}

function canonical(lines: readonly string[]): string | undefined {
  const sorted = canonicalLines(lines.join('\n'))
  return sorted && nTriplesOf({ lines: sorted })
}

function write(compared: Compared, difference: DocumentDifference, format: Format): string | Problem {
  if (isPatch(format)) return rdfPatchOf(difference)
  if (format.code === JSON_FORMAT.code) return JSON.stringify(differenceJson(compared, difference)) + '\n'
  return writeGraph(graphOf(changeSetTriples(compared, difference)), format)
}

interface SubjectTriples {
  readonly subject: Quad['subject']
  readonly added: readonly Quad[]
  readonly removed: readonly Quad[]
}

const subjectsOf = (difference: DocumentDifference): SubjectTriples[] =>
  linesBySubject(difference).map((lines) => {
    const [added, removed] = [readNTriples(lines.added.join('\n'))!, readNTriples(lines.removed.join('\n'))!]
    return { subject: [...added, ...removed][0]!.subject, added, removed }
  })

/** The difference in the ChangeSet vocabulary: one change set per subject, with reified statements. */
function changeSetTriples({ uri, from, to }: Compared, difference: DocumentDifference): Quad[] {
  const triples = [triple(uri, RDF('type'), iri(PROV('Collection')))]
  for (const version of [from, to]) {
    if (version.uri !== undefined) triples.push(triple(uri, PROV('wasDerivedFrom'), iri(version.uri)))
  }
  for (const [i, { subject, added, removed }] of subjectsOf(difference).entries()) {
    const changeSet = `${uri}#${i + 1}`
    triples.push(
      triple(uri, PROV('hadMember'), iri(changeSet)),
      triple(changeSet, RDF('type'), iri(CS('ChangeSet'))),
      quad(iri(changeSet), iri(CS('subjectOfChange')), subject),
      triple(changeSet, CS('createdDate'), typed(to.time, XSD('dateTime'))),
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
  const version = ({ commit, uri, time }: ComparedVersion): object => ({
    version: commit,
    ...(uri !== undefined && { uri }),
    time,
  })
  const values = (triples: readonly Quad[]): object[] =>
    triples.map(({ predicate, object }) => ({ predicate: predicate.value, object: jsonTerm(object) }))
  return {
    original: document,
    from: version(from),
    to: version(to),
    added: difference.added.length,
    removed: difference.removed.length,
    subjects: subjectsOf(difference).map(({ subject, added, removed }) => ({
      subject: jsonTerm(subject),
      added: values(added),
      removed: values(removed),
    })),
  }
}
