// In charge of restricting patterns to the graphs that an agent may read: what they match is what they would match in a dataset
// of those graphs only (design 4). Pure. A filter stands beside each GRAPH that it restricts, in the same group: that GRAPH
// binds the name in each of the group's solutions, so the place in the group does not matter.
import { isNameOfStores, type GraphPredicate } from './predicate.js'
import {
  filter,
  iri,
  NO_MODIFIERS,
  variable,
  type Expression,
  type Iri,
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
}

/** The reason why a query cannot be restricted: nothing of it depends on what the dataset has. */
export type Unanswerable = 'closure' | 'store-name' | 'no-variables'

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

/** @param inGraph they stand in GRAPH */
export const restrictPatterns = (work: Work, patterns: readonly Pattern[], inGraph = false): readonly Pattern[] =>
  patterns.flatMap((pattern) => restrictPattern(work, pattern, inGraph))

function restrictPattern(work: Work, pattern: Pattern, inGraph: boolean): readonly Pattern[] {
  const within = (patterns: readonly Pattern[]): readonly Pattern[] => restrictPatterns(work, patterns, inGraph)
  switch (pattern.kind) {
    case 'triples':
      return inGraph || pattern.triples.length === 0 ? [pattern] : work.view.defaultGraph(pattern.triples, work)
    case 'group':
    case 'optional':
      return [{ ...pattern, patterns: within(pattern.patterns) }]
    case 'minus':
      return [{ ...pattern, patterns: apart(work, () => within(pattern.patterns)).made }]
    case 'union':
      return [{ ...pattern, branches: pattern.branches.map(within) }]
    case 'graph':
      return restrictGraph(work, pattern.name, restrictPatterns(work, pattern.patterns, true))
    case 'filter':
    case 'bind':
      return [{ ...pattern, expression: restrictExpression(work, pattern.expression, inGraph) }]
    case 'select':
      return [{ ...pattern, query: restrictSelect(work, pattern.query, inGraph) }]
    // Another server answers it.
    case 'service':
    case 'values':
      return [pattern]
  }
}

function restrictGraph(work: Work, name: Iri | Variable, patterns: readonly Pattern[]): readonly Pattern[] {
  const { view, graphs } = work
  const filtered = (test: Expression | undefined): readonly Pattern[] => [
    { kind: 'graph', name, patterns },
    ...(test ? [filter(test)] : []),
  ]
  if (name.kind === 'variable') {
    work.readsDataset = true
    return filtered(view.named.test(name))
  }
  const graph = name.value
  if (isNameOfStores(graph)) throw new Refused('store-name')
  const known = view.named.byName(graph)
  if (known === false || (known === 'depends' && !view.mayRead(graph))) {
    return [{ kind: 'graph', name: iri(view.nothing), patterns }]
  }
  graphs.add(graph)
  // It may change before the store answers.
  return filtered(known === 'depends' ? view.named.test(name) : undefined)
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

export function restrictSelect(work: Work, query: Select, inGraph = false): Select {
  const { made: where, showsFresh } = apart(work, () => restrictPatterns(work, query.where, inGraph))
  const { projection } = query
  const restricted: Select = {
    ...query,
    projection:
      projection === '*'
        ? '*'
        : projection.map((each) =>
            each.kind === 'bind' ? { ...each, expression: restrictExpression(work, each.expression, inGraph) } : each,
          ),
    where,
    modifiers: restrictModifiers(work, query.modifiers, inGraph),
  }
  if (!showsFresh || (projection !== '*' && !countsAll(restricted))) return restricted
  const names = [...inScope(query.where)].map(variable)
  if (names.length === 0) throw new Refused('no-variables')
  if (projection === '*') return { ...restricted, projection: names }
  const inner: Select = { form: 'SELECT', duplicates: undefined, projection: names, where, modifiers: NO_MODIFIERS }
  return { ...restricted, where: [{ kind: 'group', patterns: [{ kind: 'select', query: inner }] }] }
}

export function restrictModifiers(work: Work, { group, having, order, ...rest }: Modifiers, inGraph = false): Modifiers {
  const within = (expression: Expression): Expression => restrictExpression(work, expression, inGraph)
  return {
    ...rest,
    group: group.map((each) =>
      each.kind === 'bind' ? { ...each, expression: within(each.expression) } : within(each),
    ),
    having: having.map(within),
    order: order.map((by) => ({ ...by, expression: within(by.expression) })),
  }
}

function restrictExpression(work: Work, expression: Expression, inGraph: boolean): Expression {
  const within = (each: Expression): Expression => restrictExpression(work, each, inGraph)
  switch (expression.kind) {
    case 'operation':
    case 'call':
      return { ...expression, args: expression.args.map(within) }
    case 'exists':
      return { ...expression, patterns: apart(work, () => restrictPatterns(work, expression.patterns, inGraph)).made }
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
  const projected = projection === '*' ? [] : projection.flatMap((each) => (each.kind === 'bind' ? [each.expression] : []))
  return [...projected, ...having, ...order.map((by) => by.expression)].some(counts)
}
