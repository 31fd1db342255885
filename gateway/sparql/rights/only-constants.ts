// Restricting what programs ask most: triples and FILTERs in GRAPHs of constant names, and nothing else. None of what
// restrict.ts keeps apart is in it, so that each GRAPH is restricted by itself. Pure.
import { restrictConstant } from './constant-graph.js'
import { hasEachOnce, hasExists, withoutRepeats } from './group-properties.js'
import type { Expression, Iri, GraphPattern, Restrictable } from '../language/syntax.js'
import type { Restriction } from './restriction.js'

/** What `restrictBody` makes of it too. Undefined for other queries. */
export function restrictOnlyConstants(work: Restriction, body: Restrictable): Restrictable | undefined {
  const { looksInItself, addsFrom } = work.view
  const isOnly = looksInItself && !addsFrom && body.where.every(isOnlyConstants)
  if (!isOnly || !isFit(body.where) || computesOfGraphs(body)) return undefined
  const restricted = withoutRepeats(body.where).flatMap((each) =>
    each.kind === 'graph' ? restrictConstant(work, each.name as Iri, each.patterns) : [each],
  )
  return { ...body, where: restricted }
}

function isOnlyConstants(pattern: GraphPattern): boolean {
  if (pattern.kind !== 'graph') return isPlainFilter(pattern)
  const [first, ...others] = pattern.patterns
  return pattern.name.kind === 'iri' && first !== undefined && hasEachOnce([first]) && others.every(isPlainFilter)
}

const isPlainFilter = (pattern: GraphPattern): boolean => pattern.kind === 'filter' && !hasExists(pattern.expression)

/** Of the triples that Jena orders, unfit-predicates.ts keeps some apart. */
function isFit(where: readonly GraphPattern[]): boolean {
  const patterns = where.flatMap((each) => (each.kind === 'graph' ? each.patterns : []))
  const all = patterns.flatMap((each) => (each.kind === 'triples' ? each.triples : []))
  return all.length < 2 || all.every(({ predicate }) => predicate.kind === 'iri')
}

function computesOfGraphs(body: Restrictable): boolean {
  const { group, having, order, values } = body.modifiers
  const projected = body.form === 'SELECT' && body.projection !== '*' ? body.projection : []
  const computed: Expression[] = [
    ...[...projected, ...group].map((each) => (each.kind === 'bind' ? each.expression : each)),
    ...having,
    ...order.map(({ expression }) => expression),
  ]
  return values !== undefined || computed.some(hasExists)
}
