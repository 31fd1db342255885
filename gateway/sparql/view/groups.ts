// In charge of what a group of patterns does with the name of its graph in stores that evaluate GRAPH triple by triple. Pure.
import type { Bound, Expression, Pattern, Variable } from './syntax.js'

/** It matches once, whatever the graph has. */
export const isEmpty = (pattern: Pattern): boolean =>
  (pattern.kind === 'triples' && pattern.triples.length === 0) ||
  (pattern.kind === 'group' && pattern.patterns.every(isEmpty))

/** Whether the algebra of a group has an empty group in it (SPARQL 1.1 §18.2.2): in GRAPH ?g this matches each graph. */
export function startsEmpty(patterns: readonly Pattern[]): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  return first === undefined || ['bind', 'optional', 'minus'].includes(first.kind)
}

/** Whether AS gives the variable a value in any part. */
export function assigns(part: unknown, name: Variable): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, variable: bound } = part as Partial<Bound>
  if (kind === 'bind' && bound!.value === name.value) return true
  return Object.values(part).some((each) => assigns(each, name))
}

/** Whether BIND gives a value to the name of a GRAPH before it: no SPARQL (SPARQL 1.1 §18.2.1), but a store may take it. */
export function assignsName(patterns: readonly Pattern[]): boolean {
  const names = new Set<string>()
  return patterns.some((each) => {
    if (each.kind === 'graph') names.add(each.name.value)
    return each.kind === 'bind' && names.has(each.variable.value)
  })
}

/** Whether its triples bind the name of the graph in every solution, before anything else looks at graphs. */
export const bindsName = (patterns: readonly Pattern[]): boolean =>
  patterns.some((each) => each.kind === 'triples' && each.triples.length > 0) && patterns.every(looksAtNoOther)

function looksAtNoOther(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'triples':
    case 'values':
      return true
    case 'optional':
      return pattern.patterns.every(looksAtNoOther)
    case 'filter':
    case 'bind':
      return !hasExists(pattern.expression)
    default:
      return false
  }
}

function hasExists(expression: Expression): boolean {
  if (expression.kind === 'exists') return true
  if (expression.kind === 'aggregate') return expression.of !== '*' && hasExists(expression.of)
  return (expression.kind === 'operation' || expression.kind === 'call') && expression.args.some(hasExists)
}
