// Looks up triples by subject, predicate and object. Pure.
import type { BlankNode, Literal, NamedNode, Quad, Term } from '@rdfjs/types'
import { RDF_TYPE } from '../vocabulary.js'

export const SH = 'http://www.w3.org/ns/shacl#'
export const RDF = RDF_TYPE.slice(0, -'type'.length)
export const LANG_STRING = `${RDF}langString`

/** The part of an RDF/JS factory that is used here. */
export interface Factory {
  namedNode(iri: string): NamedNode
  blankNode(): BlankNode
  literal(value: string, type: string | NamedNode): Literal
  quad(subject: Term, predicate: Term, object: Term): Quad
}

export interface TripleIndex {
  objects(subject: Term, predicate: string): readonly Term[]
  subjects(predicate: string, object: Term): readonly Term[]
  about(subject: Term): readonly Quad[]
  /** Undefined for lists that are malformed, cyclic, or longer than MOST_MEMBERS. */
  list(head: Term): readonly Term[] | undefined
  readonly grown: Grown
}

/** Called before memory grows, with an estimate in bytes. May stop the thread. */
export type Grown = (bytes: number) => void

/** The memory of the index and of its keys for each triple, and of each node that a lookup finds. */
const [INDEXED_BYTES, FOUND_BYTES] = [600, 64]

const MOST_MEMBERS = 100_000

/** A map key for the term. RDF 1.2 Concepts §3.4: language tags are case-insensitive; base directions count too. */
export function termKeyOf(term: Term): string {
  switch (term.termType) {
    case 'NamedNode':
      return term.value
    case 'BlankNode':
      return `_:${term.value}`
    case 'Literal':
      return term.language === ''
        ? `"${term.value}"^^${term.datatype.value}`
        : `"${term.value}"@${term.language.toLowerCase()}${term.direction ? `--${term.direction}` : ''}`
    case 'Quad':
      return `<<${termKeyOf(term.subject)} ${termKeyOf(term.predicate)} ${termKeyOf(term.object)}>>`
    default:
      return `?${term.value}`
  }
}

/** The terms without duplicates. */
export const distinct = (terms: Iterable<Term>): readonly Term[] => [
  ...new Map(Array.from(terms, (term) => [termKeyOf(term), term])).values(),
]

export function indexOf(triples: readonly Quad[], grown: Grown = () => undefined): TripleIndex {
  grown(INDEXED_BYTES * triples.length)
  const bySubject = grouped(triples, ({ subject }) => termKeyOf(subject))
  const objects = grouped(triples, ({ subject, predicate }) => `${predicate.value} ${termKeyOf(subject)}`)
  let subjects: ReadonlyMap<string, readonly Quad[]> | undefined
  const index: TripleIndex = {
    grown,
    objects(subject, predicate) {
      const found = objects.get(`${predicate} ${termKeyOf(subject)}`) ?? []
      grown(FOUND_BYTES * (1 + found.length))
      return found.map(({ object }) => object)
    },
    subjects(predicate, object) {
      subjects ??= grouped(triples, (triple) => `${triple.predicate.value} ${termKeyOf(triple.object)}`)
      const found = subjects.get(`${predicate} ${termKeyOf(object)}`) ?? []
      grown(FOUND_BYTES * (1 + found.length))
      return found.map(({ subject }) => subject)
    },
    about: (subject) => bySubject.get(termKeyOf(subject)) ?? [],
    list: (head) => listAt(head, index),
  }
  return index
}

export function grouped(
  triples: readonly Quad[],
  keyOfOne: (triple: Quad) => string,
): ReadonlyMap<string, readonly Quad[]> {
  const groups = new Map<string, Quad[]>()
  for (const triple of triples) {
    const key = keyOfOne(triple)
    const group = groups.get(key)
    if (group) group.push(triple)
    else groups.set(key, [triple])
  }
  return groups
}

/** SHACL §1.4: each node of a list has one rdf:first and one rdf:rest, and the list is not cyclic. */
function listAt(head: Term, index: TripleIndex): readonly Term[] | undefined {
  const members: Term[] = []
  const seen = new Set<string>()
  let node = head
  while (node.value !== `${RDF}nil`) {
    const [first, ...others] = index.objects(node, `${RDF}first`)
    const [rest, ...branches] = index.objects(node, `${RDF}rest`)
    if (!first || !rest || others.length + branches.length > 0) return undefined
    if (seen.has(termKeyOf(node)) || members.length >= MOST_MEMBERS) return undefined
    seen.add(termKeyOf(node))
    members.push(first)
    node = rest
  }
  return members
}
