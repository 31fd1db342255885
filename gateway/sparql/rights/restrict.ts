// Restricts patterns to the graphs that an agent may read: they match as in a dataset of only these graphs (design 4).
// Pure. Each GRAPH gets a FILTER in its group. GRAPH always binds its name, so the FILTER's position is irrelevant.
import {
  assignsName,
  bindsName,
  hasEmptySelect,
  isEmpty,
  optionalFirst,
  standsApart,
  startsEmpty,
  withoutFirstMinus,
  withoutRepeats,
} from './group-properties.js'
import { testsName, usesName, withoutName } from './graph-name.js'
import { computesAtOnce, groupsByOther } from './computed-values.js'
import { deferred } from './jena-hash-joins.js'
import { runsDeep, testedFirst } from './recursive-paths.js'
import { restrictConstant } from './constant-graph.js'
import { countsAll, hasHidden } from './count-distinct-star.js'
import {
  allOf,
  NO_MODIFIERS,
  triples,
  variable,
  type Expression,
  type Modifiers,
  type GraphPattern,
  type Select,
  type Variable,
} from '../language/syntax.js'
import {
  inGraph,
  inParts,
  isInGraph,
  mayFailOnTerm,
  restrictTriples,
  startOf,
  type TriplePlace,
} from './restrict-triples.js'
import { isPlainTriple } from './triple-terms.js'
import { assigns, mayFail, sealed, sheltered } from './as-bindings.js'
import { addAll, addValues, orderedIn } from './jena-predicates.js'
import { filtered, hasAlternatives, inScope, mentions, projectedIn } from '../language/variables.js'
import {
  apart,
  hasOwnGroup,
  isFiltered,
  isOxigraph,
  placedPattern,
  RefusedQuery,
  tested,
  unusedIn,
  type Restriction,
} from './restriction.js'

/** @param areOrdered whether Jena orders the triples around the patterns together with theirs */
export function restrictPatterns(
  work: Restriction,
  all: readonly GraphPattern[],
  place: TriplePlace = 'first',
  areOrdered = false,
): readonly GraphPattern[] {
  const around = { areOrdered: work.areOrdered, isBesideAlternatives: work.isBesideAlternatives }
  work.areOrdered = areOrdered || orderedIn(all) > 1
  work.isBesideAlternatives = all.some((each) => each.kind !== 'filter' && hasAlternatives(each))
  work.filtered.push(filtered(all))
  const restricted = restrictGroup(work, all, place)
  work.filtered.pop()
  Object.assign(work, around)
  return restricted
}

function restrictGroup(work: Restriction, all: readonly GraphPattern[], place: TriplePlace): readonly GraphPattern[] {
  if (assignsName(all)) throw new RefusedQuery('pattern')
  // In EXISTS, Oxigraph's MINUS also removes solutions that share a variable with the outer solution.
  const keepsMinus = isInGraph(place) || (place === 'exists' && isOxigraph(work.view))
  const keepsPlace = work.view.isJena || isOxigraph(work.view)
  const patterns = sheltered(withoutRepeats(keepsMinus ? all : withoutFirstMinus(all, keepsPlace)))
  if (place === 'first') return restrictFirst(work, patterns)
  const within = (each: readonly GraphPattern[]): readonly GraphPattern[] =>
    each.flatMap((pattern) => restrictPattern(work, pattern, place))
  if (typeof place === 'string') return within(patterns)
  const rest = patterns.filter((pattern) => !isEmpty(pattern))
  const listed = startsEmpty(rest) && work.view.listsGraphs ? inGraph(work, place, []) : []
  return [...listed, ...within(rest)]
}

/** The first patterns of a group. A FILTER does not end a basic graph pattern (SPARQL 1.1 §18.2.2.5). */
function restrictFirst(work: Restriction, patterns: readonly GraphPattern[]): readonly GraphPattern[] {
  const isFilter = ({ kind }: GraphPattern): boolean => kind === 'filter'
  const end = patterns.findIndex(({ kind }) => kind !== 'triples' && kind !== 'filter')
  const leading = end < 0 ? patterns : patterns.slice(0, end)
  const { first: all, others } = inParts(
    work,
    leading.flatMap((each) => (each.kind === 'triples' ? each.triples : [])),
  )
  const apart = others.map((part) => triples(...part.triples))
  const rest = [...apart, ...leading.filter(isFilter), ...patterns.slice(leading.length)]
  leading.forEach((each) => addValues(work.before(), each))
  const begins = all.length > 0 ? undefined : rest.find((each) => !isFilter(each))
  return [
    ...(all.length > 0 ? work.view.defaultGraph(all, work, !work.repeats()) : []),
    ...rest.flatMap((each) => restrictPattern(work, each, each === begins ? 'first' : 'later')),
  ]
}

