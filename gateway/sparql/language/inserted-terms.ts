// The constants that an update would insert: stores let in terms that RDF does not allow. Pure.
import { flawOf, iri, quad } from '../../rdf/graph.js'
import type { ParsedValues } from './parse.js'
import { triplePartsOf, rdfTerm } from './rdf-term.js'
import { nodesOf, type Node } from './tree.js'

const ANY = iri('urn:any')

/** Why the operations would insert what no document may have, or create such a graph; undefined where they do not. */
export function flawOfInserted(operations: readonly Node[], values: ParsedValues): string | undefined {
  // Many triples have one subject: a long one is read once.
  const flawless = new Set<unknown>()
  for (const { subType, graph, data, insert, destination } of operations) {
    // The triples of such a graph may be removed.
    if (subType === 'drop' || subType === 'clear') continue
    const inserted = subType === 'insertdata' ? data : insert
    const nodes = [{ graph }, { graph: (destination as Node | undefined)?.['graph'] }, ...nodesOf(inserted)]
    for (const node of nodes) {
      const flaw = flawOfNode(node, values, flawless)
      if (flaw !== undefined) return `it would insert ${flaw}`
    }
  }
  return undefined
}

/** Of the name of a graph, the terms of a triple, or a reifier. */
function flawOfNode(
  { graph, subject, predicate, object, identifier, val }: Node,
  values: ParsedValues,
  flawless: Set<unknown>,
): string | undefined {
  const { type, subType } = (subject ?? {}) as Node
  // RDF 1.2 Concepts §3.1: a subject is an IRI or a blank node.
  if (type === 'term' && (subType === 'literal' || subType === 'triple')) {
    return subType === 'literal' ? 'a literal as subject' : 'a triple term as subject'
  }
  for (const term of [graph, subject, predicate, object, identifier, val]) {
    if (flawless.has(term)) continue
    const flaw = flawOfTerm(term as Node | undefined, values)
    if (flaw !== undefined) return flaw
    flawless.add(term)
  }
  return undefined
}

function flawOfTerm(term: Node | undefined, values: ParsedValues): string | undefined {
  if (term?.['type'] !== 'term') return undefined
  const constant = rdfTerm(term, values)
  if (constant) return flawOf(quad(ANY, ANY, constant))
  if (term['subType'] !== 'triple') return undefined
  return triplePartsOf(term)
    .map((part) => flawOfTerm(part, values))
    .find((flaw) => flaw !== undefined)
}
