// What a group of patterns does with its graph in stores that evaluate GRAPH triple by triple. Pure.
import { isPath, type Expression, type Path, type GraphPattern, type Select, type Term } from '../language/syntax.js'

/** The groups that are parts of a pattern. */
export function groupsIn(pattern: GraphPattern): readonly (readonly GraphPattern[])[] {
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
export const isEmpty = (pattern: GraphPattern): boolean =>
  (pattern.kind === 'triples' && pattern.triples.length === 0) ||
  (pattern.kind === 'group' && pattern.patterns.every(isEmpty))

/**
 * True where a part has `SELECT * { }`, which TDB2 takes for `{ }` in GRAPH: it lists the graphs, and joins them with
 * nothing beside it.
 */
export function hasEmptySelect(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, query } = part as { readonly kind?: string; readonly query?: Select }
  return (kind === 'select' && selectsNothing(query!)) || Object.values(part).some(hasEmptySelect)
}

const selectsNothing = ({ projection, where, modifiers }: Select): boolean =>
  projection === '*' &&
  where.every(isEmpty) &&
  Object.values(modifiers).every((each: unknown) => each === undefined || (Array.isArray(each) && each.length === 0))

/**
 * True where the algebra of a group has an empty group in it (SPARQL 1.1 §18.2.2): in GRAPH ?g this matches each graph.
 */
export function startsEmpty(patterns: readonly GraphPattern[]): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  return first === undefined || ['bind', 'optional', 'minus'].includes(first.kind)
}

/**
 * MINUS removes what has a variable in common with its own solutions (SPARQL 1.1 §18.5): nothing where it stands first.
 * RDF4J does.
 * @param keepsPlace an empty MINUS takes its place: Jena joins in another way beside it, and Oxigraph tests a FILTER
 * later
 */
export function withoutFirstMinus(patterns: readonly GraphPattern[], keepsPlace: boolean): readonly GraphPattern[] {
  const first = patterns.findIndex(({ kind }) => kind !== 'filter' && kind !== 'minus')
  return patterns.flatMap((each, i) => {
    if (each.kind !== 'minus' || (first >= 0 && i > first)) return [each]
    return keepsPlace ? [{ kind: 'minus', patterns: [] }] : []
  })
}

/**
 * True where BIND gives a value to the name of a GRAPH before it: no SPARQL (SPARQL 1.1 §18.2.1), but a store may take
 * it.
 */
export function assignsName(patterns: readonly GraphPattern[]): boolean {
  const names = new Set<string>()
  return patterns.some((each) => {
    if (each.kind === 'graph') names.add(each.name.value)
    return each.kind === 'bind' && names.has(each.variable.value)
  })
}

/** True where its triples bind the name of the graph in every solution, before anything else looks at graphs. */
export const bindsName = (patterns: readonly GraphPattern[]): boolean =>
  patterns.some(hasTriples) && namesFirst(patterns) && patterns.every(looksAtNoOther)

export const hasTriples = (pattern: GraphPattern): boolean => pattern.kind === 'triples' && pattern.triples.length > 0

/** An OPTIONAL that stands before the triples is matched in any graph, and decides which one is left. */
function namesFirst(patterns: readonly GraphPattern[]): boolean {
  const first = patterns.find((each) => hasTriples(each) || each.kind === 'optional')
  return first?.kind !== 'optional'
}

/** True where an OPTIONAL stands before other patterns in any of its groups. */
export function optionalFirst(patterns: readonly GraphPattern[]): boolean {
  const others = patterns.filter(({ kind }) => !['optional', 'filter', 'bind', 'minus'].includes(kind))
  if (others.length > 0 && !namesFirst(patterns)) return true
  return patterns.some((each) => {
    if (each.kind === 'union') return each.branches.some(optionalFirst)
    return (each.kind === 'group' || each.kind === 'optional') && optionalFirst(each.patterns)
  })
}

function looksAtNoOther(pattern: GraphPattern): boolean {
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

/**
 * True where patterns of GRAPH ?g say the same if each of their triples stands in a GRAPH ?g by itself (SPARQL 1.1
 * §18.6): each of their solutions, and of those of an OPTIONAL in them, has a triple, and nothing else looks at the
 * graph.
 */
export function standsApart(patterns: readonly GraphPattern[]): boolean {
  let isNamed = false
  const isApart = (pattern: GraphPattern): boolean => {
    switch (pattern.kind) {
      case 'triples':
        isNamed ||= hasTriples(pattern)
        return true
      case 'group':
        return (isNamed = standsApart(pattern.patterns))
      case 'union':
        return (isNamed = pattern.branches.every(standsApart))
      // Before what names the graph, it would say which it is.
      case 'optional':
        return isNamed && standsApart(pattern.patterns)
      case 'values':
        return true
      case 'filter':
      case 'bind':
        return !hasExists(pattern.expression)
      default:
        return false
    }
  }
  return patterns.every(isApart) && isNamed
}

export function hasExists(expression: Expression): boolean {
  if (expression.kind === 'exists') return true
  if (expression.kind === 'aggregate') return expression.of !== '*' && hasExists(expression.of)
  return (expression.kind === 'operation' || expression.kind === 'call') && expression.args.some(hasExists)
}

/**
 * Each GRAPH of plain triples once among others and filters: it has each solution once, with the same variables, so
 * that its join with itself is itself (SPARQL 1.1 §18.5). Stores take long to order many patterns.
 */
export function withoutRepeats(patterns: readonly GraphPattern[]): readonly GraphPattern[] {
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
export const hasEachOnce = (patterns: readonly GraphPattern[]): boolean =>
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

/** A GRAPH, or DESCRIBE, which looks into each. */
export function hasGraph(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, form } = part as { readonly kind?: string; readonly form?: string }
  return kind === 'graph' || form === 'DESCRIBE' || Object.values(part).some(hasGraph)
}
