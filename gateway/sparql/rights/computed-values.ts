// Finding values that a store computes otherwise than in a FILTER. Jena fails on some, such as the hours of an IRI, and
// its answer says on which; of a FILTER, such a failure is false. So it computes none of what an agent may not read
// (design 4). Pure.
import { usesName } from './graph-name.js'
import type { Expression, GraphPattern, Query, Select } from '../language/syntax.js'
import { inScope } from '../language/variables.js'

/** True where a part has such a value, in EXISTS too. */
export const computes = makeSearch({ isSkipped: () => false, isJoined: () => true })

/**
 * True where the patterns of a GRAPH have such a value before its name is tested. In a FILTER, a failure leaves out a
 * row that has not been tested yet, and nothing else.
 */
export const computesAtOnce = makeSearch({
  isSkipped: (kind) => kind === 'filter',
  // Jena joins no triples by a hash table.
  isJoined: (patterns) => !patterns.every((each) => isFilter(each) || each.kind === 'triples'),
})

interface Search {
  readonly isSkipped: (kind: string) => boolean
  /** Of the patterns of an OPTIONAL: Jena may join them by a hash table. */
  readonly isJoined: (patterns: readonly GraphPattern[]) => boolean
}

function makeSearch({ isSkipped, isJoined }: Search): (part: unknown) => boolean {
  /** Of lists. Each level of a query asks for what is in it: it is searched once. */
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
    // Where Jena joins by a hash table, it tests a FILTER of OPTIONAL (SPARQL 1.1 §18.2.2.6) with the join.
    case 'optional':
      return patterns!.some(isFilter) && isJoined(patterns!)
    // To order is to compare.
    case 'select':
      return query!.modifiers.order.length > 0 || query!.modifiers.group.some((each) => each.kind !== 'variable')
    default:
      return false
  }
}

function isFilter({ kind }: GraphPattern): boolean {
  return kind === 'filter'
}

/** COUNT(*) looks at no value. */
const isConstant = (expression: Expression): boolean =>
  ['iri', 'literal'].includes(expression.kind) || (expression.kind === 'aggregate' && expression.of === '*')

/**
 * Of a query: what SELECT, HAVING and ORDER BY compute is of solutions that have been tested, but EXISTS in them has
 * patterns of its own.
 */
export function computesInPatterns({ where, ...head }: Query['body']): boolean {
  const inExists = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false
    return (part as Node).kind === 'exists' ? computes(part) : Object.values(part).some(inExists)
  }
  return computes(where) || inExists(head)
}

/**
 * True where a query computes something of a variable that it groups by and its patterns do not have: Jena may give it
 * a value from elsewhere.
 */
export function groupsByOther({ projection, where, modifiers: { group, having, order } }: Select): boolean {
  const names = inScope(where)
  const computed = [projection === '*' ? [] : projection.filter(({ kind }) => kind === 'bind'), having, order]
  return group.some((each) => each.kind === 'variable' && !names.has(each.value) && usesName(computed, each))
}
