// In charge of restricting patterns to the graphs that an agent may read: what they match is what they would match in a dataset
// of those graphs only (design 4). Pure. A filter stands beside each GRAPH that it restricts, in the same group: that GRAPH
// binds the name in each of the group's solutions, so the place in the group does not matter.
import { assigns, assignsName, bindsName, isEmpty, startsEmpty } from './groups.js'
import { isNameOfStores, type GraphPredicate } from './predicate.js'
import {
  filter,
  iri,
  NO_MODIFIERS,
  variable,
  type Expression,
  type Modifiers,
  type Pattern,
  type Select,
  type Triple,
  type Variable,
} from './syntax.js'
import { inScope } from './variables.js'

export interface View {
  /** Restricts triples that stand in no GRAPH. */
  readonly defaultGraph: (triples: readonly Triple[], work: Work) => readonly Pattern[]
  /** For GRAPH. */
  readonly named: GraphPredicate
  /** Whether a graph may be read for which `named.byName` says that it depends. */
  readonly mayRead: (graph: string) => boolean
  /** The name of no graph. */
  readonly nothing: string
  /**
   * Whether the store evaluates `GRAPH ?g` by putting ?g into each triple in it, as TDB2 and Oxigraph do: then a part of it in
   * which ?g is not in scope, such as a sub-query, matches any graph.
   */
  readonly asQuads: boolean
}

/** Where patterns stand: in no GRAPH; in one that is restricted as a whole; in one whose every triple is restricted. */
type Place = 'default' | 'graph' | Variable

/** The reason why a query cannot be restricted: nothing of it depends on what the dataset has. */
export type Unanswerable = 'closure' | 'store-name' | 'no-variables' | 'unread'

/** Thrown by the functions of this file and the ones that it calls. */
export class Refused extends Error {
  constructor(readonly reason: Unanswerable) {
    super(reason)
  }
}

/** One restriction of one text. */
export interface Work {
  readonly view: View
  /** A variable that nothing has. */
  readonly fresh: () => Variable
  /** The variables that stand for blank nodes. */
  readonly blanks: Map<string, Variable>
  /** The named graphs that are read by name. */
  readonly graphs: Set<string>
  /** Others may be read too. */
  readsDataset: boolean
  /** Variables of ours are in scope. */
  showsFresh: boolean
}

export const startWork = (view: View, fresh: () => Variable): Work => ({
  view,
  fresh,
  blanks: new Map(),
  graphs: new Set(),
  readsDataset: false,
  showsFresh: false,
})

/** A variable that is in scope where it stands. */
export function freshInScope(work: Work): Variable {
  work.showsFresh = true
  return work.fresh()
}

export function restrictPatterns(
  work: Work,
  patterns: readonly Pattern[],
  place: Place = 'default',
): readonly Pattern[] {
  if (assignsName(patterns)) throw new Refused('unread')
  const within = (each: readonly Pattern[]): readonly Pattern[] =>
    each.flatMap((pattern) => restrictPattern(work, pattern, place))
  if (typeof place === 'string') return within(patterns)
  const rest = patterns.filter((pattern) => !isEmpty(pattern))
  return [...(startsEmpty(rest) ? inGraph(work, place, []) : []), ...within(rest)]
}

/** Patterns of which each solution has the name of its graph, even where ?g of `GRAPH ?g` is not in scope. */
function inGraph(work: Work, name: Variable, patterns: readonly Pattern[]): readonly Pattern[] {
  work.showsFresh = true
  return tested({ kind: 'graph', name, patterns }, work.view.named.test(name))
}

function restrictPattern(work: Work, pattern: Pattern, place: Place): readonly Pattern[] {
  const within = (patterns: readonly Pattern[]): readonly Pattern[] => restrictPatterns(work, patterns, place)
  switch (pattern.kind) {
    case 'triples':
      if (place === 'graph' || pattern.triples.length === 0) return [pattern]
      if (place === 'default') return work.view.defaultGraph(pattern.triples, work)
      return inGraph(work, place, [pattern])
    case 'group':
    case 'optional':
      return [{ ...pattern, patterns: within(pattern.patterns) }]
    case 'minus':
      return [{ ...pattern, patterns: apart(work, () => within(pattern.patterns)).made }]
    case 'union':
      return [{ ...pattern, branches: pattern.branches.map(within) }]
    case 'graph':
      return restrictGraph(work, pattern)
    case 'filter':
    case 'bind':
      return [{ ...pattern, expression: restrictExpression(work, pattern.expression, place) }]
    case 'select':
      return [{ ...pattern, query: restrictSelect(work, pattern.query, place) }]
    // Another server answers it.
    case 'service':
    case 'values':
      return [pattern]
  }
}

