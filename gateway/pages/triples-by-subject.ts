// The part of a document that one page shows: triples by subject, those about the document first. Only the lines of
// that part are parsed, however large the document is (design 7). Pure.
import { readCanonical } from '../rdf/read.js'
import { compareAsBytes, nTriplesTerm, type Quad, type Term } from '../rdf/graph.js'
import { linesBeginning } from '../rdf/sorted-lines.js'

export interface DescribedSubjects {
  readonly subjects: readonly DescribedSubject[]
  /** From 1. */
  readonly part: number
  readonly hasMore: boolean
}

export interface DescribedSubject {
  readonly subject: Term
  readonly properties: readonly DescribedProperty[]
}

export interface DescribedProperty {
  readonly predicate: string
  readonly objects: readonly Term[]
}

/** The limits of one page in triples and characters. At least one triple is always shown. */
const MOST_TRIPLES = 400
const MOST_CHARACTERS = 256 * 1024

/** @param nTriples canonical; its lines are sorted */
export function describedIn(document: string, nTriples: string, part: number): DescribedSubjects {
  const own = linesBeginning(nTriples, `<${document}> `)
  const isOwn = `<${document}> `
  let [at, left] = [0, part]
  let lines: string[] = []
  let characters = 0
  const take = (line: string): boolean => {
    const isFull = lines.length >= MOST_TRIPLES || (lines.length > 0 && characters + line.length > MOST_CHARACTERS)
    if (isFull && --left === 0) return false
    if (isFull) [lines, characters] = [[], 0]
    lines.push(line)
    characters += line.length
    return true
  }
  for (const line of own) if (!take(line)) return describe(document, lines, part, true)
  while (at < nTriples.length) {
    const end = nTriples.indexOf('\n', at)
    const line = nTriples.slice(at, end < 0 ? undefined : end)
    at = end < 0 ? nTriples.length : end + 1
    if (line !== '' && !line.startsWith(isOwn) && !take(line)) return describe(document, lines, part, true)
  }
  // A part beyond the last one shows the last.
  return describe(document, lines, part - left + 1, false)
}

const describe = (document: string, lines: readonly string[], part: number, hasMore: boolean): DescribedSubjects => ({
  subjects: bySubject(document, readCanonical(lines.join('\n'))),
  part,
  hasMore,
})

/** Groups triples by subject, those about `first` first. */
export function bySubject(first: string, triples: readonly Quad[]): readonly DescribedSubject[] {
  const subjects = new Map<string, { subject: Term; properties: Map<string, Term[]> }>()
  for (const { subject, predicate, object } of triples) {
    const key = nTriplesTerm(subject)
    const known = subjects.get(key) ?? { subject, properties: new Map<string, Term[]>() }
    subjects.set(key, known)
    const values = known.properties.get(predicate.value)
    if (values) values.push(object)
    else known.properties.set(predicate.value, [object])
  }
  const rank = ({ subject }: { readonly subject: Term }): number =>
    subject.value === first ? 0 : subject.value.startsWith(`${first}#`) ? 1 : 2
  return [...subjects.values()]
    .sort((a, b) => rank(a) - rank(b) || compareAsBytes(a.subject.value, b.subject.value))
    .map(({ subject, properties }) => ({
      subject,
      properties: [...properties].map(([predicate, objects]) => ({ predicate, objects })),
    }))
}
