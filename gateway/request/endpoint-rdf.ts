// Reads the RDF that is sent to an endpoint, and reports its violations in a form that programs understand too.
import { askerOf, contextsFor, type Context } from './context.js'
import { blankNode, graphOf, iri, nTriplesOf, quad, text, typed, type Quad, type Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { ACCEPT_POST } from '../rdf/read.js'
import { RDF, SH, XSD } from '../rdf/vocabulary.js'

/** Forms are small, and clients without any right may send them. */
const LARGEST = 64 * 1024

/** @param endpoint its IRI: the base of relative IRIs */
export async function readContent(context: Context, endpoint: string): Promise<readonly Quad[] | Problem> {
  const { request, gateway, trace } = context
  const body = await request.readBody(Math.min(LARGEST, gateway.settings.maxBody))
  trace.continues()
  if (isFailure(body)) return body
  const contentType = request.fields['content-type']
  if (contentType !== undefined || body.length > 0) {
    return gateway.reading.readRdf(askerOf(context), { body, contentType, base: endpoint }, contextsFor(context))
  }
  return problem('content.unsupported', 'Send RDF with its Content-Type.', { fields: [['Accept-Post', ACCEPT_POST]] })
}

/** The triples by subject. A client may send many subjects, so all triples are read in one pass. */
export type TriplesBySubject = ReadonlyMap<string, readonly Quad[]>

const keyOf = ({ termType, value }: Term): string => `${termType} ${value}`

export function indexBySubject(content: readonly Quad[]): TriplesBySubject {
  const described = new Map<string, Quad[]>()
  for (const one of content) {
    const about = described.get(keyOf(one.subject))
    if (about) about.push(one)
    else described.set(keyOf(one.subject), [one])
  }
  return described
}

export const objectsOf = (content: TriplesBySubject, subject: Term, property: string): Term[] =>
  (content.get(keyOf(subject)) ?? []).flatMap(({ predicate, object }) => (predicate.value === property ? [object] : []))

/** The subjects with one of these types, without duplicates. */
export const instancesOf = (content: TriplesBySubject, ...types: readonly string[]): Term[] =>
  [...content.values()].flatMap((about) =>
    about.some(({ predicate, object }) => predicate.value === RDF('type') && types.includes(object.value))
      ? [about[0]!.subject]
      : [],
  )

/** A violated constraint: the property, and a sentence for people. */
export type Violation = readonly [property: string, message: string]

/** Combines all violations in one problem, with a SHACL validation report (SHACL §3.6). */
export function violated(violations: readonly Violation[]): Problem {
  const report = blankNode('report')
  const results = violations.flatMap(([property, message], i) => {
    const result = blankNode(`result${i}`)
    return [
      quad(report, iri(SH('result')), result),
      quad(result, iri(RDF('type')), iri(SH('ValidationResult'))),
      quad(result, iri(SH('resultSeverity')), iri(SH('Violation'))),
      quad(result, iri(SH('resultPath')), iri(property)),
      quad(result, iri(SH('resultMessage')), text(message)),
    ]
  })
  const head = [
    quad(report, iri(RDF('type')), iri(SH('ValidationReport'))),
    quad(report, iri(SH('conforms')), typed('false', XSD('boolean'))),
  ]
  const detail = violations.map(([, message]) => message).join(' ')
  return problem('constraint.violated', detail, { report: nTriplesOf(graphOf([...head, ...results])) })
}
