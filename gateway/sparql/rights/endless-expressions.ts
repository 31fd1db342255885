// Expressions that may keep a store busy without end if it cannot interrupt them, whatever its data (design 7): a
// hundred characters block one of its threads. Jena checks the time only between rows. Pure.
import { type Expression, type GraphPattern, type Path, type Query, isPath } from '../language/syntax.js'
import { regexWaysOf } from './regex-ways.js'
import { once } from './restriction.js'
import { DURATIONS, NUMERIC_FUNCTIONS, STEP, boundIn, isNumber, longestOf, makeSizes } from './unbounded-expressions.js'

/**
 * The cost of a path at one node: each step multiplies the work by the number of the node's triples, and each
 * alternative repeats the work.
 */
interface Cost {
  readonly steps: number
  readonly ways: number
}

/** The limits for a path of several steps. Inside * and + only one step is allowed. */
const MOST_STEPS = 3
const MOST_WAYS = 16
/** The limit for a path of one step. */
const MOST_ALTERNATIVES = 500
const ENDLESS: Cost = { steps: Infinity, ways: Infinity }

/** @param path of a triple */
function isEndlessPath(path: Path): boolean {
  if (path.kind === 'iri') return false
  const { operator, items } = path
  if (operator === '/' || (operator === '^' && isPath(items[0]!))) return items.some(isEndlessPath)
  return costOf(path) === ENDLESS
}

function costOf(path: Path): Cost {
  if (path.kind === 'iri' || path.operator === '!') return { steps: 1, ways: 1 }
  const costs = path.items.map(costOf)
  const [only] = costs as [Cost]
  const all = (of: keyof Cost, sum: (a: number, b: number) => number): number =>
    costs.map((cost) => cost[of]).reduce(sum)
  const add = (a: number, b: number): number => a + b
  switch (path.operator) {
    case '|':
      return bounded({ steps: all('steps', (a, b) => Math.max(a, b)), ways: all('ways', add) })
    case '/':
      return bounded({ steps: all('steps', add), ways: all('ways', (a, b) => a * b) })
    case '*':
    case '+':
      // The inner path runs once for each node that it reaches.
      return only.steps === 1 ? { steps: 2, ways: 1 } : ENDLESS
    default:
      return only
  }
}

const bounded = (cost: Cost): Cost =>
  cost.steps <= MOST_STEPS && cost.ways <= (cost.steps === 1 ? MOST_ALTERNATIVES : MOST_WAYS) ? cost : ENDLESS

export type Endless = 'endless-regex' | 'endless-path' | 'growth' | 'long-duration'

/**
 * Limits in the units of unbounded-expressions.ts: for a number that is multiplied, or read in quadratic time; and for
 * a computed text.
 */
const MOST_NUMBER = 64
const MOST_TEXT = 1024
/** The size of joined values. */
const JOINED = 256
/** The most regular expressions from one VALUES. */
const MOST_PATTERNS = 50
/** The longest text that may be searched in quadratic time. */
const MOST_SEARCHED = 64
/** Searching for a longer text takes more than linear time. */
const LONGEST_SOUGHT = 1024
/** Jena counts the days of a sum one by one. */
const MOST_DAYS = 1_000_000
/** Beyond this, a sum of dates, differences and multiples may span millions of years. */
const MOST_SUMS = 4

/** The kind of the first such expression in the query, if any. */
export function endlessIn(body: Query['body']): Endless | undefined {
  const bound = boundIn(body)
  const sizeOf = makeSizes(body, {
    operation: sizeOfOperation,
    joined: (of, separator) => Math.max(of, JOINED * (1 + separator)),
  })
  const isComputed = (expression: Expression): boolean =>
    expression.kind === 'variable'
      ? (bound.get(expression.value) ?? []).some(({ kind }) => kind !== 'literal' && kind !== 'iri')
      : expression.kind !== 'literal'

  const isMatched = once(() => variablesOfTriples(body))
  /** The constants that the expression may have as values; undefined if it may have others. */
  const constantsOf = (expression: Expression): readonly Expression[] | undefined => {
    const found = expression.kind === 'variable' ? bound.get(expression.value) : [expression]
    const isConstant = expression.kind !== 'variable' || !isMatched().has(expression.value)
    return isConstant && found && found.length <= MOST_PATTERNS && !found.some(isComputed) ? found : undefined
  }

  let sums = 0
  const inOperation = (operator: string, args: readonly Expression[]): Endless | undefined => {
    if (operator === 'regex' || operator === 'replace') {
      const patterns = constantsOf(args[1]!) ?? args
      const degree = Math.max(...patterns.map((one) => waysOfCall(operator, [args[0]!, one, ...args.slice(2)]).degree))
      if (degree > 2 || (degree > 1 && sizeOf(args[0]!) > MOST_SEARCHED)) return 'endless-regex'
    }
    if (operator === 'strdt' && isDurationName(args[1]) && isComputed(args[0]!)) return 'long-duration'
    if (isSum(operator) && !args.some(isNumber) && computes(args[1]!, bound) && ++sums > MOST_SUMS)
      return 'long-duration'
    const size = sizeOfOperation(operator, args, args.map(sizeOf))
    if (ARITHMETIC.has(operator)) return size > MOST_NUMBER ? 'growth' : undefined
    return GROWING.has(operator) && size > MOST_TEXT ? 'growth' : undefined
  }
  const inCall = (name: string, args: readonly Expression[]): Endless | undefined => {
    if (DURATIONS.has(name) && args.some(isComputed)) return 'long-duration'
    return NUMERIC_FUNCTIONS.has(name) && longestOf(args.map(sizeOf)) > MOST_NUMBER ? 'growth' : undefined
  }
  const inExpression = (part: Expression): Endless | undefined => {
    if (part.kind === 'operation') return inOperation(part.operator, part.args)
    if (part.kind === 'call') return inCall(part.name, part.args)
    if (part.kind === 'literal') return daysOf(part.value) > MOST_DAYS ? 'long-duration' : undefined
    return part.kind === 'aggregate' && sizeOf(part) > MOST_TEXT ? 'growth' : undefined
  }
  const find = (part: unknown): Endless | undefined => {
    if (typeof part !== 'object' || part === null) return undefined
    if ((part as GraphPattern).kind === 'triples') return hasEndlessPath(part as Triples) ? 'endless-path' : undefined
    const found = inExpression(part as Expression)
    if (found) return found
    for (const each of Object.values(part)) {
      const within = find(each)
      if (within) return within
    }
    return undefined
  }
  return find(body)
}

