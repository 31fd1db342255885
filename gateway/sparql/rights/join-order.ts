// The order in which triples are best matched one after the other: each is matched by what is known by then. Pure.
import { RDF } from '../../rdf/vocabulary.js'
import { type Term, type Triple } from '../language/syntax.js'
import { variablesIn, variablesOf } from '../language/variables.js'

/** The triples, each after those that give values to most of it. Triples of a join: their order changes no answer. */
export function ordered(triples: readonly Triple[]): readonly Triple[] {
  const left = [...triples]
  const known = new Set<string>()
  const found: Triple[] = []
  while (left.length > 0) {
    let best = 0
    for (let i = 1; i < left.length; i++) if (cost(left[i]!, known) < cost(left[best]!, known)) best = i
    const [next] = left.splice(best, 1) as [Triple]
    for (const name of variablesIn(next)) known.add(name)
    found.push(next)
  }
  return found
}

/** Roughly how many triples there are of this kind, as stores guess without statistics. */
function cost(triple: Triple, known: ReadonlySet<string>): number {
  const { subject, predicate, object } = triple
  const isKnown = (term: Term): boolean => variablesOf(term).every((name) => known.has(name))
  const [s, o] = [isKnown(subject), isKnown(object)]
  const p = predicate.kind === 'path' || isKnown(predicate)
  // Triples that share no variable with those before multiply.
  const isApart = known.size > 0 && !variablesIn(triple).some((name) => known.has(name))
  return (isApart ? 0.5 : 0) + (s ? (p || o ? 2 : 10) : o ? (p ? ofObject(triple) : 20) : p ? 30 : 100)
}

/** Many resources have the same type. */
const ofObject = ({ predicate, object }: Triple): number =>
  predicate.kind === 'iri' && predicate.value === RDF('type') && object.kind !== 'variable' ? 5 : 3
