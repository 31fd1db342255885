// In charge of what a group of patterns does with the name of its graph in stores that evaluate GRAPH triple by triple. Pure.
import {
  isPath,
  type Expression,
  type Iri,
  type Path,
  type Pattern,
  type Select,
  type Term,
  type Variable,
} from './syntax.js'
import { inScope } from './variables.js'

/** The groups that are parts of a pattern. */
export function groupsIn(pattern: Pattern): readonly (readonly Pattern[])[] {
  switch (pattern.kind) {
    case 'group':
    case 'optional':
    case 'graph':
      return [pattern.patterns]
    case 'union':
      return pattern.branches
    case 'select':
      return [pattern.query.where]
    default:
      return []
  }
}

/** It matches once, whatever the graph has. */
export const isEmpty = (pattern: Pattern): boolean =>
  (pattern.kind === 'triples' && pattern.triples.length === 0) ||
  (pattern.kind === 'group' && pattern.patterns.every(isEmpty))

/** True where a part has `SELECT * { }`, which TDB2 takes for `{ }` in GRAPH: it lists the graphs, and joins them with nothing beside it. */
export function hasEmptySelect(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, query } = part as { readonly kind?: string; readonly query?: Select }
  return (kind === 'select' && selectsNothing(query!)) || Object.values(part).some(hasEmptySelect)
}

const selectsNothing = ({ projection, where, modifiers }: Select): boolean =>
  projection === '*' &&
  where.every(isEmpty) &&
  Object.values(modifiers).every((each: unknown) => each === undefined || (Array.isArray(each) && each.length === 0))

/** True where the algebra of a group has an empty group in it (SPARQL 1.1 §18.2.2): in GRAPH ?g this matches each graph. */
export function startsEmpty(patterns: readonly Pattern[]): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  return first === undefined || ['bind', 'optional', 'minus'].includes(first.kind)
}

/**
 * MINUS removes what has a variable in common with its own solutions (SPARQL 1.1 §18.5): nothing where it stands first. RDF4J does.
 * @param keepsPlace an empty MINUS takes its place: Jena joins in another way beside it
 */
export function withoutFirstMinus(patterns: readonly Pattern[], keepsPlace: boolean): readonly Pattern[] {
  const first = patterns.findIndex(({ kind }) => kind !== 'filter' && kind !== 'minus')
  return patterns.flatMap((each, i) => {
    if (each.kind !== 'minus' || (first >= 0 && i > first)) return [each]
    return keepsPlace ? [{ kind: 'minus', patterns: [] }] : []
  })
}

/** True where BIND gives a value to the name of a GRAPH before it: no SPARQL (SPARQL 1.1 §18.2.1), but a store may take it. */
export function assignsName(patterns: readonly Pattern[]): boolean {
  const names = new Set<string>()
  return patterns.some((each) => {
    if (each.kind === 'graph') names.add(each.name.value)
    return each.kind === 'bind' && names.has(each.variable.value)
  })
}

/** True where its triples bind the name of the graph in every solution, before anything else looks at graphs. */
export const bindsName = (patterns: readonly Pattern[]): boolean =>
  patterns.some(hasTriples) && namesFirst(patterns) && patterns.every(looksAtNoOther)

export const hasTriples = (pattern: Pattern): boolean => pattern.kind === 'triples' && pattern.triples.length > 0

/** An OPTIONAL that stands before the triples is matched in any graph, and decides which one is left. */
function namesFirst(patterns: readonly Pattern[]): boolean {
  const first = patterns.find((each) => hasTriples(each) || each.kind === 'optional')
  return first?.kind !== 'optional'
}

/** True where an OPTIONAL stands before other patterns in any of its groups. */
export function optionalFirst(patterns: readonly Pattern[]): boolean {
  const others = patterns.filter(({ kind }) => !['optional', 'filter', 'bind', 'minus'].includes(kind))
  if (others.length > 0 && !namesFirst(patterns)) return true
  return patterns.some((each) => {
    if (each.kind === 'union') return each.branches.some(optionalFirst)
    return (each.kind === 'group' || each.kind === 'optional') && optionalFirst(each.patterns)
  })
}

/** True where its triples bind the name of the graph in every solution of a store that puts it into each triple. */
const namesGraph = (patterns: readonly Pattern[], name: Variable): boolean =>
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

/** True where a FILTER around GRAPH or VALUES, or an OPTIONAL in it, meets the name before triples have bound it. */
export const testsName = (patterns: readonly Pattern[], name: Variable, isOutside: boolean): boolean =>
  (isOutside || patterns.some(({ kind }) => kind === 'optional')) && !namesGraph(patterns, name)

