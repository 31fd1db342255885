// In charge of the constants that an update would insert: stores let in terms that RDF does not allow. Pure.
import { flawOf, iri, literal, quad, typed, type Quad } from '../rdf/graph.js'
import { isIri, type Node } from './tree.js'

const ANY = iri('urn:any')

/** Why the operations would insert what no document may have, or create such a graph; undefined where they do not. */
export function flawOfInserted(operations: readonly Node[], iriOf: (term: Node) => string): string | undefined {
  for (const { type, insert, graph, destination } of operations) {
    // What such a graph has may be removed.
    if (type === 'drop' || type === 'clear') continue
    const blocks = (insert ?? []) as readonly Node[]
    // What names a graph is a term, or an object that has one as `name`.
    const names = [graph, destination, ...blocks].map((named) =>
      isIri(named) ? named : (named as Node | undefined)?.['name'],
    )
    const triples = blocks.flatMap((block) => (block['triples'] ?? []) as readonly Node[])
    for (const term of [
      ...names,
      ...triples.flatMap(({ subject, predicate, object }) => [subject, predicate, object]),
    ]) {
      const flaw = flawOfTerm(term as Node | undefined, iriOf)
      if (flaw !== undefined) return `it would insert ${flaw}`
    }
  }
  return undefined
}

function flawOfTerm(term: Node | undefined, iriOf: (term: Node) => string): string | undefined {
  if (isIri(term)) return flawOf(quad(ANY, ANY, iri(iriOf(term))))
  if (term?.['termType'] !== 'Literal') return undefined
  const { value, language, datatype } = term as Node & { readonly value: string; readonly language: string }
  const object: Quad['object'] = language ? literal(value, language) : typed(value, iriOf(datatype as Node))
  return flawOf(quad(ANY, ANY, object))
}
