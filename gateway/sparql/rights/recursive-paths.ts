// Paths of any length in GRAPH ?g. Jena uses a stack frame for each step of a path, and overflows after some thousand.
// So the graph's name must be tested before a path leads through the graph (design 4). Pure.
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

/** True if a part has a path with * or +. */
export function runsDeep(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, operator } = part as { readonly kind?: string; readonly operator?: string }
  return (kind === 'path' && (operator === '*' || operator === '+')) || Object.values(part).some(runsDeep)
}

/**
 * True if an EXISTS in a FILTER has such a path: an untested row may reach it, and Jena does not handle a stack
 * overflow there.
 */
export function filtersDeep(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  return (part as GraphPattern).kind === 'filter' ? runsDeep(part) : Object.values(part).some(filtersDeep)
}

/**
 * Finds and tests the names of the graphs first, by the triples before the paths, or without such triples for all
 * graphs; then follows the paths in these graphs. Jena passes the names on only through triples and FILTERs.
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
  // In OPTIONAL, TDB2 would lose the solutions before it.
  if (!isPlain || work.place || (place !== 'first' && place !== 'later')) throw new RefusedQuery('pattern')
  const all = others.map((each) => withoutBlanks(each, work))
  const first = all.findIndex(({ predicate }) => isDeep(predicate))
  const inGraph = (some: typeof all): GraphPattern => ({ kind: 'graph', name, patterns: restrict([triples(...some)]) })
  work.isTested = true
  const names = first > 0 ? inGraph(all.slice(0, first)) : anyGraph(work, name)
  const named: GraphPattern = { kind: 'group', patterns: [names, filter(test)] }
  return [{ kind: 'group', patterns: [named, inGraph(all.slice(first)), ...filters] }]
}

/** Gives each name of a graph once. TDB2 finds no names by `GRAPH ?g { }` next to a hash join. */
function anyGraph({ view, fresh }: Restriction, name: Variable): GraphPattern {
  if (!view.asQuads) return { kind: 'graph', name, patterns: [] }
  const any = triples({ subject: fresh(), predicate: fresh(), object: fresh() })
  const where: GraphPattern[] = [{ kind: 'graph', name, patterns: [any] }]
  const modifiers = NO_MODIFIERS
  const query: Select = { form: 'SELECT', duplicates: 'DISTINCT', projection: [name], where, modifiers }
  return { kind: 'group', patterns: [{ kind: 'select', query }] }
}

const isDeep = (predicate: Term | Path): boolean => isPath(predicate) && runsDeep(predicate)

/** True if the FILTER means the same outside the GRAPH. */
const isLater = ({ expression }: GraphPattern & { readonly kind: 'filter' }, name: Variable): boolean =>
  !hasExists(expression) && !usesName(expression, name)