function restrictPattern(work: Restriction, pattern: GraphPattern, place: TriplePlace): readonly GraphPattern[] {
  const restricted = restrictOne(work, pattern, place)
  addValues(work.before(), pattern)
  return restricted
}

function restrictOne(work: Restriction, pattern: GraphPattern, place: TriplePlace): readonly GraphPattern[] {
  const within = (patterns: readonly GraphPattern[]): readonly GraphPattern[] => restrictPatterns(work, patterns, place)
  switch (pattern.kind) {
    case 'triples':
      return restrictTriples(work, pattern.triples, place)
    case 'group':
      return [{ ...pattern, patterns: restrictPatterns(work, pattern.patterns, place, work.areOrdered) }]
    case 'optional': {
      const inside = { fresh: work.fresh, isInExists: work.place?.isInExists === true }
      const make = (): readonly GraphPattern[] =>
        restrictPatterns(work, pattern.patterns, place === 'first' ? 'later' : place)
      return [{ ...pattern, patterns: placedPattern(work, inside, make) }]
    }
    case 'minus': {
      const made = apart(work, () => restrictPatterns(work, pattern.patterns, alone(place))).made
      return [{ ...pattern, patterns: made }]
    }
    case 'union':
      return [{ ...pattern, branches: pattern.branches.map(within) }]
    case 'graph':
      return restrictGraph(work, pattern, place)
    case 'filter':
    case 'bind':
      return [{ ...pattern, expression: restrictExpression(work, pattern.expression, place) }]
    case 'select':
      return [{ ...pattern, query: restrictSelect(work, pattern.query, alone(place), true) }]
    // SERVICE is answered by another server, which has its own rights.
    case 'service':
    case 'values':
      return [pattern]
  }
}

/** For patterns that are matched independently of earlier ones. */
const alone = (place: TriplePlace): TriplePlace => (place === 'later' ? 'first' : place)

type Graph = GraphPattern & { readonly kind: 'graph' }

function restrictGraph(work: Restriction, pattern: Graph, place: TriplePlace): readonly GraphPattern[] {
  const { name, patterns } = pattern
  if (name.kind === 'variable') return restrictAnyGraph(work, pattern, name, place)
  return restrictConstant(work, name, restrictPatterns(work, patterns, 'graph', work.areOrdered))
}

function restrictAnyGraph(
  work: Restriction,
  pattern: Graph,
  name: Variable,
  place: TriplePlace,
): readonly GraphPattern[] {
  const { patterns } = pattern
  const { named, asQuads, showsName, looksInItself, isJena } = work.view
  work.readsDataset = true
  const found = named.test(name, work.place)
  const test = found && isJena ? sealed(found, patterns, name) : found
  // A store may replace the graph's name by this value, which would make the test useless.
  if (test && (assigns(patterns, name) || (!looksInItself && usesName(patterns, name))))
    throw new RefusedQuery('pattern')
  const inside = (all: readonly GraphPattern[]): readonly GraphPattern[] =>
    restrictPatterns(work, all, 'graph', work.areOrdered)
  if (test && isJena && runsDeep(patterns)) return testedFirst(work, { name, patterns, place }, test, inside)
  // Jena computes the value before it tests the name.
  const computesHidden = test !== undefined && !isOxigraph(work.view) && computesAtOnce(patterns)
  const isApart = asQuads || (looksInItself && standsApart(patterns))
  if (computesHidden && !isApart) throw new RefusedQuery('computed')
  // The store tries each graph before it tests the name.
  const meets = test && !patterns.every(isPlainTriple) && mayFailOnTerm(work, patterns)
  const isElsewhere = (): boolean => work.mentions().get(name.value)! > mentions(pattern).get(name.value)!
  if (test && !asQuads && (meets || mayFail(patterns))) throw new RefusedQuery('pattern')
  const asGraph = (within: readonly GraphPattern[]): readonly GraphPattern[] =>
    tested(work, { kind: 'graph', name, patterns: inside(within) }, test)
  if (!test) return asGraph(patterns)
  // The name has no value inside (SPARQL 1.1 §18.6). But Jena may already have one from elsewhere, such as a condition.
  const free = showsName ? patterns : withoutName(patterns, name, work.fresh, asQuads)
  if (free && free !== patterns && isElsewhere()) throw new RefusedQuery('pattern')
  if (!showsName && asQuads && hasEmptySelect(patterns)) throw new RefusedQuery('pattern')
  const isWhole = !asQuads || (!meets && bindsName(patterns))
  if ((isWhole && !computesHidden) || patterns.every(isEmpty)) return asGraph(free ?? patterns)
  // TDB2 treats the name as bound there, and tests a FILTER or an OPTIONAL on it while it has no value.
  if (!showsName && testsName(patterns, name, isFiltered(work, name) || work.given().has(name.value)) && isElsewhere())
    throw new RefusedQuery('pattern')
  // Conditions with groups change TDB2's join order: an OPTIONAL would choose the graph for the other patterns.
  if (!showsName && hasOwnGroup(work) && optionalFirst(patterns)) throw new RefusedQuery('pattern')
  if (!free) throw new RefusedQuery('pattern')
  // No GRAPH goes around the group, so that every pattern in it is matched in a tested graph.
  const { size } = work.blanks
  const { made } = apart(work, () => restrictPatterns(work, free, name, work.areOrdered))
  if (work.blanks.size > size) work.showsFresh = true
  return [{ kind: 'group', patterns: made }]
}

