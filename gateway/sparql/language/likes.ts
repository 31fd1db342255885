// The triples that patterns may read. A graph with no triple like these contributes nothing to the solutions (SPARQL
// 1.1 §18.3, §18.6). Pure.
import type { ParsedValues } from './parse.js'
import { triplesOf, Unknown } from './read-terms.js'
import type { Path, Term, Triple } from './syntax.js'
import { isIriNode, nameOf, PLAIN, type Node } from './tree.js'

/** Triples with these IRIs, written as in SPARQL; an undefined place may have any term. */
export type Like = readonly [subject: string | undefined, predicate: string | undefined, object: string | undefined]
export const ANY_TRIPLE: Like = [undefined, undefined, undefined]

/** The triples that patterns read in GRAPH with a variable, and outside GRAPH. */
export interface Likes {
  readonly any: readonly Like[]
  readonly default: readonly Like[]
}

/** For more than this, ask the store for all triples. */
const MOST_LIKES = 50

/** Undefined if the pattern contains anything unknown. Recursion follows only brackets, whose depth is bounded. */
export function likesIn(where: unknown, values: ParsedValues): Likes | undefined {
  const found = { any: new Map<string, Like>(), default: new Map<string, Like>() }
  type Place = 'any' | 'default' | 'named'
  const add = (place: Place, like: Like): unknown => place !== 'named' && found[place].set(like.join(' '), like)
  const waiting: { readonly node: unknown; readonly place: Place }[] = [{ node: where, place: 'default' }]
  while (waiting.length > 0) {
    const { node, place } = waiting.pop()!
    if (typeof node !== 'object' || node === null || (node as Node)['type'] === 'term') continue
    if (isPattern(node as Node, 'bgp')) {
      const triples = triplesIn(node as Node, values)
      if (!triples) return undefined
      for (const triple of triples) for (const like of likesOf(triple)) add(place, like)
      continue
    }
    const isGraph = isPattern(node as Node, 'graph') || (node as Node)['type'] === 'graph'
    const inner = isGraph ? (isIriNode(nameOf(node as Node)) ? 'named' : 'any') : place
    // It may have a solution for each existing graph.
    if (isGraph && !needsTriple(node as Node)) add(inner, ANY_TRIPLE)
    for (const [name, child] of Object.entries(node)) if (!PLAIN.has(name)) waiting.push({ node: child, place: inner })
  }
  return { any: bounded([...found.any.values()]), default: bounded([...found.default.values()]) }
}

const isPattern = ({ type, subType }: Node, kind: string): boolean => type === 'pattern' && subType === kind

function triplesIn({ triples }: Node, values: ParsedValues): readonly Triple[] | undefined {
  try {
    return triplesOf(triples, values)
  } catch (error) {
    if (error instanceof Unknown) return undefined
    throw error
  }
}

/** True if each solution has a triple in its graph. */
const needsTriple = (node: Node): boolean =>
  node['type'] === 'graph' ||
  (node['patterns'] as readonly Node[]).some(
    (part) =>
      (isPattern(part, 'bgp') && (part['triples'] as unknown[]).length > 0) ||
      (isPattern(part, 'group') && needsTriple(part)),
  )

const placeOf = (term: Term): string | undefined => (term.kind === 'iri' ? `<${term.value}>` : undefined)

function likesOf({ subject, predicate, object }: Triple): readonly Like[] {
  if (predicate.kind !== 'path') return [[placeOf(subject), placeOf(predicate), placeOf(object)]]
  const steps = stepsOf(predicate)
  return steps ? [...steps].map((step): Like => [undefined, step, undefined]) : [ANY_TRIPLE]
}

/** The predicates of a path; undefined if it may match other predicates, or nodes without any (SPARQL 1.1 §9.1). */
function stepsOf(path: Path): ReadonlySet<string> | undefined {
  if (path.kind === 'iri') return new Set([`<${path.value}>`])
  if (path.operator === '!' || path.operator === '*' || path.operator === '?') return undefined
  const found = new Set<string>()
  for (const item of path.items) {
    const steps = stepsOf(item)
    if (!steps) return undefined
    for (const step of steps) found.add(step)
  }
  return found
}

export const bounded = (likes: readonly Like[]): readonly Like[] => (likes.length > MOST_LIKES ? [ANY_TRIPLE] : likes)
