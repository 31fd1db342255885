// In charge of patterns that Jena may join by a hash table: those in which a part leaves a variable without a value that others have
// too, and those with MINUS or a sub-query that counts, orders or limits. Jena fails on closing such a join where it has not begun it, so that rows of what is hidden would decide. Pure.
import { groupsIn } from './groups.js'
import type { Pattern, Select } from './syntax.js'
import { allVariables, inScope, projectedIn } from './variables.js'

/** Of a pattern: those in scope, and of these the ones that have a value in each solution. */
interface Names {
  readonly scope: ReadonlySet<string>
  readonly fixed: ReadonlySet<string>
}

const isNowhere = (): boolean => false

/** @param isAround whether what stands around has a variable */
export function mayJoinByHash(patterns: readonly Pattern[], isAround: (name: string) => boolean = isNowhere): boolean {
  if (isAround === isNowhere && apart.has(patterns)) return false
  const parts = patterns.filter(({ kind }) => kind !== 'filter')
  const times = new Map<string, number>()
  for (const part of parts) for (const name of namesOf(part).scope) times.set(name, (times.get(name) ?? 0) + 1)
  const found = parts.some((part) => {
    const groups = groupsIn(part)
    if (groups.length === 0) return false
    if ((parts.length > 1 || isAround !== isNowhere) && groups.some(joinsWhole)) return true
    const { scope, fixed } = part.kind === 'optional' ? namesIn(part.patterns) : namesOf(part)
    const isBeside = (name: string): boolean => isAround(name) || (times.get(name) ?? 0) > (scope.has(name) ? 1 : 0)
    const asked = part.kind === 'optional' ? [] : groups.flatMap(filtersOf)
    if ([...scope, ...asked].some((name) => !fixed.has(name) && isBeside(name))) return true
    return groups.some((group) => mayJoinByHash(group, isBeside))
  })
  if (!found) apart.add(patterns)
  return found
}

/** True where a group joins what takes no values from beside it, such as MINUS: Jena does that by a hash table, whatever the variables. */
const joinsWhole = searchedOnce((patterns: readonly Pattern[]): boolean => {
  const parts = patterns.filter(({ kind }) => kind !== 'filter')
  const first = parts.findIndex(({ kind }) => kind === 'minus')
  const others = parts.filter(({ kind }) => kind !== 'minus')
  return (
    (first >= 0 && parts.slice(first).some(({ kind }) => kind !== 'minus' && kind !== 'bind')) ||
    (others.length > 1 && others.some(hasWhole)) ||
    others.some((part) => groupsIn(part).some(joinsWhole))
  )
})

const hasWhole = (part: Pattern): boolean =>
  (part.kind === 'select' && isWhole(part.query)) || groupsIn(part).some(groupHasWhole)

const groupHasWhole = searchedOnce((patterns: readonly Pattern[]): boolean =>
  patterns.some((part) => part.kind === 'minus' || hasWhole(part)),
)

const isWhole = ({ projection, modifiers: { group, having, order, limit, offset, values } }: Select): boolean =>
  group.length + having.length + order.length > 0 ||
  [limit, offset, values].some((each) => each !== undefined) ||
  (projection !== '*' && projection.some(({ kind }) => kind === 'bind'))

/** Each level of a query asks for what is in it. */
function searchedOnce(search: (patterns: readonly Pattern[]) => boolean): (patterns: readonly Pattern[]) => boolean {
  const found = new WeakMap<readonly Pattern[], boolean>()
  return (patterns) => {
    const known = found.get(patterns) ?? search(patterns)
    found.set(patterns, known)
    return known
  }
}

/** Groups of which it is known: with less around them, they do not either. */
const apart = new WeakSet<readonly Pattern[]>()
/** Each level of a query asks for what is in it: it is searched once. */
const searched = new WeakMap<Pattern, Names>()

function namesOf(pattern: Pattern): Names {
  const known = searched.get(pattern) ?? search(pattern)
  searched.set(pattern, known)
  return known
}

function namesIn(patterns: readonly Pattern[]): Names {
  const [scope, fixed] = [new Set<string>(), new Set<string>()]
  for (const names of patterns.map(namesOf)) {
    names.scope.forEach((name) => scope.add(name))
    names.fixed.forEach((name) => fixed.add(name))
  }
  return { scope, fixed }
}

const NONE: ReadonlySet<string> = new Set()

function search(pattern: Pattern): Names {
  switch (pattern.kind) {
    case 'group':
      return namesIn(pattern.patterns)
    case 'optional':
      return { scope: namesIn(pattern.patterns).scope, fixed: NONE }
    case 'graph': {
      const { scope, fixed } = namesIn(pattern.patterns)
      const own = pattern.name.kind === 'variable' ? [pattern.name.value] : []
      return { scope: new Set([...scope, ...own]), fixed: new Set([...fixed, ...own]) }
    }
    case 'union': {
      const branches = pattern.branches.map(namesIn)
      const scope = new Set(branches.flatMap((branch) => [...branch.scope]))
      return { scope, fixed: new Set([...scope].filter((name) => branches.every((branch) => branch.fixed.has(name)))) }
    }
    case 'select':
      return selectedBy(pattern.query)
    case 'triples': {
      const scope = inScope([pattern])
      return { scope, fixed: scope }
    }
    case 'values': {
      const scope = inScope([pattern])
      const isFixed = (_: unknown, i: number): boolean => pattern.rows.every((row) => row[i] !== undefined)
      return { scope, fixed: new Set(pattern.variables.filter(isFixed).map(({ value }) => value)) }
    }
    default:
      return { scope: inScope([pattern]), fixed: NONE }
  }
}

function selectedBy({ projection, where }: Select): Names {
  const names = namesIn(where)
  if (projection === '*') return names
  const scope = projectedIn(projection)
  const plain = projectedIn(projection.filter(({ kind }) => kind === 'variable'))
  return { scope, fixed: new Set([...plain].filter((name) => names.fixed.has(name))) }
}

const filtersOf = (group: readonly Pattern[]): readonly string[] =>
  group.flatMap((each) => (each.kind === 'filter' || each.kind === 'bind' ? allVariables([each.expression]) : []))
