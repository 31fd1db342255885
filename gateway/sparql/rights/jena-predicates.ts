// Predicates that may get a value from before that is no IRI: a literal, a blank node, a triple term. Jena fails on it
// where it orders several triples, for each row of what stands before. Pure.
import { isPath, type GraphPattern, type Term, type Triple, type ValuesBlock } from '../language/syntax.js'
import { equalIn, hasOther, type Equal } from './triple-terms.js'
import { variablesOf } from '../language/variables.js'

/** What gives values to variables before a pattern is evaluated. */
export interface Before {
  /** The variables that may have such a value. */
  readonly names: Set<string>
  readonly equal: Equal
  /** Those of the whole query are in it. */
  isWhole: boolean
}

function add({ names, equal }: Before, ...terms: readonly Term[]): void {
  const left = terms.flatMap(variablesOf)
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (names.has(name)) continue
    names.add(name)
    left.push(...(equal.get(name) ?? []))
  }
}

/** Of a whole query: VALUES may be joined before anything else. */
export function startBefore(body: unknown, values: readonly ValuesBlock[]): Before {
  const before: Before = { names: new Set(), equal: equalIn(body), isWhole: false }
  for (const each of values) addValues(before, each)
  return before
}

/** Where nothing says what is evaluated before: in EXISTS. */
export function addAll(before: Before | undefined, body: unknown): void {
  if (!before || before.isWhole) return
  before.isWhole = true
  visit(body, (each) => addValues(before, each))
}

function visit(part: unknown, see: (part: GraphPattern) => unknown): void {
  if (typeof part !== 'object' || part === null) return
  see(part as GraphPattern)
  for (const each of Object.values(part)) visit(each, see)
}

/** After a pattern: its own variables, and not those of patterns in it. */
export function addValues(before: Before | undefined, pattern: GraphPattern): void {
  if (!before) return
  if (pattern.kind === 'bind') add(before, pattern.variable)
  if (pattern.kind === 'values' && hasOther(pattern)) add(before, ...pattern.variables)
  if (pattern.kind === 'triples') for (const { subject, object } of pattern.triples) add(before, subject, object)
}

/**
 * Those of the triples of a pattern whose predicate may have such a value. A path ends the triples that are ordered
 * together.
 */
export function unfitIn(triples: readonly Triple[], before: Before): readonly Triple[] {
  if (triples.some(({ predicate }) => isPath(predicate))) addValues(before, { kind: 'triples', triples })
  return triples.filter(({ predicate }) => predicate.kind === 'variable' && before.names.has(predicate.value))
}

/**
 * How many triples are ordered together; a path may become several. Each level of a query asks for what is in it: it is
 * searched once.
 */
export function orderedIn(patterns: readonly GraphPattern[]): number {
  const known = searched.get(patterns)
  if (known !== undefined) return known
  const found = patterns.reduce((count, each) => {
    if (each.kind === 'group' || each.kind === 'graph') return count + orderedIn(each.patterns)
    if (each.kind !== 'triples') return count
    return each.triples.reduce((sum, { predicate }) => sum + (isPath(predicate) ? 2 : 1), count)
  }, 0)
  searched.set(patterns, found)
  return found
}

const searched = new WeakMap<readonly GraphPattern[], number>()
