// Finds the constants of an update that no document may contain (design 3). Pure.
import { flawOf, iri, quad } from '../../rdf/graph.js'
import type { ParsedValues } from './parse.js'
import { rdfTerm, triplePartsOf } from './rdf-term.js'
import { isTerm, isVariable, nodesOf, type Node } from './tree.js'

const ANY = iri('urn:any')

/** Why the inserted triples, or a created graph, would be invalid in any document; undefined if they are valid. */
export function flawOfInserted(operations: readonly Node[], values: ParsedValues): string | undefined {
  // Many triples share a subject: check a long one once.
  const flawless = new Set<unknown>()
  for (const operation of operations) {
    const { subType, graph, data, insert, destination } = operation
    // Triples of an invalid graph may still be removed.
    if (subType === 'drop' || subType === 'clear') continue
    const inserted = subType === 'insertdata' ? data : insert
    const nodes = [{ graph }, { graph: (destination as Node | undefined)?.['graph'] }, ...nodesOf(inserted)]
    for (const node of nodes) {
      const flaw = flawOfNode(node, values, flawless)
      if (flaw !== undefined) return insertsFlaw(flaw)
    }
    const flaw = flawOfAssigned(operation, values)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

const insertsFlaw = (flaw: string): string => `it would insert ${flaw}`

/**
 * Why a constant is invalid that BIND, VALUES, SELECT or GROUP BY gives to a variable of the inserted triples. Other
 * constants may be invalid: they find triples to remove.
 */
export function flawOfAssigned({ insert, where }: Node, values: ParsedValues): string | undefined {
  if (!insert) return undefined
  const inserted = new Set<unknown>()
  for (const node of nodesOf(insert)) for (const name of variablesIn(Object.values(node))) inserted.add(name)
  if (inserted.size === 0) return undefined
  for (const node of nodesOf(where)) {
    for (const [name, term] of assignmentsOf(node)) {
      const flaw = inserted.has(name) ? flawOfTerm(term, values) : undefined
      if (flaw !== undefined) return insertsFlaw(flaw)
    }
  }
  return undefined
}

const variablesIn = (terms: readonly unknown[]): readonly unknown[] =>
  terms.flatMap((term) => {
    if (isVariable(term)) return [term['value']]
    return isTripleTerm(term) ? variablesIn(triplePartsOf(term)) : []
  })

const isTripleTerm = (term: unknown): term is Node => isTerm(term) && term['subType'] === 'triple'

/** The names of variables, and the expressions or constants that the node gives them. */
function* assignmentsOf({ subType, variable, expression, value, values }: Node): Generator<[unknown, unknown]> {
  if (isVariable(variable)) yield [variable['value'], expression ?? value]
  if (subType === 'values') for (const row of nodesOf(values)) yield* Object.entries(row)
}

/** The node is the name of a graph, a term of a triple, or a reifier. */
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
    const flaw = flawOfTerm(term, values)
    if (flaw !== undefined) return flaw
    flawless.add(term)
  }
  return undefined
}

function flawOfTerm(term: unknown, values: ParsedValues): string | undefined {
  if (!isTerm(term)) return undefined
  const constant = rdfTerm(term, values)
  if (constant) return flawOf(quad(ANY, ANY, constant))
  if (term['subType'] !== 'triple') return undefined
  return triplePartsOf(term)
    .map((part) => flawOfTerm(part, values))
    .find((flaw) => flaw !== undefined)
}
