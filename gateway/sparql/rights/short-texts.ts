// Limits the texts of data that expensive expressions accept: Jena would work on a text of a megabyte for minutes, and
// check the time only afterwards (design 7). On a longer text the expression fails, as on any invalid value. Pure.
import { XSD } from '../../rdf/vocabulary.js'
import { operation, type Expression, type Query } from '../language/syntax.js'
import { waysOfCall } from './endless-expressions.js'
import { NUMERIC_FUNCTIONS } from './unbounded-expressions.js'

/** In characters. */
const LONGEST = 32_768
/** The longest text to search for in a text of any length. */
const SOUGHT = 1024

/** The query, with a condition on each text that would take quadratic time. */
export function withShortTexts(query: Query): Query {
  const body = inPart(query.body)
  return body === query.body ? query : { ...query, body }
}

function inPart<T>(part: T): T {
  if (typeof part !== 'object' || part === null || (part as { readonly kind?: string }).kind === 'triples') return part
  let isSame = true
  const within = (each: unknown): unknown => {
    const changed = inPart(each)
    isSame &&= changed === each
    return changed
  }
  const found = Array.isArray(part)
    ? part.map(within)
    : Object.fromEntries(Object.entries(part).map(([key, each]) => [key, within(each)]))
  return inExpression((isSame ? part : found) as Expression) as T
}

function inExpression(expression: Expression): Expression {
  if (expression.kind !== 'operation' && expression.kind !== 'call') return expression
  const { args } = expression
  const quadratic = quadraticOf(expression)
  if (quadratic.length === 0) return expression
  return { ...expression, args: args.map((each, i) => (quadratic.includes(i) ? shortened(each) : each)) }
}

/** The arguments whose length affects the time quadratically. */
function quadraticOf(expression: Expression & { readonly kind: 'operation' | 'call' }): readonly number[] {
  const { args } = expression
  const second = args[1]
  if (expression.kind === 'call') return QUADRATIC.has(expression.name) ? [0] : []
  const { operator } = expression
  switch (operator) {
    case 'regex':
    case 'replace':
      return waysOfCall(operator, args).degree > 1 ? [0] : []
    case 'contains':
    case 'strbefore':
    case 'strafter':
      return second?.kind === 'literal' && second.value.length <= SOUGHT ? [] : [0, 1]
    case 'strdt':
      return second?.kind === 'iri' && !NUMERIC_FUNCTIONS.has(second.value) ? [] : [0]
    case 'iri':
    case 'uri':
      return [0]
    default:
      return []
  }
}

const QUADRATIC = new Set(['integer', 'decimal'].map(XSD))

/** Limits the length of each value in the expression, so that its result stays below LONGEST. */
function shortened(expression: Expression): Expression {
  const longest = Math.floor(LONGEST / growthOf(expression))
  const most: Expression = { kind: 'literal', value: String(longest), datatype: XSD('integer') }
  const each = (part: Expression): Expression => {
    if (part.kind === 'literal') return part.value.length <= longest ? part : ERROR
    if (part.kind === 'variable' || part.kind === 'aggregate')
      return operation('if', operation('<=', operation('strlen', operation('str', part)), most), part, ERROR)
    return part.kind === 'operation' || part.kind === 'call' ? { ...part, args: part.args.map(each) } : part
  }
  return each(expression)
}

const ERROR = operation('coalesce')

/** The length of the resulting text, as a multiple of the expression's longest value. */
function growthOf(expression: Expression): number {
  if (expression.kind !== 'operation') return 1
  const { operator, args } = expression
  const growths = args.map(growthOf)
  if (operator === 'concat') return growths.reduce((sum, each) => sum + each, 0) || 1
  if (operator === 'encode_for_uri') return 9 * growths[0]!
  if (operator !== 'replace') return Math.max(1, ...growths)
  const length = args[2]?.kind === 'literal' ? args[2].value.length : LONGEST
  return growths[0]! * (1 + length)
}
