// In charge of the notes on a run in the document that describes its import: when it ran, or why it failed (LinkedDataHub 2.8).
import { dateTime } from '../documents/next-state.js'
import { putDocument, type Writing } from '../methods/put-document.js'
import { iri, text, triple, typed, type Quad } from '../rdf/graph.js'
import { DCT, PROV, RDF, XSD } from '../rdf/vocabulary.js'

export interface DescribedBy {
  readonly document: string
  /** The import. */
  readonly subject: string
}

export interface Noted {
  readonly startedAt: number
  readonly endedAt: number
  readonly failure?: string | undefined
}

const NOTES = [PROV('startedAtTime'), PROV('endedAtTime')]

/** A name of its own, so that the next run can take it away. */
const failureOf = (subject: string): string => `${subject}-failure`
const failure = (subject: string, detail: string): Quad[] => [
  triple(failureOf(subject), RDF('type'), iri(PROV('Entity'))),
  triple(failureOf(subject), PROV('wasGeneratedBy'), iri(subject)),
  triple(failureOf(subject), DCT('description'), text(detail)),
]

/** Takes the place of the notes on earlier runs. A document that was deleted meanwhile stays so. */
export function noteRun(writing: Writing, { document, subject }: DescribedBy, noted: Noted): Promise<unknown> {
  const time = (property: string, value: number): Quad =>
    triple(subject, PROV(property), typed(dateTime(value), XSD('dateTime')))
  const notes = [
    time('startedAtTime', noted.startedAt),
    time('endedAtTime', noted.endedAt),
    ...(noted.failure === undefined ? [] : failure(subject, noted.failure)),
  ]
  return putDocument(writing, document, (current) => {
    const triples = current?.graph().triples ?? []
    const isDescribed = triples.some((each) => each.subject.value === subject && each.predicate.value === RDF('type'))
    if (!isDescribed) return 'unchanged'
    const isNote = (each: Quad): boolean =>
      each.subject.value === failureOf(subject) ||
      (each.subject.value === subject && NOTES.includes(each.predicate.value))
    return [...triples.filter((each) => !isNote(each)), ...notes]
  })
}
