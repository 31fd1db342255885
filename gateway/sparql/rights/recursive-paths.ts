// Paths of any length in GRAPH ?g. Jena takes a step of the stack for each step of a path, and has none left for some
// thousands: so no path leads through a graph before its name has been tested (design 4). Pure.
import { withoutBlanks } from './default-graph.js'
import { hasExists } from './group-properties.js'
import { usesName } from './graph-name.js'
import {
  filter,
  isPath,
  NO_MODIFIERS,
  triples,
  type Expression,
  type Path,
  type GraphPattern,
  type Select,
  type Term,
  type Variable,
} from '../language/syntax.js'
import type { TriplePlace } from './restrict-triples.js'
import { RefusedQuery, type Restriction } from './restriction.js'

/** True where a part has a path with * or +. */
export function runsDeep(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, operator } = part as { readonly kind?: string; readonly operator?: string }
  return (kind === 'path' && (operator === '*' || operator === '+')) || Object.values(part).some(runsDeep)
}

/**
 * True where a FILTER has one, in EXISTS: a row may get there that has not been tested, and Jena catches no lack of
 * stack there.
 */
export function filtersDeep(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  return (part as GraphPattern).kind === 'filter' ? runsDeep(part) : Object.values(part).some(filtersDeep)
}

/**
 * The names of the graphs first, by the triples that stand before the paths, or each name where there are none; then
 * the paths in the graphs of these names. Only of triples and FILTERs, Jena puts the names into what follows.
 */
export function testedFirst(
  work: Restriction,
  {
    name,
    patterns,
    place,
  }: { readonly name: Variable; readonly patterns: readonly GraphPattern[]; readonly place: TriplePlace },
  test: Expression,
  restrict: (patterns: readonly GraphPattern[]) => readonly GraphPattern[],
): readonly GraphPattern[] {
  const filters = patterns.filter(({ kind }) => kind === 'filter')
  const others = patterns.flatMap((each) => (each.kind === 'triples' ? each.triples : []))
  const isPlain = patterns.every((each) => each.kind === 'triples' || (each.kind === 'filter' && isLater(each, name)))
  // In OPTIONAL, TDB2 would lose what stands before it.
  if (!isPlain || work.place || (place !== 'first' && place !== 'later')) throw new RefusedQuery('pattern')
  const all = others.map((each) => withoutBlanks(each, work))
  const first = all.findIndex(({ predicate }) => isDeep(predicate))
  const inGraph = (some: typeof all): GraphPattern => ({ kind: 'graph', name, patterns: restrict([triples(...some)]) })
  work.isTested = true
  const names = first > 0 ? inGraph(all.slice(0, first)) : anyGraph(work, name)
  const named: GraphPattern = { kind: 'group', patterns: [names, filter(test)] }
  return [{ kind: 'group', patterns: [named, inGraph(all.slice(first)), ...filters] }]
}

/** Each name once. TDB2 finds none by `GRAPH ?g { }` beside what it joins by a hash table. */
function anyGraph({ view, fresh }: Restriction, name: Variable): GraphPattern {
  if (!view.asQuads) return { kind: 'graph', name, patterns: [] }
  const any = triples({ subject: fresh(), predicate: fresh(), object: fresh() })
  const where: GraphPattern[] = [{ kind: 'graph', name, patterns: [any] }]
  const modifiers = NO_MODIFIERS
  const query: Select = { form: 'SELECT', duplicates: 'DISTINCT', projection: [name], where, modifiers }
  return { kind: 'group', patterns: [{ kind: 'select', query }] }
}

const isDeep = (predicate: Term | Path): boolean => isPath(predicate) && runsDeep(predicate)

/** Outside of the GRAPH it says the same. */
const isLater = ({ expression }: GraphPattern & { readonly kind: 'filter' }, name: Variable): boolean =>
  !hasExists(expression) && !usesName(expression, name)
