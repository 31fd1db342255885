// Finds expressions that are evaluated outside FILTER (BIND, aggregates, ORDER BY). Jena fails on some values, such as
// the hours of an IRI, and its error shows the value; in FILTER such an error counts as false. So Jena must compute
// none of them from data that the agent may not read (design 4). Pure.
import { usesName } from './graph-name.js'
import type { Expression, GraphPattern, Query, Select } from '../language/syntax.js'
import { inScope } from '../language/variables.js'

/** True if a part has such an expression, even in EXISTS. */
export const computes = makeSearch({ isSkipped: () => false, isJoined: () => true })

/**
 * True if a GRAPH computes such a value before its name is tested. An error in a FILTER only drops a row that has not
 * been tested yet.
 */
export const computesAtOnce = makeSearch({
  isSkipped: (kind) => kind === 'filter',
  // Jena does not use hash joins for triples.
  isJoined: (patterns) => !patterns.every((each) => isFilter(each) || each.kind === 'triples'),
})

interface Search {
  readonly isSkipped: (kind: string) => boolean
  /** Whether Jena may join these patterns of an OPTIONAL by a hash table. */
  readonly isJoined: (patterns: readonly GraphPattern[]) => boolean
}

function makeSearch({ isSkipped, isJoined }: Search): (part: unknown) => boolean {
  /** Caches the results for lists, since each level of a query asks for its content. */
  const searched = new WeakMap<object, boolean>()
  const search = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false
    const known = searched.get(part)
    if (known !== undefined) return known
    const node = part as Node
    const found = isComputed(node, isJoined) || (!isSkipped(node.kind ?? '') && Object.values(part).some(search))
    if (Array.isArray(part)) searched.set(part, found)
    return found
  }
  return search
}

interface Node {
  readonly kind?: GraphPattern['kind'] | Expression['kind']
  readonly expression?: Expression
  readonly of?: Expression | '*'
  readonly patterns?: readonly GraphPattern[]
  readonly query?: Select
}

function isComputed(node: Node, isJoined: Search['isJoined']): boolean {
  const { kind, expression, of, patterns, query } = node
  switch (kind) {
    case 'bind':
      return !isConstant(expression!)
    case 'aggregate':
      return of !== '*'
    // In a hash join, Jena evaluates a FILTER of an OPTIONAL (SPARQL 1.1 §18.2.2.6) as part of the join.
    case 'optional':
      return patterns!.some(isFilter) && isJoined(patterns!)
    // Ordering compares values.
    case 'select':
      return query!.modifiers.order.length > 0 || query!.modifiers.group.some((each) => each.kind !== 'variable')
    default:
      return false
  }
}

function isFilter({ kind }: GraphPattern): boolean {
  return kind === 'filter'
}

/** COUNT(*) reads no values. */
const isConstant = (expression: Expression): boolean =>
  ['iri', 'literal'].includes(expression.kind) || (expression.kind === 'aggregate' && expression.of === '*')

/** SELECT, HAVING and ORDER BY compute only with tested solutions; but an EXISTS in them has its own patterns. */
export function computesInPatterns({ where, ...head }: Query['body']): boolean {
  const inExists = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false
    return (part as Node).kind === 'exists' ? computes(part) : Object.values(part).some(inExists)
  }
  return computes(where) || inExists(head)
}

/**
 * True if a query computes with a variable that it groups by and that its patterns do not have. Jena may give it a
 * value from elsewhere.
 */
export function groupsByOther({ projection, where, modifiers: { group, having, order } }: Select): boolean {
  const names = inScope(where)
  const computed = [projection === '*' ? [] : projection.filter(({ kind }) => kind === 'bind'), having, order]
  return group.some((each) => each.kind === 'variable' && !names.has(each.value) && usesName(computed, each))
}