type Triples = GraphPattern & { readonly kind: 'triples' }
const hasEndlessPath = ({ triples }: Triples): boolean =>
  triples.some(({ predicate }) => isPath(predicate) && isEndlessPath(predicate))

const isSum = (operator: string): boolean => operator === '+' || operator === '-'

/** True if arithmetic may produce a duration in the expression, or in an expression that gives its variables values. */
function computes(part: unknown, bound: ReturnType<typeof boundIn>, seen = new Set<string>()): boolean {
  if (typeof part !== 'object' || part === null) return false
  const expression = part as Expression
  if (expression.kind === 'variable') {
    if (seen.has(expression.value)) return false
    seen.add(expression.value)
    return bound.get(expression.value)?.some((one) => computes(one, bound, seen)) === true
  }
  if (expression.kind === 'operation' && ARITHMETIC.has(expression.operator) && !isNumber(expression)) return true
  return Object.values(part).some((each) => computes(each, bound, seen))
}

/** The variables that may get values from data. */
function variablesOfTriples(part: unknown, found = new Set<string>(), isInTriples = false): ReadonlySet<string> {
  if (typeof part !== 'object' || part === null) return found
  const { kind, name, value } = part as { readonly kind?: string; readonly name?: unknown; readonly value?: string }
  if (isInTriples && kind === 'variable') found.add(value!)
  if (kind === 'graph' || kind === 'service') variablesOfTriples(name, found, true)
  for (const each of Object.values(part)) {
    variablesOfTriples(each, found, isInTriples || kind === 'triples' || kind === 'service')
  }
  return found
}

const ARITHMETIC = new Set(['*', '/', '+', '-'])
const GROWING = new Set(['concat', 'replace', 'encode_for_uri'])

function sizeOfOperation(operator: string, args: readonly Expression[], sizes: readonly number[]): number {
  if (ARITHMETIC.has(operator) || operator === 'concat') return sizes.reduce((sum, each) => sum + each, 0)
  if (operator === 'encode_for_uri') return 3 * longestOf(sizes)
  if (operator !== 'replace') return longestOf(sizes)
  const [, , replacement] = args
  const length = replacement?.kind === 'literal' ? replacement.value.length : (sizes[2] ?? 1) * STEP
  // A pattern that matches the empty text inserts the replacement between all characters.
  const more = length > 0 && waysOfCall(operator, args).isNullable ? 1 : 0
  return (sizes[0] ?? 1) * Math.max(1, length + more)
}

/** Counts as exponential if the pattern or its flags are not constant. */
export function waysOfCall(operator: 'regex' | 'replace', args: readonly Expression[]): ReturnType<typeof regexWaysOf> {
  const [pattern, flags] = [args[1], args[operator === 'regex' ? 2 : 3]]
  const known = flags === undefined ? '' : flags.kind === 'literal' && /^[imsq]*$/.test(flags.value) && flags.value
  if (pattern?.kind !== 'literal' || known === false) return { degree: Infinity, isNullable: true }
  if (!known.includes('q')) return regexWaysOf(pattern.value, known)
  return { degree: pattern.value.length > LONGEST_SOUGHT ? 2 : 1, isNullable: pattern.value === '' }
}

const isDurationName = (term: Expression | undefined): boolean => term?.kind !== 'iri' || DURATIONS.has(term.value)

const DURATION = /^-?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d*)?S)?)?$/
const DAYS = [366, 31, 1, 1 / 24, 1 / 1440, 1 / 86_400]

/** Any text may be cast to a duration; 0 if it is not one. */
function daysOf(text: string): number {
  const numbers = DURATION.exec(text.trim())?.slice(1) ?? []
  return numbers.reduce((sum, number = '0', i) => sum + Number(number) * DAYS[i]!, 0)
}
