// In charge of what a group of patterns does with the name of its graph in stores that evaluate GRAPH triple by triple. Pure.
import { isPath, type Bound, type Expression, type Path, type Pattern, type Term, type Variable } from './syntax.js'
import { inScope } from './variables.js'

/** It matches once, whatever the graph has. */
export const isEmpty = (pattern: Pattern): boolean =>
  (pattern.kind === 'triples' && pattern.triples.length === 0) ||
  (pattern.kind === 'group' && pattern.patterns.every(isEmpty))

/** True where the algebra of a group has an empty group in it (SPARQL 1.1 §18.2.2): in GRAPH ?g this matches each graph. */
export function startsEmpty(patterns: readonly Pattern[]): boolean {
  const first = patterns.find(({ kind }) => kind !== 'filter')
  return first === undefined || ['bind', 'optional', 'minus'].includes(first.kind)
}

/** MINUS removes what has a variable in common with its own solutions (SPARQL 1.1 §18.5): nothing where it stands first. RDF4J does. */
export function withoutFirstMinus(patterns: readonly Pattern[]): readonly Pattern[] {
  const first = patterns.findIndex(({ kind }) => kind !== 'filter' && kind !== 'minus')
  return patterns.filter(({ kind }, i) => kind !== 'minus' || (first >= 0 && i > first))
}

/** True where AS gives the variable a value in any part. */
export const assigns = (part: unknown, name: Variable): boolean => inside(part).names.has(name.value)

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
  patterns.some((each) => each.kind === 'triples' && each.triples.length > 0) && patterns.every(looksAtNoOther)

function looksAtNoOther(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'triples':
    case 'values':
      return true
    case 'optional':
      return pattern.patterns.every(looksAtNoOther)
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
): readonly Pattern[] | undefined {
  if (!mentions(patterns, name)) return patterns
  if (inScope(patterns).has(name.value)) return isJoin(patterns, name) ? patterns : undefined
  return renamed(patterns, name, fresh()) as readonly Pattern[]
}

function renamed(part: unknown, name: Variable, other: Variable): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (isVariable(part, name)) return other
  if (Array.isArray(part)) return part.map((each) => renamed(each, name, other))
  return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, renamed(each, name, other)]))
}

const isVariable = (part: unknown, { value }: Variable): boolean =>
  typeof part === 'object' && part !== null && (part as Term).kind === 'variable' && (part as Variable).value === value

const mentions = (part: unknown, name: Variable): boolean =>
  typeof part === 'object' &&
  part !== null &&
  (isVariable(part, name) || Object.values(part).some((each) => mentions(each, name)))

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
        return begins || !mentions(pattern, name)
      case 'select':
        return !mentions(pattern, name)
      case 'filter':
      case 'bind':
        return (begins || !hasExists(pattern.expression)) && !mentions(pattern, name)
      default:
        return begins && !mentions(pattern, name)
    }
  })
}

/**
 * True where OPTIONAL has an EXISTS in it that gives variables values of its own. Jena puts the values of variables around OPTIONAL
 * into it and fails on that: so what is hidden must not get there.
 */
export const mayFail = (part: unknown): boolean => inside(part).fails

interface Inside {
  /** The variables to which AS gives values. */
  readonly names: ReadonlySet<string>
  readonly gives: boolean
  /** An EXISTS gives values. */
  readonly tests: boolean
  readonly fails: boolean
}
const NO_NAMES: ReadonlySet<string> = new Set()
const NOTHING: Inside = { names: NO_NAMES, gives: false, tests: false, fails: false }
/** Of lists. Each level of a query asks for what is in it: it is searched once. */
const searched = new WeakMap<object, Inside>()

function inside(part: unknown): Inside {
  if (typeof part !== 'object' || part === null) return NOTHING
  const known = searched.get(part)
  if (known) return known
  const parts = Object.values(part)
    .map(inside)
    .filter((each) => each !== NOTHING)
  const { kind } = part as Node
  const gives = givesValue(part) || parts.some((each) => each.gives)
  const tests = (kind === 'exists' && gives) || parts.some((each) => each.tests)
  const found =
    parts.length === 0 && !gives
      ? NOTHING
      : {
          names: allOf([
            ...parts.map(({ names }) => names),
            ...(kind === 'bind' ? [new Set([(part as Bound).variable.value])] : []),
          ]),
          ...{ gives, tests, fails: (kind === 'optional' && tests) || parts.some((each) => each.fails) },
        }
  if (Array.isArray(part)) searched.set(part, found)
  return found
}

function allOf(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const filled = sets.filter(({ size }) => size > 0)
  return filled.length < 2 ? (filled[0] ?? NO_NAMES) : new Set(filled.flatMap((set) => [...set]))
}

type Node = { readonly kind?: string; readonly operator?: string; readonly name?: { readonly kind?: string } }

const givesValue = ({ kind, operator = '', name }: Node): boolean =>
  kind === 'bind' ||
  kind === 'select' ||
  (kind === 'graph' && name?.kind === 'variable') ||
  (kind === 'operation' && ['=', 'in', 'sameterm'].includes(operator))

/** The part before a pattern that may fail is a group of its own, which its conditions restrict before anything else is matched. */
export function sheltered(patterns: readonly Pattern[]): readonly Pattern[] {
  const isOther = ({ kind }: Pattern): boolean => kind !== 'filter'
  const first = patterns.findIndex((each) => isOther(each) && mayFail(each))
  const before = patterns.slice(0, Math.max(first, 0))
  if (!before.some(isOther)) return patterns
  return [
    { kind: 'group', patterns: before.filter(isOther) },
    ...patterns.slice(first),
    ...before.filter((each) => !isOther(each)),
  ]
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
const hasEachOnce = (patterns: readonly Pattern[]): boolean =>
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
