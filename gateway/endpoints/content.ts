// In charge of the RDF that is sent to an endpoint: reading it, and reporting its violations, to programs too.
import { askerOf, contextsFor, type Context } from '../request/context.js'
import { blankNode, graphOf, iri, nTriplesOf, quad, text, typed, type Quad, type Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { ACCEPT_POST } from '../rdf/read.js'
import { RDF, SH, XSD } from '../rdf/vocabulary.js'

/** @param endpoint its own IRI: relative IRIs are resolved against it */
export async function readContent(context: Context, endpoint: string): Promise<readonly Quad[] | Problem> {
  const { request, gateway, trace } = context
  const body = await request.readBody(gateway.settings.maxBody)
  trace.continues()
  if (isFailure(body)) return body
  const contentType = request.fields['content-type']
  if (contentType !== undefined || body.length > 0) {
    return gateway.reading.readRdf(askerOf(context), { body, contentType, base: endpoint }, contextsFor(context))
  }
  return problem('content.unsupported', 'Send RDF with its Content-Type.', { fields: [['Accept-Post', ACCEPT_POST]] })
}

export const objectsOf = (content: readonly Quad[], subject: Term, property: string): Term[] =>
  content.filter((t) => t.subject.equals(subject) && t.predicate.value === property).map(({ object }) => object)

/** The subjects with one of these types, each once. */
export function instancesOf(content: readonly Quad[], ...types: readonly string[]): Term[] {
  const found = content.filter((t) => t.predicate.value === RDF('type') && types.includes(t.object.value))
  return [...new Map(found.map(({ subject }) => [`${subject.termType} ${subject.value}`, subject as Term])).values()]
}

/** A constraint that the content violates: the property, and a sentence for people. */
export type Violation = readonly [property: string, message: string]

/** All violations as one problem, with a SHACL validation report (SHACL §3.6). */
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
