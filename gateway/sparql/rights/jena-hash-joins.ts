// Joins that Jena makes only when it asks for their rows. Jena 5.6 fails on closing a join by a hash table that it has
// not begun, as it does where the part before has no row; in EXISTS, it takes that for false. It makes the branches of
// a UNION when it asks for their rows. Pure.
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

/** The names of no graph and of no variable. */
export interface Unused {
  readonly nothing: string
  readonly fresh: () => Variable
  /** `View.add`. */
  readonly add: (characters: number) => void
}

/**
 * The patterns of a group, in which each that joins others, and stands after another, is the branch of a UNION. The
 * other branch has no row, but the variables of the first: Jena puts values from before into both, or into none, as it
 * would without the UNION. What stands in expressions stays as it is.
 */
export const deferred = (patterns: readonly GraphPattern[], unused: Unused): readonly GraphPattern[] =>
  branching(unused, (branch) => withinGroup(patterns, branch))

/** The same of a query. */
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

/** Of a query with LIMIT 0, Jena asks for no row. */
function withinPart({ where, modifiers }: Part, branch: Branch): readonly GraphPattern[] {
  const patterns = withinGroup(where, branch)
  return modifiers.limit === 0 && joins(where) ? [branch({ kind: 'group', patterns })] : patterns
}

/** So often in one group: a text as deep as it is long would take all of a stack. */
const MOST_FIRST = 10

function withinGroup(patterns: readonly GraphPattern[], branch: Branch): readonly GraphPattern[] {
  const made: GraphPattern[] = []
  let count = 0
  let mayJoin = false
  for (const each of patterns) {
    if (!isOperand(each)) continue
    // TDB2 asks for no row of what stands before a triple that it has no terms for.
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

/** A pattern with other groups; another server answers those of SERVICE. */
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
 * Jena takes one variable for the other where a FILTER says that they are equal, in a UNION that leaves both without a
 * value too.
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
 * True where one of these is joined with another, or with the row that a group begins with. Each level of a query asks
 * for what is in it.
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

/** The pattern as the branch of a UNION. */
export function branched(pattern: GraphPattern, unused: Unused): GraphPattern {
  const branches = (patterns: readonly GraphPattern[]): GraphPattern => ({
    kind: 'union',
    branches: [patterns, withoutRow(patterns, unused)],
  })
  if (pattern.kind !== 'optional') return branches([pattern])
  // Its FILTERs are about what stands before it too (SPARQL 1.1 §18.2.2.6).
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
  // Into a MINUS, and beside a FILTER on a variable from elsewhere, Jena puts no values.
  return patterns.some(isWhole)
    ? [row, { kind: 'minus', patterns: [graph(name)] }, filter(operation('bound', fresh()))]
    : [row]
}

/** Jena puts no values from before into it. */
const isWhole = (pattern: GraphPattern): boolean =>
  !isSet(pattern) &&
  (['select', 'bind', 'service'].includes(pattern.kind) || groupsIn(pattern).some((group) => group.some(isWhole)))

const isTriples = ({ kind }: GraphPattern): boolean => kind === 'triples'

/** A sub-query as of `asSet`. */
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
 * The solutions of patterns, each once. Beside OPTIONAL, Jena matches all of them where they have a FILTER, for it puts
 * no values from before into these; it does so into a sub-query that groups by its variables, as the branch of a UNION.
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
