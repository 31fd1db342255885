// Variables in predicate position that may have a value that is not an IRI: a literal, a blank node, a triple term.
// Jena fails on such a value if it orders several triples, which it does for each earlier row. Pure.
import { isPath, type GraphPattern, type Term, type Triple, type ValuesBlock } from '../language/syntax.js'
import { equalIn, hasOther, type Equal } from './triple-terms.js'
import { variablesOf } from '../language/variables.js'

/** The variables that may have values before a pattern is evaluated. */
export interface Before {
  /** The variables that may have a value that is not an IRI. */
  readonly names: Set<string>
  readonly equal: Equal
  /** Call it when all variables of the query have been added. */
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

/** The start of a query: its VALUES may be joined before anything else. */
export function startBefore(body: unknown, values: readonly ValuesBlock[]): Before {
  const before: Before = { names: new Set(), equal: equalIn(body), isWhole: false }
  for (const each of values) addValues(before, each)
  return before
}

/** For EXISTS, where the order of evaluation is unknown. */
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

/** Adds the variables of the pattern itself, not those of inner patterns. */
export function addValues(before: Before | undefined, pattern: GraphPattern): void {
  if (!before) return
  if (pattern.kind === 'bind') add(before, pattern.variable)
  if (pattern.kind === 'values' && hasOther(pattern)) add(before, ...pattern.variables)
  if (pattern.kind === 'triples') for (const { subject, object } of pattern.triples) add(before, subject, object)
}

/** The triples whose predicate may have such a value. Jena does not order triples across a path. */
export function unfitIn(triples: readonly Triple[], before: Before): readonly Triple[] {
  if (triples.some(({ predicate }) => isPath(predicate))) addValues(before, { kind: 'triples', triples })
  return triples.filter(({ predicate }) => predicate.kind === 'variable' && before.names.has(predicate.value))
}

/**
 * How many triples are ordered together; a path may become several. Results are cached, since each level of a query
 * asks for its content.
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