const selects = ({ projection }: Select, name: Variable): boolean =>
  projection === '*' || projection.some((each) => each.kind === 'variable' && each.value === name.value)

function looksAtNoOther(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'triples':
    case 'values':
      return true
    case 'optional':
      return namesFirst(pattern.patterns) && pattern.patterns.every(looksAtNoOther)
    case 'filter':
    case 'bind':
      return !hasExists(pattern.expression)
    default:
      return false
  }
}

function hasExists(expression: Expression): boolean {
  if (expression.kind === 'exists') return true
  if (expression.kind === 'aggregate') return expression.of !== '*' && hasExists(expression.of)
  return (expression.kind === 'operation' || expression.kind === 'call') && expression.args.some(hasExists)
}

/**
 * The patterns of `GRAPH ?g`, in which the name of the graph has another variable where it has no value there (TDB2). Undefined
 * where it makes a difference that it gets its value at last.
 */
export function withoutName(
  patterns: readonly Pattern[],
  name: Variable,
  fresh: () => Variable,
  asQuads: boolean,
): readonly Pattern[] | undefined {
  if (!usesName(patterns, name)) return patterns
  if (asQuads && (removesInExists(patterns, name) || optionalBefore(patterns, name))) return undefined
  if (inScope(patterns).has(name.value)) return isJoin(patterns, name) ? patterns : undefined
  return renamed(patterns, name, fresh()) as readonly Pattern[]
}

/** True where MINUS in EXISTS mentions the name: there, TDB2 gives it no other variable. */
function removesInExists(part: unknown, name: Variable, isInExists = false): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  if (kind === 'minus' && isInExists) return usesName(part, name)
  return Object.values(part).some((each) => removesInExists(each, name, isInExists || kind === 'exists'))
}

/** True where GRAPH of the same name stands beside an OPTIONAL that a sub-query begins with: TDB2 has one name for both. */
function optionalBefore(part: unknown, name: Variable): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, query } = part as { readonly kind?: string; readonly query?: Select }
  if (kind === 'select' && optionalFirst(query!.where) && namesAGraph(query!.where, name)) return true
  return Object.values(part).some((each) => optionalBefore(each, name))
}

const namesAGraph = (part: unknown, name: Variable): boolean =>
  typeof part === 'object' &&
  part !== null &&
  (((part as Pattern).kind === 'graph' && isTerm((part as { readonly name: unknown }).name, name)) ||
    Object.values(part).some((each) => namesAGraph(each, name)))

function renamed(part: unknown, name: Variable, other: Variable): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (isTerm(part, name)) return other
  if (Array.isArray(part)) return part.map((each) => renamed(each, name, other))
  return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, renamed(each, name, other)]))
}

const isTerm = (part: unknown, { kind, value }: Variable | Iri): boolean =>
  typeof part === 'object' && part !== null && (part as Term).kind === kind && (part as Variable | Iri).value === value

/** True where the name stands anywhere in a part. */
export const usesName = (part: unknown, name: Variable | Iri): boolean =>
  typeof part === 'object' &&
  part !== null &&
  (isTerm(part, name) || Object.values(part).some((each) => usesName(each, name)))

/** True where what mentions it is only joined: it is the same then whether it has its value before or after. */
function isJoin(patterns: readonly Pattern[], name: Variable): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  const begins = first?.kind === 'triples' && first.triples.length > 0
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
        return (begins || !hasExists(pattern.expression)) && !usesName(pattern, name)
      default:
        return begins && !usesName(pattern, name)
    }
  })
}

/**
 * Each GRAPH of plain triples once among others and filters: it has each solution once, with the same variables, so that its join
 * with itself is itself (SPARQL 1.1 §18.5). Stores take long to order many patterns.
 */
export function withoutRepeats(patterns: readonly Pattern[]): readonly Pattern[] {
  if (patterns.length < 2) return patterns
  const seen = new Set<string>()
  return patterns.filter((pattern) => {
    if (pattern.kind === 'filter') return true
    if (pattern.kind !== 'graph') seen.clear()
    if (pattern.kind !== 'graph' || !hasEachOnce(pattern.patterns)) return true
    const text = JSON.stringify(pattern)
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  })
}

/** Blank nodes and paths may give a solution several times. */
export const hasEachOnce = (patterns: readonly Pattern[]): boolean =>
  patterns.length > 0 &&
  patterns.every(
    (each) =>
      each.kind === 'triples' &&
      each.triples.length > 0 &&
      each.triples.every(({ subject, predicate, object }) => [subject, predicate, object].every(isPlain)),
  )

function isPlain(term: Term | Path): boolean {
  if (term.kind === 'triple') return [term.subject, term.predicate, term.object].every(isPlain)
  return term.kind !== 'blank' && !isPath(term)
}
