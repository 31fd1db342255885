// Entailment from subclasses and subproperties (RDF 1.1 Semantics §9.2.1: rdfs5, rdfs7, rdfs9, rdfs11). Pure.
import { problem, type Problem } from '../problem.js'
import { quad, type Quad, type Term } from './graph.js'
import { RDF, RDFS } from './vocabulary.js'

/** A long chain of classes entails many times its own number of triples. */
const MOST = 500_000

/** The triples and everything entailed by them, possibly with duplicates. */
export function entailed(triples: readonly Quad[]): readonly Quad[] | Problem {
  const all: Quad[] = [...triples]
  const most = MOST + triples.length
  const [properties, classes] = [RDFS('subPropertyOf'), RDFS('subClassOf')].map((relation) =>
    makeAbove(triples, relation),
  )
  for (const { subject, predicate, object } of triples) {
    for (const above of properties!(predicate)) {
      if (above.termType === 'NamedNode') all.push(quad(subject, above, object))
    }
    if (all.length > most) return TOO_MUCH
  }
  for (const triple of [...all]) {
    const { subject, predicate, object } = triple
    if (predicate.value === RDF('type')) for (const above of classes!(object)) all.push(quad(subject, predicate, above as Quad['object'])) // prettier-ignore
    if (all.length > most) return TOO_MUCH
  }
  for (const [relation, above] of [
    [RDFS('subPropertyOf'), properties!],
    [RDFS('subClassOf'), classes!],
  ] as const) {
    for (const { subject, predicate } of triples) {
      if (predicate.value !== relation) continue
      for (const higher of above(subject)) all.push(quad(subject, predicate, higher as Quad['object']))
      if (all.length > most) return TOO_MUCH
    }
  }
  return all
}

const TOO_MUCH = problem('ontology.failed', `The ontologies entail more than ${MOST} triples.`)

/** All superclasses or superproperties, without the term itself. */
function makeAbove(triples: readonly Quad[], relation: string): (below: Term) => readonly Term[] {
  const direct = new Map<string, Term[]>()
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== relation || object.termType === 'Literal') continue
    const above = direct.get(keyOf(subject))
    if (above) above.push(object)
    else direct.set(keyOf(subject), [object])
  }
  const known = new Map<string, readonly Term[]>()
  return (below) => {
    const key = keyOf(below)
    const before = known.get(key)
    if (before) return before
    const reached = new Map<string, Term>([[key, below]])
    for (const each of reached.keys()) for (const next of direct.get(each) ?? []) reached.set(keyOf(next), next)
    reached.delete(key)
    const above = [...reached.values()]
    known.set(key, above)
    return above
  }
}

const keyOf = ({ termType, value }: Term): string => `${termType} ${value}`
