// The validation report (SHACL §3.6): only the results that refuse a document. Pure.
import { XSD } from '../datatypes.js'
import { RDF_TYPE } from '../vocabulary.js'
import { type Factory, RDF, SH, type TripleIndex } from './graph.js'
import { pathTriples } from './paths.js'
import type { Result } from './validation.js'
import type { Literal, NamedNode, Quad, Term } from '@rdfjs/types'

/** SHACL §5.3.2: replaces names in braces by the values of variables and parameters. */
function messagesOf({ focus, value, constraint, found }: Result, shapes: TripleIndex): readonly Message[] {
  const own = found.solution?.get('message')
  const given = own?.termType === 'Literal' ? [own] : constraint.messages.find(({ length }) => length > 0)
  const named = new Map([...constraint.parameters, ['this', focus], ...(found.solution ?? [])])
  if (value) named.set('value', value)
  const filled = (text: string): string =>
    text.replace(/\{[?$]([^{}?$]{1,100})\}/g, (braces, name: string) => {
      const term = named.get(name)
      return term ? inWords(term, shapes) : braces
    })
  return given
    ? given.map(({ value: text, language, datatype }) => ({ text: filled(text), language, datatype }))
    : [{ text: filled(constraint.text), language: '', datatype: undefined }]
}

interface Message {
  readonly text: string
  readonly language: string
  readonly datatype: Literal['datatype'] | undefined
}

const MOST_MEMBERS = 5
/** A value may be as long as a document, and a message may repeat it. Its beginning is enough for people. */
const MOST_CHARACTERS = 200
const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).toWellFormed()}…` : text

function inWords(term: Term, shapes: TripleIndex): string {
  const members = shapes.objects(term, `${RDF}first`).length > 0 ? shapes.list(term) : undefined
  if (!members) return term.termType === 'BlankNode' ? 'a blank node' : shortened(term.value)
  const shown = members.slice(0, MOST_MEMBERS).map(({ value }) => shortened(value))
  return [...shown, ...(members.length > MOST_MEMBERS ? ['…'] : [])].join(', ')
}

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
    // Blank nodes of the ontologies have no meaning here.
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
