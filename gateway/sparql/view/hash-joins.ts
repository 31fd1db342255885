// In charge of patterns that Jena may join by a hash table: those in which a part leaves a variable without a value that others have
// too. Jena fails on closing such a join where it has not begun it, so that rows of what is hidden would decide. Pure.
import { groupsIn } from './groups.js'
import type { Pattern, Select } from './syntax.js'
import { allVariables, inScope, projectedIn } from './variables.js'

/** @param isAround whether what stands around has a variable */
export function mayJoinByHash(
  patterns: readonly Pattern[],
  isAround: (name: string) => boolean = () => false,
): boolean {
  const parts = patterns.filter(({ kind }) => kind !== 'filter')
  if (!parts.some((part) => groupsIn(part).length > 0)) return false
  const scopes = parts.map((part) => inScope([part]))
  const times = new Map<string, number>()
  for (const scope of scopes) for (const name of scope) times.set(name, (times.get(name) ?? 0) + 1)
  return parts.some((part, i) => {
    const groups = groupsIn(part)
    if (groups.length === 0) return false
    const own = scopes[i]!
    const isBeside = (name: string): boolean => isAround(name) || (times.get(name) ?? 0) > (own.has(name) ? 1 : 0)
    const isOptional = part.kind === 'optional'
    const fixed = certain(isOptional ? part.patterns : [part])
    const asked = isOptional ? [] : groups.flatMap(filtersOf)
    if ([...own, ...asked].some((name) => !fixed.has(name) && isBeside(name))) return true
    return groups.some((group) => mayJoinByHash(group, isBeside))
  })
}

const filtersOf = (group: readonly Pattern[]): readonly string[] =>
  group.flatMap((each) => (each.kind === 'filter' || each.kind === 'bind' ? allVariables([each.expression]) : []))

/** The variables that have a value in each solution. */
function certain(patterns: readonly Pattern[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const pattern of patterns) for (const name of certainIn(pattern)) found.add(name)
  return found
}

function certainIn(pattern: Pattern): Iterable<string> {
  switch (pattern.kind) {
    case 'triples':
      return inScope([pattern])
    case 'group':
      return certain(pattern.patterns)
    case 'graph':
      return [...certain(pattern.patterns), ...(pattern.name.kind === 'variable' ? [pattern.name.value] : [])]
    case 'union': {
      const [first, ...others] = pattern.branches.map(certain)
      return [...(first ?? [])].filter((name) => others.every((branch) => branch.has(name)))
    }
    case 'values':
      return pattern.variables.flatMap(({ value }, i) =>
        pattern.rows.some((row) => row[i] === undefined) ? [] : [value],
      )
    case 'select':
      return certainOf(pattern.query)
    default:
      return []
  }
}

function certainOf({ projection, where }: Select): Iterable<string> {
  const found = certain(where)
  const names = projection === '*' ? found : projectedIn(projection.filter(({ kind }) => kind === 'variable'))
  return [...names].filter((name) => found.has(name))
}
