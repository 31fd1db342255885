// In charge of property paths (SHACL §2.3.1): read from a shape, followed in a graph, written in a report. Pure.
import type { NamedNode, Quad, Term } from '@rdfjs/types'
import { distinct, keyOf, RDF, SH, type TripleIndex, type Factory } from './graph.js'

export type Path =
  | { readonly kind: 'predicate'; readonly predicate: NamedNode }
  | { readonly kind: 'sequence' | 'alternative'; readonly items: readonly Path[] }
  | { readonly kind: Unary; readonly item: Path }

const UNARY = ['inverse', 'zeroOrMore', 'oneOrMore', 'zeroOrOne'] as const
type Unary = (typeof UNARY)[number]

/** Nodes of a path. One node may stand in many places of it. */
const MOST_NODES = 1000
const DEEPEST = 50

/** @param isBlank true for the IRIs that stand for blank nodes too */
export function readPath(
  start: Term,
  shapes: TripleIndex,
  isBlank: (node: Term) => boolean,
  fail: (reason: string) => never,
): Path {
  let nodes = 0
  const read = (node: Term, depth: number): Path => {
    if (++nodes > MOST_NODES || depth > DEEPEST) fail('a property path is too large, or contains itself')
    const several = (kind: 'sequence' | 'alternative', head: Term): Path => {
      const items = shapes.list(head) ?? []
      if (items.length < 2) fail('a property path has no list of two or more paths')
      return { kind, items: items.map((item) => read(item, depth + 1)) }
    }
    if (!isBlank(node)) {
      return node.termType === 'NamedNode'
        ? { kind: 'predicate', predicate: node }
        : fail('a property path is neither an IRI nor a blank node')
    }
    if (shapes.objects(node, `${RDF}first`).length > 0) return several('sequence', node)
    const [alternative] = shapes.objects(node, `${SH}alternativePath`)
    if (alternative) return several('alternative', alternative)
    const [unary] = UNARY.flatMap((kind) => shapes.objects(node, `${SH}${kind}Path`).map((item) => ({ kind, item })))
    if (!unary) return fail('a property path is none of those of SHACL §2.3.1')
    return { kind: unary.kind, item: read(unary.item, depth + 1) }
  }
  return read(start, 0)
}

/** The value nodes, each once. */
export const valuesAt = (path: Path, focus: Term, data: TripleIndex): readonly Term[] =>
  follow(path, [focus], data, false)

function follow(path: Path, from: readonly Term[], data: TripleIndex, isInverse: boolean): readonly Term[] {
  switch (path.kind) {
    case 'predicate': {
      const { value } = path.predicate
      return distinct(from.flatMap((node) => (isInverse ? data.subjects(value, node) : data.objects(node, value))))
    }
    case 'inverse':
      return follow(path.item, from, data, !isInverse)
    case 'sequence':
      return (isInverse ? path.items.toReversed() : path.items).reduce(
        (nodes, item) => follow(item, nodes, data, isInverse),
        from,
      )
    case 'alternative':
      return distinct(path.items.flatMap((item) => follow(item, from, data, isInverse)))
    case 'zeroOrOne':
      return distinct([...from, ...follow(path.item, from, data, isInverse)])
    case 'zeroOrMore':
    case 'oneOrMore':
      return closure(path.item, path.kind === 'zeroOrMore' ? from : follow(path.item, from, data, isInverse), data, isInverse) // prettier-ignore
  }
}

function closure(path: Path, from: readonly Term[], data: TripleIndex, isInverse: boolean): readonly Term[] {
  const reached = new Map(from.map((node) => [keyOf(node), node]))
  for (const node of reached.values()) {
    for (const next of follow(path, [node], data, isInverse))
      if (!reached.has(keyOf(next))) reached.set(keyOf(next), next)
  }
  return [...reached.values()]
}

/** The node of the path, and the triples that describe it. */
export function pathTriples(path: Path, rdf: Factory): { readonly node: Term; readonly triples: readonly Quad[] } {
  if (path.kind === 'predicate') return { node: path.predicate, triples: [] }
  const node = rdf.blankNode()
  if ('item' in path) {
    const item = pathTriples(path.item, rdf)
    return { node, triples: [rdf.quad(node, rdf.namedNode(`${SH}${path.kind}Path`), item.node), ...item.triples] }
  }
  const items = path.items.map((item) => pathTriples(item, rdf))
  const nodes = items.map((_, i) => (i === 0 && path.kind === 'sequence' ? node : rdf.blankNode()))
  const list = items.flatMap((item, i) => [
    rdf.quad(nodes[i]!, rdf.namedNode(`${RDF}first`), item.node),
    rdf.quad(nodes[i]!, rdf.namedNode(`${RDF}rest`), nodes[i + 1] ?? rdf.namedNode(`${RDF}nil`)),
    ...item.triples,
  ])
  if (path.kind === 'sequence') return { node, triples: list }
  return { node, triples: [rdf.quad(node, rdf.namedNode(`${SH}alternativePath`), nodes[0]!), ...list] }
}
