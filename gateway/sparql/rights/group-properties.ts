// How a group of patterns depends on its graph in stores that evaluate GRAPH triple by triple. Pure.
import { isPath, type Expression, type Path, type GraphPattern, type Select, type Term } from '../language/syntax.js'

/** The groups inside a pattern. */
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

/** True if the pattern matches exactly once, whatever the graph contains. */
export const isEmpty = (pattern: GraphPattern): boolean =>
  (pattern.kind === 'triples' && pattern.triples.length === 0) ||
  (pattern.kind === 'group' && pattern.patterns.every(isEmpty))

/**
 * True if a part has `SELECT * { }`. In GRAPH, TDB2 treats it as `{ }`: it lists the graphs, and joins them with
 * nothing.
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

/** True if the algebra of a group contains an empty group (SPARQL 1.1 §18.2.2): in GRAPH ?g it matches each graph. */
export function startsEmpty(patterns: readonly GraphPattern[]): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  return first === undefined || ['bind', 'optional', 'minus'].includes(first.kind)
}

/**
 * MINUS removes only solutions that share a variable with it (SPARQL 1.1 §18.5), so a leading MINUS removes nothing.
 * RDF4J removes solutions anyway.
 * @param keepsPlace put an empty MINUS in its place: without it, Jena joins differently, and Oxigraph tests a FILTER
 * earlier
 */
export function withoutFirstMinus(patterns: readonly GraphPattern[], keepsPlace: boolean): readonly GraphPattern[] {
  const first = patterns.findIndex(({ kind }) => kind !== 'filter' && kind !== 'minus')
  return patterns.flatMap((each, i) => {
    if (each.kind !== 'minus' || (first >= 0 && i > first)) return [each]
    return keepsPlace ? [{ kind: 'minus', patterns: [] }] : []
  })
}

/**
 * True if BIND gives a value to the name of an earlier GRAPH. SPARQL forbids it (SPARQL 1.1 §18.2.1), but some stores
 * accept it.
 */
export function assignsName(patterns: readonly GraphPattern[]): boolean {
  const names = new Set<string>()
  return patterns.some((each) => {
    if (each.kind === 'graph') names.add(each.name.value)
    return each.kind === 'bind' && names.has(each.variable.value)
  })
}

/** True if triples bind the graph's name in every solution, before any other pattern uses graphs. */
export const bindsName = (patterns: readonly GraphPattern[]): boolean =>
  patterns.some(hasTriples) && namesFirst(patterns) && patterns.every(looksAtNoOther)

export const hasTriples = (pattern: GraphPattern): boolean => pattern.kind === 'triples' && pattern.triples.length > 0

/** False if an OPTIONAL comes before the triples: it is matched in any graph, and determines the graph. */
function namesFirst(patterns: readonly GraphPattern[]): boolean {
  const first = patterns.find((each) => hasTriples(each) || each.kind === 'optional')
  return first?.kind !== 'optional'
}

/** True if an OPTIONAL comes before other patterns in any of the groups. */
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
 * True if the patterns of GRAPH ?g mean the same with each triple in its own GRAPH ?g (SPARQL 1.1 §18.6): each
 * solution, also of an OPTIONAL in them, has a triple, and no other pattern uses the graph.
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
      // Before any pattern binds the graph, it would choose the graph.
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
 * Removes repeated GRAPHs of plain triples. Such a GRAPH has each solution once, so joining it with itself changes
 * nothing (SPARQL 1.1 §18.5). Stores take long to order many patterns.
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

/** Blank nodes and paths may repeat solutions. */
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

/** True for GRAPH, and for DESCRIBE, which reads all graphs. */
export function hasGraph(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, form } = part as { readonly kind?: string; readonly form?: string }
  return kind === 'graph' || form === 'DESCRIBE' || Object.values(part).some(hasGraph)
}
