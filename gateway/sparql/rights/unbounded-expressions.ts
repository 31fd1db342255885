// Finds unbounded expressions, and SERVICE. A store may evaluate them on hidden data, before it tests whether the agent
// may read it: a failure of the query would reveal values, and SERVICE would send them to another server (design 4).
// Pure.
import { XSD } from '../../rdf/vocabulary.js'
import type { Bound, Expression, Query, Term, ValuesBlock, Variable } from '../language/syntax.js'
import type { Unbounded } from './restriction.js'

/** Size 1 is one value of the data, or a text of STEP characters. */
export const STEP = 256
/** The largest size of an expression's value. */
const MOST_SIZE = 16
/** The largest size that a regular expression may search; the length of joined values is unknown. */
const MOST_SEARCHED = 4
/** The most * + ? and { in one regular expression. */
const MOST_QUANTIFIERS = 2
/** The longest chain of variables whose values depend on one another. */
const MOST_STEPS = 100

/**
 * Finds an unbounded part in an expression of a FILTER, if any. Other expressions compute only with tested data
 * (computed-values.ts), except those of EXISTS in a FILTER.
 * @param later expressions that are evaluated after all tests (evaluate-filters-last.ts)
 */
export function unboundedIn(body: Query['body'], later: ReadonlySet<unknown> = new Set()): Unbounded | undefined {
  const isLarge = makeBounds(body)
  // The size of an expression is that of all its parts, except patterns.
  const find = (part: unknown, isOpen: boolean, isIncluded: boolean): Unbounded | undefined => {
    if (typeof part !== 'object' || part === null) return undefined
    const { kind = '' } = part as { readonly kind?: string }
    if (later.has(part)) return undefined
    const isExpression = EXPRESSIONS.has(kind)
    if (isOpen && isExpression && !isIncluded && isLarge(part as Expression))
      return causeIn(part as Expression, isLarge)
    const isWithin = kind !== 'exists' && (isIncluded || isExpression)
    for (const each of Object.values(part)) {
      const found = find(each, isOpen || kind === 'filter', isWithin)
      if (found) return found
    }
    return undefined
  }
  return find(body, false, false)
}

/** The unbounded operator, for the message. */
function causeIn(expression: Expression, isLarge: (expression: Expression) => boolean): Unbounded {
  if (!('args' in expression)) return 'long-text'
  const { args } = expression
  if (expression.kind === 'operation') {
    const { operator } = expression
    if (operator === 'regex' || operator === 'replace') return 'regex'
    if (isSumOfUnknown(operator, args)) return 'sum'
    if (COMPARISONS.has(operator) && args.some(isDuration)) return 'duration'
  }
  const large = args.find(isLarge)
  return large ? causeIn(large, isLarge) : 'long-text'
}

/** Jena counts the months between a date and a long duration one by one. */
const isSumOfUnknown = (operator: string, args: readonly Expression[]): boolean =>
  (operator === '+' || operator === '-') && !args.some(isNumber)

/** True if a SERVICE is in the part: it would send untested data to another server. */
export function hasService(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  return (part as { readonly kind?: string }).kind === 'service' || Object.values(part).some(hasService)
}

/** Tests whether an expression of the query is unbounded, ignoring patterns in it. */
export function makeBounds(body: Query['body']): (expression: Expression) => boolean {
  const sizes = makeSizes(body, {
    operation: ofOperation,
    joined: (of, separator) => of * (1 + MOST_SEARCHED + separator),
  })
  return (expression) => sizes(expression) > MOST_SIZE
}

const EXPRESSIONS = new Set(['operation', 'call', 'aggregate'])

interface SizeRules {
  operation(operator: string, args: readonly Expression[], sizes: readonly number[]): number
  /** The size of many values joined. */
  joined(of: number, separator: number): number
}

/** Computes the size of an expression's value; Infinity if no bound is known. */
export function makeSizes(body: Query['body'], rules: SizeRules): (expression: Expression) => number {
  const bound = boundIn(body)
  const known = new Map<string, number>()
  let steps = 0
  const ofVariable = (name: string): number => {
    const found = known.get(name)
    if (found !== undefined) return found
    // A variable that depends on itself has no bound.
    known.set(name, Infinity)
    steps++
    const size = steps > MOST_STEPS ? Infinity : longestOf((bound.get(name) ?? []).map(sizeOf))
    steps--
    known.set(name, size)
    return size
  }
  const ofAggregate = ({ name, of, separator = '' }: Expression & { readonly kind: 'aggregate' }): number => {
    const size = of === '*' ? 1 : sizeOf(of)
    return name === 'group_concat' ? rules.joined(size, separator.length / STEP) : size
  }
  const sizeOf = (expression: Expression): number => {
    switch (expression.kind) {
      case 'variable':
        return ofVariable(expression.value)
      case 'operation':
        return rules.operation(expression.operator, expression.args, expression.args.map(sizeOf))
      case 'call':
        return longestOf(expression.args.map(sizeOf))
      case 'aggregate':
        return ofAggregate(expression)
      case 'exists':
        return 1
      default:
        return ofTerm(expression)
    }
  }
  return sizeOf
}

