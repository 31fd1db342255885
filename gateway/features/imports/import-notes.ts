// Notes on runs in the document that describes their imports: when each ran, or why it failed (LinkedDataHub 2.8).
import type { Document } from '../../documents/document.js'
import { dateTime } from '../../documents/next-state.js'
import { putDocument } from '../../methods/put-document.js'
import { writingOf } from '../../methods/write.js'
import { isFailure } from '../../problem.js'
import { iri, text, triple, typed, type Quad } from '../../rdf/graph.js'
import { DCT, PROV, RDF, XSD } from '../../rdf/vocabulary.js'
import { decideOn } from '../../request/access.js'
import type { Context } from '../../request/context.js'

export interface DescribedBy {
  readonly document: string
  /** The import; undefined if it is a blank node, whose label differs in the document. */
  readonly subject: string | undefined
}

export interface Note {
  /** The import. */
  readonly subject: string
  readonly startedAt: number
  readonly endedAt: number
  readonly failure?: string | undefined
}

/** Characters of N-Triples: larger documents get no notes, since they would have to be read and written whole. */
const LARGEST = 256 * 1024

/**
 * Adds the notes as the agent of the runs, who needs Append on the document as for any write. A document that was
 * deleted meanwhile stays deleted. Never throws, since the write and the run have already been carried out.
 */
export async function noteRuns(context: Context, document: string, notes: readonly Note[]): Promise<void> {
  const { gateway } = context
  const outcome = await putDocument(writingOf(context), document, (current) => {
    if (!current || current.nTriples.length > LARGEST || !mayAppend(context, document, current)) return 'unchanged'
    const { triples } = current.graph()
    const described = notes.filter(({ subject }) => triples.some((each) => each.subject.value === subject))
    if (described.length === 0) return 'unchanged'
    return [...triples, ...described.flatMap((note) => noteTriples(note, `${document}#run-${gateway.uuid()}`))]
  }).catch((error: unknown) => ({ failure: 'internal', err: error }) as const)
  if (isFailure(outcome)) gateway.log.warn({ document, problem: outcome }, 'an import cannot be noted there')
}

function mayAppend(context: Context, iri: string, document: Document): boolean {
  const decision = decideOn(context, { kind: 'document', iri, document, answeredAt: 0 }, 'Append')
  return !isFailure(decision) && decision.allowed
}

function noteTriples({ subject, startedAt, endedAt, failure }: Note, name: string): Quad[] {
  const time = (property: string, value: number): Quad =>
    triple(subject, PROV(property), typed(dateTime(value), XSD('dateTime')))
  const times = [time('startedAtTime', startedAt), time('endedAtTime', endedAt)]
  if (failure === undefined) return times
  return [
    ...times,
    triple(name, RDF('type'), iri(PROV('Entity'))),
    triple(name, PROV('wasGeneratedBy'), iri(subject)),
    triple(name, DCT('description'), text(failure)),
  ]
}
