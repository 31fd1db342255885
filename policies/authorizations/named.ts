// The subjects of authorizations that include an agent: itself, its groups, and internal groups of many subjects.
import { agentSubject, isOwnGroup } from './authorization.js'
import type { IriTable } from './iri-table.js'
import type { Relation } from './relation.js'
import type { Bag, SharedTarget } from './target-entry.js'

/** A subject on a target that is or includes the agent, with its authorizations. */
export interface Hit {
  readonly bag: Bag
  /** How the agent is included: itself, its group, or the agent class. */
  readonly through: number
}

/** The subjects that include an agent by name or group, each with the agent or group that it includes. */
export interface NamedRule {
  readonly subjects: ReadonlyMap<number, number>
  /** Recent hits on targets with many subjects, for agents in many groups. */
  readonly found: Map<SharedTarget, readonly Hit[]>
}

export interface AllNamed {
  /** `memberships`: further subjects that the agent counts as. */
  of(agent: string, memberships?: readonly string[]): NamedRule
  /** Call it after any change: an agent's number may be reused for another one. */
  forget(): void
}

const NOT_NAMED: NamedRule = { subjects: new Map(), found: new Map() }
const REMEMBERED_AGENTS = 10_000

export function makeNamed(iris: IriTable, groupsOf: Relation<number>): AllNamed {
  const namedOf = new Map<number, NamedRule>()
  const one = (agent: string): NamedRule => {
    const id = iris.idOf('agent', agent)
    if (id === undefined) return NOT_NAMED
    const known = namedOf.get(id)
    if (known) return known
    if (namedOf.size >= REMEMBERED_AGENTS) namedOf.clear()
    const named = findNamed(agentSubject(id), groupsOf)
    namedOf.set(id, named)
    return named
  }
  return {
    of(agent, memberships = []) {
      const all = [agent, ...memberships].map(one).filter(({ subjects }) => subjects.size > 0)
      if (all.length <= 1) return all[0] ?? NOT_NAMED
      return { subjects: new Map(all.flatMap(({ subjects }) => [...subjects])), found: new Map() }
    },
    forget: () => namedOf.clear(),
  }
}

function findNamed(agent: number, groupsOf: Relation<number>): NamedRule {
  const subjects = new Map([[agent, agent]])
  for (const group of groupsOf.of(agent)) subjects.set(group, isOwnGroup(group) ? agent : group)
  for (const group of groupsOf.of(agent)) {
    for (const ownGroup of groupsOf.of(group)) if (!subjects.has(ownGroup)) subjects.set(ownGroup, group)
  }
  return { subjects, found: new Map() }
}