const tested = (pattern: Pattern, test: Expression | undefined): readonly Pattern[] =>
  test ? [pattern, filter(test)] : [pattern]

type Graph = Pattern & { readonly kind: 'graph' }

function restrictGraph(work: Work, pattern: Graph): readonly Pattern[] {
  const { view, graphs } = work
  const { name } = pattern
  if (name.kind === 'variable') return restrictAnyGraph(work, pattern, name)
  const patterns = restrictPatterns(work, pattern.patterns, 'graph')
  const graph = name.value
  if (isNameOfStores(graph)) throw new Refused('store-name')
  const known = view.named.byName(graph)
  if (known === false || (known === 'depends' && !view.mayRead(graph))) {
    return [{ kind: 'graph', name: iri(view.nothing), patterns }]
  }
  graphs.add(graph)
  // It may change before the store answers.
  return tested({ kind: 'graph', name, patterns }, known === 'depends' ? view.named.test(name) : undefined)
}

function restrictAnyGraph(work: Work, { patterns }: Graph, name: Variable): readonly Pattern[] {
  const { named, asQuads } = work.view
  work.readsDataset = true
  const test = named.test(name)
  // A store may let it take the place of the graph's name, which would then be tested in vain.
  if (test && assigns(patterns, name)) throw new Refused('unread')
  if (!test || !asQuads || bindsName(patterns)) {
    return tested({ kind: 'graph', name, patterns: restrictPatterns(work, patterns, 'graph') }, test)
  }
  // Without GRAPH around it, so that nothing in it is matched in a graph without a test.
  return [{ kind: 'group', patterns: apart(work, () => restrictPatterns(work, patterns, name)).made }]
}

/** Does work on what shows none of its variables outside. */
function apart<T>(work: Work, make: () => T): { readonly made: T; readonly showsFresh: boolean } {
  const before = work.showsFresh
  work.showsFresh = false
  const made = make()
  const { showsFresh } = work
  work.showsFresh = before
  return { made, showsFresh }
}

export function restrictSelect(work: Work, query: Select, place: Place = 'default'): Select {
  const { made: where, showsFresh } = apart(work, () => restrictPatterns(work, query.where, place))
  const { projection } = query
  const restricted: Select = {
    ...query,
    projection:
      projection === '*'
        ? '*'
        : projection.map((each) =>
            each.kind === 'bind' ? { ...each, expression: restrictExpression(work, each.expression, place) } : each,
          ),
    where,
    modifiers: restrictModifiers(work, query.modifiers, place),
  }
  if (!showsFresh || (projection !== '*' && !countsAll(restricted))) return restricted
  const names = [...inScope(query.where)].map(variable)
  if (names.length === 0) throw new Refused('no-variables')
  if (projection === '*') return { ...restricted, projection: names }
  const inner: Select = { form: 'SELECT', duplicates: undefined, projection: names, where, modifiers: NO_MODIFIERS }
  return { ...restricted, where: [{ kind: 'group', patterns: [{ kind: 'select', query: inner }] }] }
}

export function restrictModifiers(
  work: Work,
  { group, having, order, ...rest }: Modifiers,
  place: Place = 'default',
): Modifiers {
  const within = (expression: Expression): Expression => restrictExpression(work, expression, place)
  return {
    ...rest,
    group: group.map((each) =>
      each.kind === 'bind' ? { ...each, expression: within(each.expression) } : within(each),
    ),
    having: having.map(within),
    order: order.map((by) => ({ ...by, expression: within(by.expression) })),
  }
}

function restrictExpression(work: Work, expression: Expression, place: Place): Expression {
  const within = (each: Expression): Expression => restrictExpression(work, each, place)
  switch (expression.kind) {
    case 'operation':
    case 'call':
      return { ...expression, args: expression.args.map(within) }
    case 'exists':
      return { ...expression, patterns: apart(work, () => restrictPatterns(work, expression.patterns, place)).made }
    case 'aggregate':
      return expression.of === '*' ? expression : { ...expression, of: within(expression.of) }
    default:
      return expression
  }
}

/** COUNT(DISTINCT *), in which every variable in scope counts. */
function countsAll({ projection, modifiers: { having, order } }: Select): boolean {
  const counts = (expression: Expression): boolean => {
    if (expression.kind === 'aggregate') return expression.of === '*' ? expression.distinct : counts(expression.of)
    return (expression.kind === 'operation' || expression.kind === 'call') && expression.args.some(counts)
  }
  const projected =
    projection === '*' ? [] : projection.flatMap((each) => (each.kind === 'bind' ? [each.expression] : []))
  return [...projected, ...having, ...order.map((by) => by.expression)].some(counts)
}
