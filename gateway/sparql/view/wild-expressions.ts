// In charge of expressions that may fail, or take long, for some values, and of SERVICE. A store may evaluate them on what an agent may
// not read, before it tests whether the agent may: whether the query fails would tell of these values, and another server would get them
// (design 4). Pure.
import type { Bound, Expression, Query, Term } from './syntax.js'

/** So many times as long as a value of the data, and as a text of as many characters as STEP. */
const MOST_SIZE = 64
/** Of a text that is searched by a regular expression, or replaced. */
const MOST_SEARCHED = 4
const STEP = 256
const MOST_REPLACEMENT = 64
/** Of * + ? and { in one regular expression. */
const MOST_QUANTIFIERS = 2

/** True where an expression of a pattern may fail or take long for some values, or another server answers a part. What is computed from all solutions is not of a pattern. */
export function hasWild({ where, modifiers, ...body }: Query['body']): boolean {
  const sizes = makeSizes([where, modifiers, body])
  const isWild = (part: unknown, isOpen: boolean): boolean => {
    if (typeof part !== 'object' || part === null) return false
    const { kind = '' } = part as { readonly kind?: string }
    const isExpression = EXPRESSIONS.has(kind)
    if (kind === 'service') return true
    if (isOpen && isExpression && sizes(part as Expression) > MOST_SIZE) return true
    // Its size is that of all in it, but for patterns.
    const areOpen = kind === 'exists' || (isOpen && !isExpression)
    return Object.values(part).some((each) => isWild(each, areOpen))
  }
  return isWild(where, true) || isWild([modifiers, body], false)
}

const EXPRESSIONS = new Set(['operation', 'call', 'aggregate'])

/** How long the value of an expression may be, in sizes of a value of the data; Infinity: no bound is known. */
function makeSizes(parts: readonly unknown[]): (expression: Expression) => number {
  const bound = new Map<string, Bound[]>()
  collect(parts, bound)
  const known = new Map<string, number>()
  const ofVariable = (name: string): number => {
    const found = known.get(name)
    if (found !== undefined) return found
    // A variable that depends on itself has no bound.
    known.set(name, Infinity)
    const size = Math.max(1, ...(bound.get(name) ?? []).map(({ expression }) => sizeOf(expression)))
    known.set(name, size)
    return size
  }
  const sizeOf = (expression: Expression): number => {
    switch (expression.kind) {
      case 'variable':
        return ofVariable(expression.value)
      case 'operation':
        return ofOperation(expression.operator, expression.args, expression.args.map(sizeOf))
      case 'call':
        return Math.max(1, ...expression.args.map(sizeOf))
      case 'aggregate':
        return ofAggregate(expression, expression.of === '*' ? 1 : sizeOf(expression.of))
      case 'exists':
        return 1
      default:
        return ofTerm(expression)
    }
  }
  return sizeOf
}

function collect(part: unknown, bound: Map<string, Bound[]>): void {
  if (typeof part !== 'object' || part === null) return
  if ((part as Bound).kind === 'bind') {
    const { value } = (part as Bound).variable
    bound.set(value, [...(bound.get(value) ?? []), part as Bound])
  }
  for (const each of Object.values(part)) collect(each, bound)
}

const ofTerm = (term: Term): number => (term.kind === 'literal' ? 1 + term.value.length / STEP : 1)

const SUMS = new Set(['concat', '+', '-', '*', '/'])

function ofOperation(operator: string, args: readonly Expression[], sizes: readonly number[]): number {
  const [first = 1] = sizes
  const longest = Math.max(1, ...sizes)
  if (SUMS.has(operator)) return sizes.reduce((sum, each) => sum + each, 0)
  if (operator === 'encode_for_uri') return 3 * longest
  if (operator !== 'regex' && operator !== 'replace') return longest
  const [pattern, replacement, flags] = operator === 'regex' ? [args[1], undefined, args[2]] : args.slice(1)
  const areTame = flags === undefined || (flags.kind === 'literal' && /^[ismq]*$/.test(flags.value))
  const isTame = isTamePattern(pattern) && areTame && first <= MOST_SEARCHED
  if (!isTame) return Infinity
  if (operator === 'regex') return 1
  const length = replacement?.kind === 'literal' ? replacement.value.length : Infinity
  return length <= MOST_REPLACEMENT ? first * Math.max(1, length) : Infinity
}

/** Of many values, joined, the length is not known: it is not searched. */
function ofAggregate({ name, separator = '' }: Expression & { readonly kind: 'aggregate' }, of: number): number {
  if (name !== 'group_concat') return of
  return separator.length <= MOST_REPLACEMENT ? of * (1 + MOST_SEARCHED) : Infinity
}

/** A text without repeated groups, of which Java's regular expressions run out of stack, and with few quantifiers. */
function isTamePattern(pattern: Expression | undefined): boolean {
  if (pattern?.kind !== 'literal' || pattern.value.length > STEP) return false
  const plain = pattern.value.replace(/\\[^1-9]/g, '_').replace(/\[\^?\]?[^[\]]*\]/g, '_')
  const quantifiers = plain.match(/[*+?{][?+]?/g) ?? []
  return !/\\|\)[*+?{]|\(\?/.test(plain) && quantifiers.length <= MOST_QUANTIFIERS
}
