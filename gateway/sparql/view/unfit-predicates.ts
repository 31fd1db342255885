// In charge of predicates that may get a value from before that is no IRI: a literal, a blank node, a triple term. Jena fails on it where
// it orders several triples, for each row of what stands before: what is hidden would decide whether there is one. Pure.
import { isPath, type Pattern, type Term, type Values } from './syntax.js'
import { equalIn, hasOther, type Equal } from './triple-terms.js'
import { variablesOf } from './variables.js'

/** What gives values to variables before a pattern is evaluated. */
export interface Before {
  /** The variables that may have such a value. */
  readonly names: Set<string>
  readonly equal: Equal
  readonly around?: Before
  /** Those of the whole query are in it. */
  isWhole: boolean
  /** Groups that have been searched in vain, and whether `isWhole` was so then: each level of a query asks for what is in it. */
  readonly fit: WeakMap<readonly Pattern[], boolean>
}

const has = ({ names, around }: Before, name: string): boolean =>
  names.has(name) || (around !== undefined && has(around, name))

function add({ names, equal }: Before, ...terms: readonly Term[]): void {
  const left = terms.flatMap(variablesOf)
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (names.has(name)) continue
    names.add(name)
    left.push(...(equal.get(name) ?? []))
  }
}

/** Of a whole query: VALUES may be joined before anything else. */
export function startBefore(body: unknown, values: readonly Values[]): Before {
  const before: Before = { names: new Set(), equal: equalIn(body), isWhole: false, fit: new WeakMap() }
  for (const each of values) addValues(before, each)
  return before
}

/** Where nothing says what is evaluated before: in EXISTS. */
export function addAll(before: Before | undefined, body: unknown): void {
  if (!before || before.isWhole) return
  before.isWhole = true
  visit(body, (each) => addValues(before, each))
}

function visit(part: unknown, see: (part: Pattern) => unknown): void {
  if (typeof part !== 'object' || part === null) return
  see(part as Pattern)
  for (const each of Object.values(part)) visit(each, see)
}

/** After a pattern: its own variables, and not those of patterns in it. */
export function addValues(before: Before | undefined, pattern: Pattern): void {
  if (!before) return
  if (pattern.kind === 'bind') add(before, pattern.variable)
  if (pattern.kind === 'values' && hasOther(pattern)) add(before, ...pattern.variables)
  if (pattern.kind === 'triples') for (const { subject, object } of pattern.triples) add(before, subject, object)
}

/** True where a predicate of several triples may have such a value. */
export const mayBeUnfit = (patterns: readonly Pattern[], around: Before | undefined): boolean =>
  around !== undefined &&
  around.fit.get(patterns) !== around.isWhole &&
  isUnfit(patterns, { ...around, names: new Set(), around }, false)

function isUnfit(patterns: readonly Pattern[], before: Before, isAmongOthers: boolean): boolean {
  const areOrdered = isAmongOthers || triplesIn(patterns) > 1
  const isFilter = ({ kind }: Pattern): boolean => kind === 'filter'
  // FILTER is evaluated when all else of its group is.
  const found = [...patterns.filter((each) => !isFilter(each)), ...patterns.filter(isFilter)].some((pattern) => {
    const isOne = isUnfitIn(pattern, before, areOrdered)
    addValues(before, pattern)
    return isOne
  })
  if (!found) before.fit.set(patterns, before.isWhole)
  return found
}

function isUnfitIn(pattern: Pattern, before: Before, areOrdered: boolean): boolean {
  switch (pattern.kind) {
    case 'triples':
      return areOrdered && hasUnfit(pattern, before)
    case 'group':
    case 'graph':
      return isUnfit(pattern.patterns, before, areOrdered)
    case 'optional':
    case 'minus':
      return isUnfit(pattern.patterns, before, false)
    case 'union':
      return pattern.branches.some((branch) => isUnfit(branch, before, false))
    case 'select':
      return isUnfit(pattern.query.where, before, false)
    case 'filter':
    case 'bind':
      return existsIn(pattern.expression).some((each) => isUnfit(each, before, false))
    case 'service':
    case 'values':
      return false
  }
}

/** A path ends the triples that are ordered together. */
function hasUnfit({ triples }: Pattern & { readonly kind: 'triples' }, before: Before): boolean {
  const hasPath = triples.some(({ predicate }) => isPath(predicate))
  return triples.some(({ subject, predicate, object }) => {
    const found = predicate.kind === 'variable' && has(before, predicate.value)
    if (hasPath) add(before, subject, object)
    return found
  })
}

function existsIn(part: unknown): readonly (readonly Pattern[])[] {
  if (typeof part !== 'object' || part === null) return []
  const { kind, patterns } = part as { readonly kind?: string; readonly patterns: readonly Pattern[] }
  return kind === 'exists' ? [patterns] : Object.values(part).flatMap(existsIn)
}

/** Of those that are ordered together; a path may become several. */
const triplesIn = (patterns: readonly Pattern[]): number =>
  patterns.reduce((count, each) => {
    if (each.kind === 'group' || each.kind === 'graph') return count + triplesIn(each.patterns)
    if (each.kind !== 'triples') return count
    return each.triples.reduce((sum, { predicate }) => sum + (isPath(predicate) ? 2 : 1), count)
  }, 0)
