// Finds variables that may stand for a triple term (RDF 1.2) and also for the name of a graph. Jena fails on such a
// value, and RDF4J on a literal too, so hidden data must not get there. For predicates see jena-predicates.ts. Pure.
import {
  isPath,
  type Expression,
  type Path,
  type GraphPattern,
  type Term,
  type ValuesBlock,
} from '../language/syntax.js'

interface Places {
  /** Variables that may stand for a triple term, as objects may. */
  readonly terms: Set<string>
  /** Variables that name graphs. */
  readonly names: Set<string>
  readonly equal: Equal
}

/** Variables that are compared with these: a store may substitute one for the other. */
export type Equal = Map<string, Set<string>>

/** True if a variable may stand for a triple term and is also the name of a graph. */
export function mayMeetTerm(part: unknown): boolean {
  const { terms, names, equal } = placesIn(part)
  // The loop also visits terms that are added meanwhile.
  for (const name of terms) for (const other of equal.get(name) ?? []) terms.add(other)
  return [...names].some((name) => terms.has(name))
}

/** The variables that a part compares with one another. */
export const equalIn = (part: unknown): Equal => placesIn(part).equal

function placesIn(part: unknown): Places {
  const places: Places = { terms: new Set(), names: new Set(), equal: new Map() }
  collect(part, places)
  return places
}

function collect(part: unknown, places: Places): void {
  if (typeof part !== 'object' || part === null) return
  const { terms, names, equal } = places
  const node = part as GraphPattern | Expression
  if (node.kind === 'graph') add(names, node.name)
  if (node.kind === 'bind') add(terms, node.variable)
  if (node.kind === 'values' && hasOther(node)) add(terms, ...node.variables)
  if (node.kind === 'operation' && ['=', 'sameterm', 'in'].includes(node.operator)) {
    const [first, ...others] = node.args.map((each) => (each.kind === 'variable' ? each.value : undefined))
    for (const other of others) if (first !== undefined && other !== undefined) relate(equal, first, other)
  }
  if (node.kind !== 'triples') return Object.values(part).forEach((each) => collect(each, places))
  for (const { subject, predicate, object } of node.triples) {
    // A path may lead backwards.
    add(terms, object, ...(isPath(predicate) ? [subject] : []))
  }
}

function add(to: Set<string>, ...terms: readonly (Term | Path)[]): void {
  for (const term of terms) {
    if (term.kind === 'variable') to.add(term.value)
    if (term.kind === 'triple') add(to, term.subject, term.predicate, term.object)
  }
}

/** True if VALUES has a term that is not an IRI. */
export const hasOther = ({ rows }: ValuesBlock): boolean =>
  rows.some((row) => row.some((value) => value !== undefined && value.kind !== 'iri'))

function relate(equal: Equal, one: string, other: string): void {
  equal.set(one, (equal.get(one) ?? new Set()).add(other))
  equal.set(other, (equal.get(other) ?? new Set()).add(one))
}

/** Only triples without paths: a store matches them together. */
export const isPlainTriple = (pattern: GraphPattern): boolean =>
  pattern.kind === 'triples' && pattern.triples.every(({ predicate }) => !isPath(predicate))