/** The expressions and the values of each variable. */
export function boundIn(body: Query['body']): ReadonlyMap<string, readonly Expression[]> {
  const bound = new Map<string, Expression[]>()
  const add = ({ value }: Variable, expression: Expression): void => {
    const known = bound.get(value)
    if (known) known.push(expression)
    else bound.set(value, [expression])
  }
  const collect = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const { kind } = part as { readonly kind?: string }
    if (kind === 'bind') add((part as Bound).variable, (part as Bound).expression)
    if (kind === 'values') {
      const { variables, rows } = part as ValuesBlock
      for (const row of rows) for (const [i, term] of row.entries()) if (term) add(variables[i]!, term)
      return
    }
    for (const each of Object.values(part)) collect(each)
  }
  collect(body)
  return bound
}

export const longestOf = (sizes: readonly number[]): number => sizes.reduce((most, size) => Math.max(most, size), 1)

const ofTerm = (term: Term): number => (term.kind === 'literal' ? 1 + term.value.length / STEP : 1)

const SUMS = new Set(['concat', '+', '-', '*', '/'])

function ofOperation(operator: string, args: readonly Expression[], sizes: readonly number[]): number {
  const [first = 1] = sizes
  const longest = longestOf(sizes)
  if (isSumOfUnknown(operator, args)) return Infinity
  // Jena also compares long durations month by month.
  if (COMPARISONS.has(operator) && args.some(isDuration)) return Infinity
  if (SUMS.has(operator)) return sizes.reduce((sum, each) => sum + each, 0)
  if (operator === 'encode_for_uri') return 3 * longest
  if (operator !== 'regex' && operator !== 'replace') return longest
  const [pattern, replacement, flags] = operator === 'regex' ? [args[1], undefined, args[2]] : args.slice(1)
  const areTame = flags === undefined || (flags.kind === 'literal' && /^[ismq]*$/.test(flags.value))
  const isTame = isTamePattern(pattern) && areTame && first <= MOST_SEARCHED
  if (!isTame) return Infinity
  if (operator === 'regex') return 1
  const length = replacement?.kind === 'literal' ? replacement.value.length : Infinity
  return first * Math.max(1, length)
}

const COMPARISONS = new Set(['=', '!=', '<', '>', '<=', '>=', 'in', 'notin'])
export const DURATIONS: ReadonlySet<string> = new Set(['duration', 'dayTimeDuration', 'yearMonthDuration'].map(XSD))

/** True if the query says that the value may be a duration; for data, nothing says so. */
function isDuration(expression: Expression): boolean {
  switch (expression.kind) {
    case 'literal':
      return expression.datatype !== undefined && DURATIONS.has(expression.datatype)
    case 'call':
      return DURATIONS.has(expression.name) || expression.args.some(isDuration)
    case 'operation':
      return expression.operator === 'strdt' || expression.args.some(isDuration)
    default:
      return false
  }
}

export const NUMERIC_FUNCTIONS: ReadonlySet<string> = new Set(['integer', 'decimal', 'double', 'float'].map(XSD))
const COUNTS = new Set([
  'strlen',
  'abs',
  'ceil',
  'floor',
  'round',
  'year',
  'month',
  'day',
  'hours',
  'minutes',
  'seconds',
])

/** A number or an error, so never a duration. */
export function isNumber(expression: Expression): boolean {
  switch (expression.kind) {
    case 'literal':
      return expression.datatype !== undefined && NUMERIC_FUNCTIONS.has(expression.datatype)
    case 'call':
      return NUMERIC_FUNCTIONS.has(expression.name)
    case 'aggregate':
      return ['count', 'sum', 'avg'].includes(expression.name)
    case 'operation':
      return (
        COUNTS.has(expression.operator) ||
        (['+', '-'].includes(expression.operator) && expression.args.some(isNumber)) ||
        (['*', '/'].includes(expression.operator) && expression.args.every(isNumber))
      )
    default:
      return false
  }
}

/**
 * After a backslash, these are one character or one class of characters; others may start a quote, or include the next
 * character.
 */
const ONE_CHARACTER = /\\[\\dDwWsSbBnrtf.^$*+?()[\]{}|/-]/g
const CLASS = /\[\^?\]?[^[\]]*\]/g

/** A constant pattern with few quantifiers and no repeated groups: Java runs out of stack on those. */
function isTamePattern(pattern: Expression | undefined): boolean {
  if (pattern?.kind !== 'literal' || pattern.value.length > STEP) return false
  const plain = pattern.value.replace(ONE_CHARACTER, '_').replace(CLASS, '_')
  const quantifiers = plain.match(/[*+?{][?+]?/g) ?? []
  return !/\\|\)[*+?{]|\(\?/.test(plain) && quantifiers.length <= MOST_QUANTIFIERS
}
