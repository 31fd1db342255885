// Converts terms, paths and triples of the parser's tree to those of our own tree (syntax.ts). Pure.
import { RDF } from '../../rdf/vocabulary.js'
import type { ParsedValues as Originals } from './parse.js'
import { isIriNode, isVariable, type Node } from './tree.js'
import {
  iriTerm,
  variable,
  type Iri,
  type Path,
  type PathOperator,
  type Term,
  type Triple,
  type Variable,
} from './syntax.js'

/** Thrown if the parser's tree has anything unknown; read-tree.ts catches it. */
export class Unknown extends Error {}

export const listed = (value: unknown): readonly Node[] => value as readonly Node[]

export function variableOf(node: unknown): Variable {
  if (!isVariable(node)) throw new Unknown()
  return variable(String(node['value']))
}

export const variableNameOf = (node: unknown, originals: Originals): Iri | Variable =>
  isIriNode(node) ? iriTerm(originals.iriOf(node)) : variableOf(node)

export function termOf(node: unknown, originals: Originals): Term {
  const term = node as Node
  if (term['type'] !== 'term') throw new Unknown()
  switch (term['subType']) {
    case 'namedNode':
      return iriTerm(originals.iriOf(term))
    case 'variable':
      return variableOf(term)
    case 'blankNode':
      return { kind: 'blank', value: labelOf(term['label'], originals) }
    case 'literal': {
      const { langOrIri } = term
      const value = originals.lexicalOf(term)
      if (isIriNode(langOrIri)) return { kind: 'literal', value, datatype: originals.iriOf(langOrIri) }
      return { kind: 'literal', value, language: langOrIri as string | undefined }
    }
    case 'triple': {
      const part = (name: string): Term => termOf(term[name], originals)
      return { kind: 'triple', subject: part('subject'), predicate: part('predicate'), object: part('object') }
    }
    default:
      throw new Unknown()
  }
}

const labels = new WeakMap<Originals, Map<unknown, string>>()

/** The parser numbers the blank nodes of all texts consecutively. Here the same text always gets the same labels. */
function labelOf(label: unknown, originals: Originals): string {
  const known = labels.get(originals) ?? new Map<unknown, string>()
  labels.set(originals, known)
  const own = known.get(label) ?? `b${known.size + 1}`
  known.set(label, own)
  return own
}

const OPERATORS: ReadonlySet<unknown> = new Set<PathOperator>(['/', '|', '^', '!', '*', '+', '?'])

function pathOf(node: unknown, originals: Originals): Path {
  if (isIriNode(node)) return iriTerm(originals.iriOf(node))
  const { type, subType, items } = node as Node
  if (type !== 'path' || !OPERATORS.has(subType)) throw new Unknown()
  const read = listed(items).map((item) => pathOf(item, originals))
  return { kind: 'path', operator: subType as PathOperator, items: read }
}

/** Collections, blank nodes in brackets and annotations become separate triples (SPARQL 1.1 §4.2, SPARQL 1.2 §4.3). */
export function triplesOf(nodes: unknown, originals: Originals): readonly Triple[] {
  const found: Triple[] = []
  // The same node gives the same term.
  const known = new Map<unknown, Term>()
  const single = (node: unknown): Term => {
    const term = known.get(node) ?? termOf(node, originals)
    known.set(node, term)
    return term
  }
  const add = (subject: Term, predicate: Triple['predicate'], object: Term): void =>
    void found.push({ subject, predicate, object })
  const reifies = (reifier: Term, subject: Term, predicate: unknown, object: Term): void =>
    add(reifier, REIFIES, { kind: 'triple', subject, predicate: single(predicate), object })
  const nested = (node: Node): Term => {
    if (node['type'] !== 'tripleCollection') return single(node)
    const identifier = single(node['identifier'])
    if (node['subType'] === 'reifiedTriple') {
      const { subject, predicate, object } = listed(node['triples'])[0]!
      reifies(identifier, nested(subject as Node), predicate, nested(object as Node))
    } else for (const triple of listed(node['triples'])) collect(triple)
    return identifier
  }
  const collect = (node: Node): void => {
    if (node['type'] === 'tripleCollection') return void nested(node)
    if (node['type'] !== 'triple') throw new Unknown()
    const subject = nested(node['subject'] as Node)
    const predicate = node['predicate'] as Node
    const { length } = found
    const object = nested(node['object'] as Node)
    const verb = predicate['type'] === 'path' ? pathOf(predicate, originals) : single(predicate)
    // Stores read it in this order: `SELECT *` selects variables in the order of the text.
    found.splice(length, 0, { subject, predicate: verb, object })
    for (const annotation of listed(node['annotations'] ?? [])) {
      const reifier = 'val' in annotation ? single(annotation['val']) : nested(annotation)
      reifies(reifier, subject, predicate, object)
    }
  }
  for (const node of listed(nodes)) collect(node)
  return found
}
const REIFIES = iriTerm(RDF('reifies'))
