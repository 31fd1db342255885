// COUNT(DISTINCT *): whether a query has it, and which parts of a pattern stores count differently. Pure.
import type { Expression, Select } from '../language/syntax.js'

/**
 * True for blank nodes and paths. They are variables in stores: Oxigraph, RDF4J and, in sub-queries, Jena count them.
 */
export function hasHidden(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { kind?: string }
  return kind === 'blank' || kind === 'path' || Object.values(part).some(hasHidden)
}

/** COUNT(DISTINCT *) counts every variable in scope. */
export function countsAll({
  projection,
  modifiers: { having, order },
}: Pick<Select, 'projection' | 'modifiers'>): boolean {
  const counts = (expression: Expression): boolean => {
    if (expression.kind === 'aggregate') return expression.of === '*' ? expression.distinct : counts(expression.of)
    return (expression.kind === 'operation' || expression.kind === 'call') && expression.args.some(counts)
  }
  const projected =
    projection === '*' ? [] : projection.flatMap((each) => (each.kind === 'bind' ? [each.expression] : []))
  return [...projected, ...having, ...order.map((by) => by.expression)].some(counts)
}
