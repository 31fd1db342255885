// In charge of the compiled authorizations as one table: by target, then by subject, then by modes; and of the groups
// and superclasses that reach into it. Nothing here grows faster than the statements it is made from.
import {
  agentSubject,
  bitsOf,
  idIn,
  isOwnGroup,
  makeCompiler,
  releaseAll,
  type Contribution,
  type Fact,
} from './authorization.js'
import { makeIriTable } from './iri-table.js'
import { makeRelation } from './relation.js'
import { addToTarget, removeFromTarget, type Bag, type SharedTarget, type Targets } from './target-entry.js'

/** How an authorization reaches a document; `control`: it lists Control, and the document is in the admin application. */
export type TargetKind = 'accessTo' | 'accessToClass' | 'default' | 'control'

/** An authorization's subject that an agent is or belongs to, on a target. */
export interface Hit {
  readonly bag: Bag
  /** The agent, its group, or the class of agents. */
  readonly through: number
}

/** The subjects that are an agent by name or by group, each with the agent or the group that it is there by. */
export interface Named {
  readonly subjects: ReadonlyMap<number, number>
  /** What was found lately on targets with many subjects, for an agent in many groups. */
  readonly found: Map<SharedTarget, readonly Hit[]>
}

export interface TableSize {
  readonly graphs: number
  readonly authorizations: number
  readonly subjects: number
}

export interface AuthorizationTable {
  put(graph: string, facts: Iterable<Fact>): void
  remove(graph: string): void
  size(): TableSize
  /** The authorizations on targets of a kind, by the target's IRI; `control` has one, the empty string. */
  readonly targets: Readonly<Record<TargetKind, Targets>>
  /** The agent itself, its groups, and the groups that authorizations with many subjects make of theirs. */
  named(agent: string): Named
  /** The IRI of an agent or a group. */
  iriOf(subject: number): string
  /** A class and all its superclasses. */
  classes(type: string): readonly string[]
}

const NOT_NAMED: Named = { subjects: new Map(), found: new Map() }
const MEMORISED_AGENTS = 10_000
const CONTROL = bitsOf('Control')

export function makeAuthorizationTable(): AuthorizationTable {
  const iris = makeIriTable()
  const compile = makeCompiler(iris)
  const graphs = new Map<string, Contribution>()
  const targets = { accessTo: new Map(), accessToClass: new Map(), default: new Map(), control: new Map() } // prettier-ignore
  const groupsOf = makeRelation<number>()
  const superclassesOf = makeRelation<string>()
  // Any change forgets both: the number of an agent may come to stand for another one.
  const namedOf = new Map<number, Named>()
  const classesOf = new Map<string, readonly string[]>()
  let authorizationCount = 0

  function apply({ authorizations, members, superclasses }: Contribution, change: 'add' | 'remove'): void {
    authorizationCount += change === 'add' ? authorizations.length : -authorizations.length
    const changeTarget = change === 'add' ? addToTarget : removeFromTarget
    for (const authorization of authorizations) {
      for (const kind of ['accessTo', 'accessToClass', 'default'] as const) {
        for (const iri of authorization[kind]) changeTarget(targets[kind], iri, authorization)
      }
      if (authorization.bits & CONTROL) changeTarget(targets.control, '', authorization)
      for (const member of authorization.members ?? []) groupsOf[change](member, authorization.subjects.at(-1)!)
    }
    for (const [agent, group] of members) groupsOf[change](agent, group)
    for (const [type, superclass] of superclasses) superclassesOf[change](type, superclass)
    namedOf.clear()
    classesOf.clear()
  }

  function remove(graph: string): void {
    const contribution = graphs.get(graph)
    if (!contribution) return
    graphs.delete(graph)
    apply(contribution, 'remove')
    releaseAll(iris, contribution)
  }

  function findNamed(agent: number): Named {
    const subjects = new Map([[agent, agent]])
    for (const group of groupsOf.of(agent)) subjects.set(group, isOwnGroup(group) ? agent : group)
    for (const group of groupsOf.of(agent)) {
      for (const ownGroup of groupsOf.of(group)) if (!subjects.has(ownGroup)) subjects.set(ownGroup, group)
    }
    return { subjects, found: new Map() }
  }

  return {
    targets,
    remove,
    size: () => ({ graphs: graphs.size, authorizations: authorizationCount, subjects: iris.size }),
    put(graph, facts) {
      const contribution = compile(graph, facts)
      remove(graph)
      if (contribution.authorizations.length + contribution.members.length + contribution.superclasses.length === 0) {
        return
      }
      graphs.set(graph, contribution)
      apply(contribution, 'add')
    },
    iriOf: (subject) => iris.iriOf(idIn(subject)),
    named(agent) {
      const id = iris.idOf(agent)
      if (id === undefined) return NOT_NAMED
      const known = namedOf.get(id)
      if (known) return known
      if (namedOf.size >= MEMORISED_AGENTS) namedOf.clear()
      const named = findNamed(agentSubject(id))
      namedOf.set(id, named)
      return named
    },
    classes(type) {
      const known = classesOf.get(type)
      if (known) return known
      const closure = new Set([type])
      // What is added while the iteration runs is visited too; what is already in it, such as a cycle, is not.
      for (const each of closure) for (const superclass of superclassesOf.of(each)) closure.add(superclass)
      if (closure.size === 1) return [type]
      const classes = [...closure]
      classesOf.set(type, classes)
      return classes
    },
  }
}
