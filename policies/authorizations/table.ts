// In charge of the compiled authorizations as one table: by target, then by subject, then by modes; and of the groups
// and superclasses that extend them. Nothing here grows faster than the statements that it is made from.
import {
  AUTHENTICATED,
  bitsOf,
  EVERYONE,
  idIn,
  makeCompiler,
  releaseAll,
  type Authorization,
  type Contribution,
  type Fact,
} from './authorization.js'
import { makeIriTable } from './iri-table.js'
import { makeNamed, type Named } from './named.js'
import { makeClosure, makePairs, makeRelation, type Relation } from './relation.js'
import { addToTarget, removeFromTarget, type Targets } from './target-entry.js'

/** How an authorization reaches a document; `control`: it lists Control, and the document is in the admin application. */
export type TargetKind = 'accessTo' | 'accessToClass' | 'default' | 'control'

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
  /** The agent itself, its groups, and the groups that stand for the subjects of authorizations with many. */
  named(agent: string, memberships?: readonly string[]): Named
  /** The authorizations in a graph. */
  inGraph(graph: string): readonly Authorization[]
  /** The authorizations that name groups in a graph, and the members of these groups. */
  ofGroupsIn(graph: string): OfGroups
  /** The IRI of an agent or a group. */
  iriOf(subject: number): string
  /** A class and all its superclasses. */
  classes(type: string): readonly string[]
  /** A class and all its subclasses. */
  subclasses(type: string): readonly string[]
  /** The authorizations that include an agent, and whether by its name or a group. Some may come twice. */
  including(agent: string | undefined, memberships?: readonly string[]): Iterable<Including>
}

/** What members of groups have by them. */
export interface OfGroups {
  readonly authorizations: readonly Authorization[]
  readonly members: number
}

export interface Including {
  readonly authorization: Authorization
  /** Not only as one of a class of agents. */
  readonly isNamed: boolean
}

const CONTROL = bitsOf('Control')

export function makeAuthorizationTable(): AuthorizationTable {
  const iris = makeIriTable()
  const compile = makeCompiler(iris)
  const graphs = new Map<string, Contribution>()
  const targets = { accessTo: new Map(), accessToClass: new Map(), default: new Map(), control: new Map() } // prettier-ignore
  const groupsOf = makeRelation<number>()
  const bySubject = makePairs<number, Authorization>()
  const named = makeNamed(iris, groupsOf)
  const classes = makeClasses()
  let authorizationCount = 0

  function apply({ authorizations, members, superclasses }: Contribution, change: 'add' | 'remove'): void {
    authorizationCount += change === 'add' ? authorizations.length : -authorizations.length
    const changeTarget = change === 'add' ? addToTarget : removeFromTarget
    for (const authorization of authorizations) {
      for (const kind of ['accessTo', 'accessToClass', 'default'] as const) {
        for (const iri of authorization[kind]) changeTarget(targets[kind], iri, authorization)
      }
      if (authorization.bits & CONTROL) changeTarget(targets.control, '', authorization)
      for (const subject of authorization.subjects) bySubject[change](subject, authorization)
      for (const member of authorization.members ?? []) groupsOf[change](member, authorization.subjects.at(-1)!)
    }
    for (const [agent, group] of members) groupsOf[change](agent, group)
    classes[change](superclasses)
    named.forget()
  }

  function remove(graph: string): void {
    const contribution = graphs.get(graph)
    if (!contribution) return
    graphs.delete(graph)
    apply(contribution, 'remove')
    releaseAll(iris, contribution)
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
    inGraph: (graph) => graphs.get(graph)?.authorizations ?? [],
    ofGroupsIn: (graph) => ofGroups(graphs.get(graph)?.members ?? [], groupsOf, bySubject),
    iriOf: (subject) => iris.iriOf(idIn(subject)),
    named: named.of,
    classes: classes.above,
    subclasses: classes.below,
    including: (agent, memberships) =>
      including(bySubject, agent === undefined ? undefined : named.of(agent, memberships)),
  }
}

function ofGroups(
  pairs: Contribution['members'],
  groupsOf: Relation<number>,
  bySubject: Relation<number, Authorization>,
): OfGroups {
  const authorizations = new Set<Authorization>()
  const members = new Set<number>()
  for (const [agent, group] of pairs) {
    const naming = [group, ...groupsOf.of(group)].flatMap((subject) => [...bySubject.of(subject)])
    if (naming.length > 0) members.add(agent)
    for (const one of naming) authorizations.add(one)
  }
  return { authorizations: [...authorizations], members: members.size }
}

/** Classes with all that are above and below them. */
function makeClasses() {
  const [superclasses, subclasses] = [makeRelation<string>(), makeRelation<string>()]
  const [above, below] = [makeClosure(superclasses), makeClosure(subclasses)]
  const change =
    (how: 'add' | 'remove') =>
    (pairs: Contribution['superclasses']): void => {
      for (const [type, superclass] of pairs) {
        superclasses[how](type, superclass)
        subclasses[how](superclass, type)
      }
      above.forget()
      below.forget()
    }
  return { above: above.of, below: below.of, add: change('add'), remove: change('remove') }
}

function* including(bySubject: Relation<number, Authorization>, named: Named | undefined): Generator<Including> {
  for (const subject of named ? [EVERYONE, AUTHENTICATED] : [EVERYONE]) {
    for (const authorization of bySubject.of(subject)) yield { authorization, isNamed: false }
  }
  for (const subject of named?.subjects.keys() ?? []) {
    for (const authorization of bySubject.of(subject)) yield { authorization, isNamed: true }
  }
}
