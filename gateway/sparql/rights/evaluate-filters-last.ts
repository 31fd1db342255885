// Rewrites FILTERs with unbounded expressions so that the store evaluates them last in their group, on tested rows
// only. Oxigraph, which fails on no value, may evaluate them earlier, in GRAPH, as it does BIND. Pure.
import { hasExists } from './group-properties.js'
import { countsAll } from './count-distinct-star.js'
import { FALSE, filter, operation, variable, type Bound, type Expression, type GraphPattern, type Query, type Select } from '../language/syntax.js' // prettier-ignore
import { makeBounds } from './unbounded-expressions.js'
import { freshNames, inScope } from '../language/variables.js'

export interface Later {
  readonly query: Query
  /** The expressions of the rewritten FILTERs. */
  readonly expressions: ReadonlySet<Expression>
}

/**
 * Writes `FILTER(E)` as `BIND(!BOUND(?a) AS ?b) FILTER(IF(?b, E, false))` at the end of its group, to which it applies
 * (SPARQL 1.1 §18.2.2.7): ?b has a value in each row, but only there. Not in OPTIONAL, whose FILTERs also see what is
 * before it, nor in EXISTS. As in FILTER, an expression that fails drops its row.
 */
export function withLaterFilters(query: Query): Later {
  const { body } = query
  const expressions = new Set<Expression>()
  const name = freshNames([body])
  const isUnbounded = makeBounds(body)

  function inGroup(patterns: readonly GraphPattern[], isOptional = false): readonly GraphPattern[] {
    const isLater = (each: GraphPattern): each is GraphPattern & { kind: 'filter' } =>
      each.kind === 'filter' && !hasExists(each.expression) && isUnbounded(each.expression)
    const later = isOptional ? [] : patterns.filter(isLater)
    const others = patterns.filter((each) => !(later as readonly GraphPattern[]).includes(each)).map(inPattern)
    if (later.length === 0) return others
    const isLast = variable(name())
    const bind: Bound = {
      kind: 'bind',
      expression: operation('!', operation('bound', variable(name()))),
      variable: isLast,
    }
    const filters = later.map(({ expression }) => operation('if', isLast, expression, FALSE))
    for (const each of filters) expressions.add(each)
    return [...others, bind, ...filters.map(filter)]
  }
  function inPattern(pattern: GraphPattern): GraphPattern {
    switch (pattern.kind) {
      case 'group':
      case 'minus':
      case 'graph':
        return { ...pattern, patterns: inGroup(pattern.patterns) }
      case 'optional':
        return { ...pattern, patterns: inGroup(pattern.patterns, true) }
      case 'union':
        return { ...pattern, branches: pattern.branches.map((branch) => inGroup(branch)) }
      case 'select':
        return { ...pattern, query: inSelect(pattern.query) }
      default:
        return pattern
    }
  }
  /** The selected variables stay the same. */
  function inSelect(select: Select): Select {
    const names = [...inScope(select.where)].map(variable)
    if (countsAll(select) || (select.projection === '*' && names.length === 0)) return select
    const { size } = expressions
    const where = inGroup(select.where)
    return {
      ...select,
      where,
      projection: select.projection === '*' && expressions.size > size ? names : select.projection,
    }
  }
  if (body.form === 'SELECT') return { query: { ...query, body: inSelect(body) }, expressions }
  const isOfAll = body.form === 'DESCRIBE' && body.described === '*'
  if (isOfAll || countsAll({ projection: '*', ...body })) return { query, expressions }
  return { query: { ...query, body: { ...body, where: inGroup(body.where) } }, expressions }
}
