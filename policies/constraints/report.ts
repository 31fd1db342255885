// The validation report (SHACL §3.6): the results that refuse a document, and nothing else. Pure.
import type { NamedNode, Quad, Term } from '@rdfjs/types'
import { RDF_TYPE } from '../vocabulary.js'
import { XSD } from '../datatypes.js'
import { SH, type Factory, type TripleIndex } from './graph.js'
import { messagesOf } from './messages.js'
import { pathTriples } from './paths.js'
import type { Result } from './validation.js'

export function reportOf(results: readonly Result[], shapes: TripleIndex, rdf: Factory): readonly Quad[] {
  const sh = (name: string): NamedNode => rdf.namedNode(SH + name)
  const type = rdf.namedNode(RDF_TYPE)
  const report = rdf.blankNode()
  const isFalse = rdf.literal('false', rdf.namedNode(`${XSD}boolean`))
  const triples = [rdf.quad(report, type, sh('ValidationReport')), rdf.quad(report, sh('conforms'), isFalse)]
  for (const result of results) {
    const { focus, path, value, shape, constraint } = result
    const node = rdf.blankNode()
    const say = (property: string, term: Term): number => triples.push(rdf.quad(node, sh(property), term))
    triples.push(rdf.quad(report, sh('result'), node), rdf.quad(node, type, sh('ValidationResult')))
    say('focusNode', focus)
    say('resultSeverity', rdf.namedNode(shape.severity.value))
    say('sourceConstraintComponent', rdf.namedNode(constraint.component))
    // A blank node of the ontologies means nothing here.
    if (shape.node.termType === 'NamedNode') say('sourceShape', shape.node)
    if (constraint.source?.termType === 'NamedNode') say('sourceConstraint', constraint.source)
    if (path) {
      const written = pathTriples(path, rdf)
      say('resultPath', written.node)
      triples.push(...written.triples)
    }
    if (value) say('value', value)
    for (const { text, language, datatype } of messagesOf(result, shapes))
      say('resultMessage', rdf.literal(text, language || (datatype ?? rdf.namedNode(`${XSD}string`))))
  }
  return triples
}
