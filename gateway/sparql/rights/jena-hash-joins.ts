// Delays joins until Jena asks for their rows. Jena 5.6 fails when it closes a hash join that it has not begun, which
// happens if the part before has no rows; in EXISTS, the failure counts as false. But Jena creates the branches of a
// UNION only when it asks for their rows. Pure.
import { groupsIn } from './group-properties.js'
import {
  either,
  FALSE,
  filter,
  iriTerm,
  NO_MODIFIERS,
  operation,
  triples,
  variable,
  type Expression,
  type GraphPattern,
  type Select,
  type Term,
  type Variable,
} from '../language/syntax.js'
import { inScope } from '../language/variables.js'

/** A name that no graph has, and names that no variable has. */
export interface Unused {
  readonly nothing: string
  readonly fresh: () => Variable
  /** See `View.add`. */
  readonly add: (characters: number) => void
}

/**
 * Turns each pattern that contains a join, and follows another pattern, into a branch of a UNION. The other branch has
 * no rows, but the same variables: so Jena substitutes earlier values into both or into neither, as without UNION.
 * Expressions stay unchanged.
 */
export const deferred = (patterns: readonly GraphPattern[], unused: Unused): readonly GraphPattern[] =>
  branching(unused, (branch) => withinGroup(patterns, branch))

/** Applies `deferred` to a whole query. */
export const deferredIn = <Body extends Part>(body: Body, unused: Unused): Body => ({
  ...body,
  where: branching(unused, (branch) => withinPart(body, branch)),
})

type Part = Pick<Select, 'where' | 'modifiers'>
type Branch = (pattern: GraphPattern) => GraphPattern

function branching(unused: Unused, make: (branch: Branch) => readonly GraphPattern[]): readonly GraphPattern[] {
  let isBranched = false
  const made = make((pattern) => {
    isBranched = true
    return branched(pattern, unused)
  })
  return isBranched ? made.map(withoutEqualities) : made
}

/** With LIMIT 0, Jena asks for no rows. */
function withinPart({ where, modifiers }: Part, branch: Branch): readonly GraphPattern[] {
  const patterns = withinGroup(where, branch)
  return modifiers.limit === 0 && joins(where) ? [branch({ kind: 'group', patterns })] : patterns
}

/** The limit for one group: a very deep text would overflow the stack. */
const MOST_FIRST = 10

function withinGroup(patterns: readonly GraphPattern[], branch: Branch): readonly GraphPattern[] {
  const made: GraphPattern[] = []
  let count = 0
  let mayJoin = false
  for (const each of patterns) {
    if (!isOperand(each)) continue
    // Before a triple whose terms TDB2 does not have, TDB2 asks for no rows.
    if (mayJoin && ['triples', 'graph', 'group'].includes(each.kind) && count++ < MOST_FIRST) {
      made.push(branch({ kind: 'group', patterns: made.splice(0) }))
    }
    // Jena tests a FILTER without variables before the first OPTIONAL.
    const isAfter = made.length > 0 || each.kind === 'optional'
    const isBranch = isAfter && each.kind !== 'union' && groupsIn(each).some(joins)
    const its = mapped(each, (group) => withinGroup(group, branch), branch)
    made.push(isBranch ? branch(its) : its)
    mayJoin = made.length === 1 ? joinsItself(made[0]!) : mayJoin || joinsItself(made.at(-1)!)
  }
  return [...made, ...patterns.filter((each) => !isOperand(each))]
}

/** Replaces the groups of a pattern, except those of SERVICE, which another server answers. */
function mapped(
  pattern: GraphPattern,
  group: (patterns: readonly GraphPattern[]) => readonly GraphPattern[],
  branch?: Branch,
): GraphPattern {
  switch (pattern.kind) {
    case 'group':
    case 'optional':
    case 'minus':
    case 'graph':
      return { ...pattern, patterns: group(pattern.patterns) }
    case 'union':
      return { ...pattern, branches: pattern.branches.map(group) }
    case 'select': {
      const { query } = pattern
      return { ...pattern, query: { ...query, where: branch ? withinPart(query, branch) : group(query.where) } }
    }
    default:
      return pattern
  }
}

/**
 * If a FILTER says that two variables are equal, Jena replaces one by the other, even in a UNION that binds neither.
 */
const withoutEqualities = (pattern: GraphPattern): GraphPattern =>
  pattern.kind === 'filter'
    ? { ...pattern, expression: withoutEquality(pattern.expression) }
    : mapped(pattern, (group) => group.map(withoutEqualities))

