// Property paths (SHACL §2.3.1): read from a shape, evaluated on a graph, written in a report. Pure.
import type { NamedNode, Quad, Term } from '@rdfjs/types'
import { termKeyOf, RDF, SH, type TripleIndex, type Factory } from './graph.js'

export type ShapePath =
  | { readonly kind: 'predicate'; readonly predicate: NamedNode }
  | { readonly kind: 'sequence' | 'alternative'; readonly items: readonly ShapePath[] }
  | { readonly kind: Unary; readonly item: ShapePath }

const UNARY = ['inverse', 'zeroOrMore', 'oneOrMore', 'zeroOrOne'] as const
type Unary = (typeof UNARY)[number]

/** Nodes in a path, counting repetitions. */
const MOST_NODES = 1000
const DEEPEST = 50

/** @param isBlank also true for IRIs that replace blank nodes */
export function readPath(
  start: Term,
  shapes: TripleIndex,
  isBlank: (node: Term) => boolean,
  fail: (reason: string) => never,
): ShapePath {
  let nodes = 0
  const read = (node: Term, depth: number): ShapePath => {
    if (++nodes > MOST_NODES || depth > DEEPEST) fail('a property path is too large, or contains itself')
    const several = (kind: 'sequence' | 'alternative', head: Term): ShapePath => {
      const items = shapes.list(head) ?? []
      if (items.length < 2) fail('a property path needs a list of two or more paths')
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
    if (!unary) return fail('a property path is not one of those in SHACL §2.3.1')
    return { kind: unary.kind, item: read(unary.item, depth + 1) }
  }
  return read(start, 0)
}

/**
 * A state in the evaluation of a path: the edges that lead out of it, and the states that it includes. The final state
 * has neither.
 */
interface Place {
  readonly edge?: { readonly predicate: string; readonly isInverse: boolean; readonly to: Place }
  readonly also: Place[]
}

/**
 * The value nodes, without duplicates. Each state visits each node once (SPARQL 1.1 §18.4, ALP), so nested repetitions
 * cost no more than others.
 */
export function valuesAt(path: ShapePath, focus: Term, data: TripleIndex): readonly Term[] {
  const end: Place = { also: [] }
  const values = new Map<string, Term>()
  const seen = new Map<Place, Map<string, Term>>([[end, values]])
  const waiting: [Place, Term][] = []
  const reach = (place: Place, node: Term): void => {
    let nodes = seen.get(place)
    if (!nodes) seen.set(place, (nodes = new Map()))
    const key = termKeyOf(node)
    if (nodes.has(key)) return
    nodes.set(key, node)
    waiting.push([place, node])
  }
  reach(placeBefore(path, end, false), focus)
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [{ edge, also }, node] = next
    for (const place of also.toReversed()) reach(place, node)
    if (!edge) continue
    const { predicate, isInverse, to } = edge
    const others = isInverse ? data.subjects(predicate, node) : data.objects(node, predicate)
    for (const other of others.toReversed()) reach(to, other)
  }
  return [...values.values()]
}

/** The state from which the path leads to another state. */
function placeBefore(path: ShapePath, to: Place, isInverse: boolean): Place {
  const before = (item: ShapePath, next: Place): Place => placeBefore(item, next, isInverse)
  switch (path.kind) {
    case 'predicate':
      return { edge: { predicate: path.predicate.value, isInverse, to }, also: [] }
    case 'inverse':
      return placeBefore(path.item, to, !isInverse)
    case 'sequence':
      return (isInverse ? path.items : path.items.toReversed()).reduce((next, item) => before(item, next), to)
    case 'alternative':
      return { also: path.items.map((item) => before(item, to)) }
    case 'zeroOrOne':
      return { also: [to, before(path.item, to)] }
    case 'zeroOrMore':
    case 'oneOrMore': {
      const again: Place = { also: [to] }
      const first = before(path.item, again)
      again.also.push(first)
      return path.kind === 'zeroOrMore' ? again : first
    }
  }
}

/** The node that represents the path, and the triples that describe it. */
export function pathTriples(path: ShapePath, rdf: Factory): { readonly node: Term; readonly triples: readonly Quad[] } {
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
