// The RDF terms that are constants in the tree of a query or an update. Pure.
import { blankNode, iri, literal, quad, typed, type Literal, type Quad } from '../../rdf/graph.js'
import type { ParsedValues } from './parse.js'
import { isIriNode, isVariable, type Node } from './tree.js'

/** Undefined for a variable, or a triple term with a variable. Recursion is bounded, since brackets are. */
export function rdfTerm(term: Node, values: ParsedValues): Quad['object'] | undefined {
  if (isVariable(term)) return undefined
  if (isIriNode(term)) return iri(values.iriOf(term))
  if (term['subType'] === 'blankNode') return blankNode(String(term['label']))
  if (term['subType'] === 'triple') {
    const [subject, predicate, object] = triplePartsOf(term).map((part) => rdfTerm(part, values))
    return subject && predicate && object && quad(subject as Quad['subject'], predicate as Quad['predicate'], object)
  }
  const value = values.lexicalOf(term)
  const { langOrIri } = term
  if (isIriNode(langOrIri)) return typed(value, values.iriOf(langOrIri))
  return literalOf(value, langOrIri)
}

/** SPARQL 1.2 §19.8 [165]: a base direction follows two hyphens. */
export function literalOf(value: string, tag = ''): Literal {
  const [language, direction] = tag.split('--')
  return literal(value, direction === undefined ? language || undefined : ({ language: language!, direction } as never))
}

export const triplePartsOf = ({ subject, predicate, object }: Node): readonly Node[] =>
  [subject, predicate, object] as Node[]
