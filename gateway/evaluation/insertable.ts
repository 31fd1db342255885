// Decides which values of solutions an update may insert (design 3). Pure.
import { isPlain } from '../rdf/canonical.js'
import { flawOf, nTriplesTerm, type Term } from '../rdf/graph.js'
import { readNTriples } from '../rdf/n-triples.js'

/** True if the value, in canonical N-Triples, may be inserted. */
export type Insertable = (value: string) => boolean

/**
 * SPARQL 1.1 Update §3.1.3: a triple with an illegal term is not inserted. Functions and constants can make such terms.
 * Terms that the store already has, in one of these lines, may be copied.
 * @param lines the triples that the pattern may read; they are only asked for if a value has a flaw
 */
export function insertableOver(lines: () => Iterable<string>): Insertable {
  let known: ReadonlySet<string> | undefined
  return (value) => {
    const line = `<urn:any> <urn:any> ${value} .`
    if (isPlain(line) || readNTriples(line)?.every((triple) => flawOf(triple) === undefined)) return true
    return (known ??= oddTermsIn(lines())).has(value)
  }
}

type Terms = Readonly<Record<'subject' | 'predicate' | 'object', Term>>

/** The terms of the lines that are not plain: all terms with a flaw are among them. */
function oddTermsIn(lines: Iterable<string>): ReadonlySet<string> {
  const terms = new Set<string>()
  for (const line of lines) {
    if (isPlain(line)) continue
    for (const triple of readNTriples(line) ?? []) addTerms(triple, terms)
  }
  return terms
}

function addTerms({ subject, predicate, object }: Terms, terms: Set<string>): void {
  for (const term of [subject, predicate, object]) {
    terms.add(nTriplesTerm(term))
    if (term.termType === 'Quad') addTerms(term, terms)
  }
}
