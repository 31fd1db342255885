// The name of a GRAPH used in the patterns inside it. Some stores bind it there, others only at the end. Pure.
import { hasExists, hasTriples, optionalFirst } from './group-properties.js'
import type { Iri, GraphPattern, Select, Term, Variable } from '../language/syntax.js'
import { inScope, variablesIn } from '../language/variables.js'

/** True if the triples bind the graph's name in every solution, in a store that puts the name into each triple. */
const namesGraph = (patterns: readonly GraphPattern[], name: Variable): boolean =>
  patterns.some((each) => {
    switch (each.kind) {
      case 'triples':
        return hasTriples(each)
      case 'group':
        return namesGraph(each.patterns, name)
      case 'union':
        return each.branches.every((branch) => namesGraph(branch, name))
      case 'select':
        return selects(each.query, name) && namesGraph(each.query.where, name)
      default:
        return false
    }
  })

/** True if a FILTER or VALUES around GRAPH, or an OPTIONAL in it, uses the name before triples have bound it. */
export const testsName = (patterns: readonly GraphPattern[], name: Variable, isOutside: boolean): boolean =>
  (isOutside || patterns.some(({ kind }) => kind === 'optional')) && !namesGraph(patterns, name)

const selects = ({ projection }: Select, name: Variable): boolean =>
  projection === '*' || projection.some((each) => each.kind === 'variable' && each.value === name.value)

/**
 * The patterns of `GRAPH ?g`, with another variable instead of ?g if ?g has no value in them (TDB2). Undefined if it
 * matters that ?g is bound only at the end.
 */
export function withoutName(
  patterns: readonly GraphPattern[],
  name: Variable,
  fresh: () => Variable,
  asQuads: boolean,
): readonly GraphPattern[] | undefined {
  if (!usesName(patterns, name)) return patterns
  if (asQuads && (removesInExists(patterns, name) || optionalBefore(patterns, name))) return undefined
  if (inScope(patterns).has(name.value)) return isJoin(patterns, name) ? patterns : undefined
  return renamed(patterns, name, fresh()) as readonly GraphPattern[]
}

/** True if a MINUS in EXISTS mentions the name: TDB2 does not replace it there. */
function removesInExists(part: unknown, name: Variable, isInExists = false): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  if (kind === 'minus' && isInExists) return usesName(part, name)
  return Object.values(part).some((each) => removesInExists(each, name, isInExists || kind === 'exists'))
}

/** True if a sub-query has GRAPH with this name and begins with OPTIONAL: TDB2 uses one name for both. */
function optionalBefore(part: unknown, name: Variable): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, query } = part as { readonly kind?: string; readonly query?: Select }
  if (kind === 'select' && optionalFirst(query!.where) && namesAGraph(query!.where, name)) return true
  return Object.values(part).some((each) => optionalBefore(each, name))
}

const namesAGraph = (part: unknown, name: Variable): boolean =>
  typeof part === 'object' &&
  part !== null &&
  (((part as GraphPattern).kind === 'graph' && isTerm((part as { readonly name: unknown }).name, name)) ||
    Object.values(part).some((each) => namesAGraph(each, name)))

function renamed(part: unknown, name: Variable, other: Variable): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (isTerm(part, name)) return other
  if (Array.isArray(part)) return part.map((each) => renamed(each, name, other))
  return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, renamed(each, name, other)]))
}

const isTerm = (part: unknown, { kind, value }: Variable | Iri): boolean =>
  typeof part === 'object' && part !== null && (part as Term).kind === kind && (part as Variable | Iri).value === value

/** True if the name occurs anywhere in the part. */
export const usesName = (part: unknown, name: Variable | Iri): boolean =>
  typeof part === 'object' &&
  part !== null &&
  (isTerm(part, name) || Object.values(part).some((each) => usesName(each, name)))

/**
 * True if the patterns that mention the name are only joined, so that it does not matter when the name gets its value.
 */
function isJoin(patterns: readonly GraphPattern[], name: Variable): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  const begins = first?.kind === 'triples' && first.triples.length > 0
  const hasValue = begins && first.triples.some((triple) => variablesIn(triple).includes(name.value))
  return patterns.every((pattern) => {
    switch (pattern.kind) {
      case 'triples':
        return true
      case 'graph':
        return pattern.name.value === name.value || isJoin(pattern.patterns, name)
      case 'group':
        return isJoin(pattern.patterns, name)
      case 'union':
        return pattern.branches.every((branch) => isJoin(branch, name))
      case 'values':
        return begins || !usesName(pattern, name)
      case 'select':
        return !usesName(pattern, name)
      case 'filter':
      case 'bind':
        if (usesName(pattern, name)) return hasValue && !hasExists(pattern.expression)
        return begins || !hasExists(pattern.expression)
      default:
        return begins && !usesName(pattern, name)
    }
  })
}