function withoutEquality(expression: Expression): Expression {
  if (expression.kind !== 'operation') return expression
  const { operator, args } = expression
  if (operator === '&&') return { ...expression, args: args.map(withoutEquality) }
  const isEquality = operator === '=' || operator === 'sameterm'
  return isEquality && args.every(({ kind }) => kind === 'variable') ? either(expression, FALSE) : expression
}

const isOperand = ({ kind }: GraphPattern): boolean => kind !== 'filter'

/**
 * True if one of these patterns is joined with another, or with the row that a group begins with. Results are cached,
 * since each level of a query asks for its content.
 */
function joins(patterns: readonly GraphPattern[]): boolean {
  const known = searched.get(patterns)
  if (known !== undefined) return known
  const operands = patterns.filter(isOperand)
  const found = operands.length > 1 || operands.some(joinsItself)
  searched.set(patterns, found)
  return found
}

const searched = new WeakMap<readonly GraphPattern[], boolean>()

const joinsItself = (pattern: GraphPattern): boolean =>
  pattern.kind === 'optional' ||
  pattern.kind === 'minus' ||
  (pattern.kind === 'select' && pattern.query.modifiers.values !== undefined) ||
  (pattern.kind !== 'union' && groupsIn(pattern).some(joins))

/** Makes the pattern a branch of a UNION. */
export function branched(pattern: GraphPattern, unused: Unused): GraphPattern {
  const branches = (patterns: readonly GraphPattern[]): GraphPattern => ({
    kind: 'union',
    branches: [patterns, withoutRow(patterns, unused)],
  })
  if (pattern.kind !== 'optional') return branches([pattern])
  // FILTERs of an OPTIONAL also see the patterns before it (SPARQL 1.1 §18.2.2.6).
  const { patterns } = pattern
  const filters = patterns.filter((each) => !isOperand(each))
  return { ...pattern, patterns: [branches(patterns.filter(isOperand)), ...filters] }
}

function withoutRow(patterns: readonly GraphPattern[], { nothing, fresh, add }: Unused): readonly GraphPattern[] {
  const name = iriTerm(nothing)
  const graph = (...objects: readonly Term[]): GraphPattern => ({
    kind: 'graph',
    name,
    patterns: [triples(...objects.map((object) => ({ subject: name, predicate: name, object })))],
  })
  const names = [...inScope(patterns)]
  add((names.length + 1) * 3 * (nothing.length + 4))
  const row = graph(name, ...names.map(variable))
  // Jena substitutes no values into a MINUS, nor next to a FILTER on a variable from elsewhere.
  return patterns.some(isWhole)
    ? [row, { kind: 'minus', patterns: [graph(name)] }, filter(operation('bound', fresh()))]
    : [row]
}

/** Jena substitutes no earlier values into it. */
const isWhole = (pattern: GraphPattern): boolean =>
  !isSet(pattern) &&
  (['select', 'bind', 'service'].includes(pattern.kind) || groupsIn(pattern).some((group) => group.some(isWhole)))

const isTriples = ({ kind }: GraphPattern): boolean => kind === 'triples'

/** A sub-query like those of `asSet`. */
function isSet(pattern: GraphPattern): boolean {
  if (pattern.kind !== 'select') return false
  const { projection, where, modifiers } = pattern.query
  const { group, having, order, ...others } = modifiers
  return (
    JSON.stringify(projection) === JSON.stringify(group) &&
    having.length + order.length === 0 &&
    Object.values(others).every((each) => each === undefined) &&
    where.every((each) => each.kind === 'filter' || (each.kind === 'graph' ? each.patterns : [each]).every(isTriples))
  )
}

/**
 * The distinct solutions of patterns with a FILTER. After an OPTIONAL, Jena would match all of them, since it
 * substitutes no earlier values. It does so in a sub-query that groups by its variables and is a branch of a UNION.
 */
export function asSet(
  patterns: readonly GraphPattern[],
  unused: Unused,
  group: readonly Variable[] = [...inScope(patterns)].map(variable),
): GraphPattern {
  if (group.length === 0) return { kind: 'group', patterns }
  const modifiers = { ...NO_MODIFIERS, group }
  const query: Select = { form: 'SELECT', duplicates: undefined, projection: group, where: patterns, modifiers }
  return branched({ kind: 'group', patterns: [{ kind: 'select', query }] }, unused)
}
