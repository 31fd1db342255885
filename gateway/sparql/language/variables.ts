// The variables of our own tree (syntax.ts): those in scope (SPARQL 1.1 §18.2.1), and new names that no variable of a
// query has. Pure.
import type {
  Bound,
  Expression,
  Modifiers,
  Path,
  GraphPattern,
  Query,
  Select,
  Term,
  Triple,
  ValuesBlock,
  Variable,
} from './syntax.js'

/**
 * The variables in scope after these patterns, in the order in which Jena selects them: the name of a GRAPH comes after
 * its content.
 */
export function inScope(patterns: readonly GraphPattern[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const pattern of patterns) for (const name of scopeOf(pattern)) found.add(name)
  return found
}

/** Caches the scopes of groups and sub-queries: each level of a query asks for those inside. */
const scopes = new WeakMap<GraphPattern, ReadonlySet<string>>()

function scopeOf(pattern: GraphPattern): Iterable<string> {
  switch (pattern.kind) {
    case 'triples':
      return pattern.triples.flatMap(variablesIn)
    case 'bind':
      return [pattern.variable.value]
    case 'values':
      return pattern.variables.map(({ value }) => value)
    case 'minus':
    case 'filter':
      return []
    default: {
      const known = scopes.get(pattern) ?? scopeWithin(pattern)
      scopes.set(pattern, known)
      return known
    }
  }
}

function scopeWithin(pattern: GraphPattern): ReadonlySet<string> {
  switch (pattern.kind) {
    case 'graph':
    case 'service': {
      const name = pattern.name.kind === 'variable' ? [pattern.name.value] : []
      return new Set([...inScope(pattern.patterns), ...name])
    }
    case 'group':
    case 'optional':
      return inScope(pattern.patterns)
    case 'union':
      return new Set(pattern.branches.flatMap((branch) => [...inScope(branch)]))
    case 'select':
      return projected(pattern.query)
    default:
      return new Set()
  }
}

export const projected = ({ projection, where }: Select): ReadonlySet<string> =>
  projection === '*' ? inScope(where) : projectedIn(projection)

export const projectedIn = (projection: readonly (Variable | Bound)[]): ReadonlySet<string> =>
  new Set(projection.map((each) => (each.kind === 'bind' ? each.variable.value : each.value)))

/**
 * True if a sub-query or VALUES has the name of a GRAPH. Jena treats the name as bound there, and tests conditions on
 * it, even if it has no value.
 */
export function mayLackName(body: unknown): boolean {
  const [names, taken] = [new Set<string>(), new Set<string>()]
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const node = part as GraphPattern
    if (node.kind === 'graph') names.add(node.name.value)
    if (node.kind === 'select') for (const name of projected(node.query)) taken.add(name)
    if (node.kind === 'values') for (const name of unvalued(node)) taken.add(name)
    for (const key in part) visit(part[key as keyof typeof part])
  }
  visit(body)
  return [...taken].some((name) => names.has(name))
}

/** True if an OPTIONAL is outside every GRAPH. */
export function hasOptional(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  return kind === 'optional' || (kind !== 'graph' && Object.values(part).some(hasOptional))
}

/** True if an expression has `||` or IN. */
export function hasAlternatives(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const known = alternatives.get(part)
  if (known !== undefined) return known
  const { kind, operator = '' } = part as { readonly kind?: string; readonly operator?: string }
  const found = (kind === 'operation' && ['||', 'in'].includes(operator)) || Object.values(part).some(hasAlternatives)
  if (Array.isArray(part)) alternatives.set(part, found)
  return found
}

/** Caches the results for lists, since each level of a query asks for its content. */
const alternatives = new WeakMap<object, boolean>()

const unvalued = ({ variables, rows }: ValuesBlock): readonly string[] =>
  variables.flatMap(({ value }, i) => (rows.some((row) => row[i] === undefined) ? [value] : []))

/** All VALUES of a query, and whether a predicate is a variable. */
export interface Contents {
  readonly values: readonly ValuesBlock[]
  readonly hasPredicates: boolean
}

/** Collects both in one walk. */
export function contentsOf(body: unknown): Contents {
  const values: ValuesBlock[] = []
  let hasPredicates = false
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const node = part as GraphPattern
    if (node.kind === 'values') values.push(node)
    else if (node.kind === 'triples')
      hasPredicates ||= node.triples.some(({ predicate }) => predicate.kind === 'variable')
    else for (const key in part) visit(part[key as keyof typeof part])
  }
  visit(body)
  return { values, hasPredicates }
}

/** True if VALUES may have the same row twice. */
export const mayRepeat = (values: ValuesBlock): boolean =>
  unvalued(values).length > 0 || new Set(values.rows.map((row) => JSON.stringify(row))).size < values.rows.length

/** The variables of a triple. */
export const variablesIn = ({ subject, predicate, object }: Triple): readonly string[] =>
  [subject, predicate, object].flatMap((part) => (part.kind === 'path' ? [] : variablesOf(part)))

export function variablesOf(term: Term): readonly string[] {
  if (term.kind === 'variable') return [term.value]
  return term.kind === 'triple' ? [term.subject, term.predicate, term.object].flatMap(variablesOf) : []
}

/** How often each variable occurs in patterns of a part. EXISTS counts, values of a FILTER do not. */
export function mentions(part: unknown): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const visit = (part: unknown, isValue: boolean): void => {
    if (typeof part !== 'object' || part === null) return
    const { kind, value } = part as { kind?: string; value?: string }
    if (kind !== 'variable') {
      const isInValue = kind === 'filter' || (isValue && kind !== 'exists')
      for (const key in part) visit(part[key as keyof typeof part], isInValue)
    } else if (!isValue) found.set(value!, (found.get(value!) ?? 0) + 1)
  }
  visit(part, false)
  return found
}

/** The variables of the FILTERs of a group. */
export const filtered = (patterns: readonly GraphPattern[]): ReadonlySet<string> =>
  new Set(allVariables(patterns.filter(({ kind }) => kind === 'filter')))

/** Makes names that are not variables of these parts: `view1`, `view2` … */
export function freshNames(parts: readonly unknown[]): () => string {
  let prefix: string | undefined
  let count = 0
  return () => `${(prefix ??= freshPrefix(parts))}${++count}`
}

function freshPrefix(parts: readonly unknown[]): string {
  let prefix = 'view'
  const used = allVariables(parts)
  while (used.some((name) => name.startsWith(prefix))) prefix += '_'
  return prefix
}

type Part = Query | GraphPattern | Expression | Modifiers | Term | Path

/** All variables, wherever they occur. */
export function allVariables(parts: readonly unknown[]): string[] {
  const found: string[] = []
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    if (!Array.isArray(part) && (part as Part & { kind?: string }).kind === 'variable') {
      found.push((part as { value: string }).value)
    } else for (const key in part) visit(part[key as keyof typeof part])
  }
  parts.forEach(visit)
  return found
}