export function restrictSelect(
  work: Restriction,
  query: Select,
  around: TriplePlace = 'first',
  isNested = false,
): Select {
  const { isJena, addsFrom } = work.view
  if (isNested && isJena && !addsFrom && groupsByOther(query)) throw new RefusedQuery('pattern')
  const place = placeIn(work, query, startOf(query.modifiers, around))
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
  const counts = projection !== '*' && countsAll(restricted)
  if (!showsFresh || (projection !== '*' && !counts)) return restricted
  if (counts && hasHidden(query.where)) throw new RefusedQuery('counted')
  if (isNested && projection === '*' && !query.duplicates && typeof place !== 'object') {
    // The surrounding query hides them.
    work.showsFresh = true
    return restricted
  }
  const own = typeof place === 'object' && (projection !== '*' || !work.view.showsName) ? [place.value] : []
  const names = [...new Set([...inScope(query.where), ...own])].map(variable)
  if (names.length === 0) throw new RefusedQuery('no-variables')
  // Jena treats the variables that a sub-query selects as bound, and tests a FILTER on them there.
  const bound = new Set([...inScope(query.where.filter(({ kind }) => kind === 'triples')), ...own])
  const misleads = (name: Variable): boolean => !bound.has(name.value) && isFiltered(work, name)
  if (isNested && projection === '*' && !isOxigraph(work.view) && names.some(misleads))
    throw new RefusedQuery('pattern')
  if (projection === '*') return { ...restricted, projection: names }
  const inner: Select = { form: 'SELECT', duplicates: undefined, projection: names, where, modifiers: NO_MODIFIERS }
  return { ...restricted, where: [{ kind: 'group', patterns: [{ kind: 'select', query: inner }] }] }
}

/** In Oxigraph, a sub-query that does not select the graph's name has another variable for it. */
function placeIn(work: Restriction, { projection, where }: Select, place: TriplePlace): TriplePlace {
  if (typeof place !== 'object' || !work.view.showsName) return place
  const names = projection === '*' ? inScope(where) : projectedIn(projection)
  return names.has(place.value) ? place : work.fresh()
}

export function restrictModifiers(
  work: Restriction,
  { group, having, order, ...rest }: Modifiers,
  place: TriplePlace = 'exists',
): Modifiers {
  const within = (expression: Expression): Expression => restrictExpression(work, expression, place)
  return {
    ...rest,
    group: group.map((each) =>
      each.kind === 'bind' ? { ...each, expression: within(each.expression) } : within(each),
    ),
    having: having.length > 1 && work.view.addsFrom ? [allOf(having.map(within))] : having.map(within),
    order: order.map((by) => ({ ...by, expression: within(by.expression) })),
  }
}

function restrictExpression(work: Restriction, expression: Expression, place: TriplePlace): Expression {
  const within = (each: Expression): Expression => restrictExpression(work, each, place)
  switch (expression.kind) {
    case 'operation':
    case 'call':
      return { ...expression, args: expression.args.map(within) }
    case 'exists': {
      const inExists = work.place && { ...work.place, isInExists: true }
      addAll(work.before(), work.body)
      const make = (): readonly GraphPattern[] =>
        restrictPatterns(work, expression.patterns, isInGraph(place) ? place : 'exists')
      const { made } = apart(work, () => placedPattern(work, inExists, make))
      return { ...expression, patterns: work.view.isJena ? deferred(made, unusedIn(work)) : made }
    }
    case 'aggregate':
      return expression.of === '*' ? expression : { ...expression, of: within(expression.of) }
    default:
      return expression
  }
}
