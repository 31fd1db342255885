// The compiled authorizations as one table: by target, then by subject, then by modes; and the groups and superclasses
// that extend them. No part grows faster than the statements that it comes from.
import {
  AUTHENTICATED,
  type Authorization,
  EVERYONE,
  type Fact,
  type Stated,
  agentSubject,
  bitsOf,
  groupSubject,
  idIn,
  stating,
} from './authorization.js'
import { type IriTable, makeIriTable } from './iri-table.js'
import { type NamedRule, makeNamed } from './named.js'
import { type Pairs, type Relation, makeClosure, makeRelation } from './relation.js'
import { type AuthorizationRows, makeAuthorizationRows } from './rows.js'
import { makeTableState, type TableState } from './table-state.js'
import {
  type SharedTarget,
  type TargetEntry,
  type TargetKind,
  addToShared,
  entryOf,
  isShared,
  removeFromShared,
} from './target-entry.js'

const FEW = 8

function makeTargets(iris: IriTable, rows: AuthorizationRows, state: TableState) {
  /** The number of the only target of kind `control`. */
  const control = iris.retain('control', '')
  const shared = state.value(new Map<number, SharedTarget>([[control, { bySubject: new Map(), count: 0 }]]))

  /** The authorizations on a target in order of arrival; undefined if there are many. */
  function few(target: number): readonly number[] | undefined {
    const its: number[] = []
    for (const row of rows.on(target)) if (its.push(row) > FEW) return undefined
    return its.reverse()
  }

  return {
    control,
    /** Call it when the authorization has been linked to the target. */
    add(target: number, row: number): void {
      const known = shared.get(target)
      if (known) addToShared(known, row, rows)
      else if (few(target) === undefined) {
        const entry = entryOf([...rows.on(target)].reverse(), rows)
        if (entry !== undefined && isShared(entry)) shared.set(target, entry)
      }
    },
    /** Call it before the authorization is unlinked from the target. */
    remove(target: number, row: number): void {
      const known = shared.get(target)
      if (!known) return
      removeFromShared(known, row, rows)
      if (known.count === 0 && target !== control) shared.delete(target)
    },
    entryOf(kind: TargetKind, iri: string): TargetEntry | undefined {
      const target = kind === 'control' ? control : iris.idOf(kind, iri)
      if (target === undefined) return undefined
      const known = shared.get(target)
      if (known) return known.count > 0 ? known : undefined
      return entryOf(few(target) ?? [], rows)
    },
  }
}

type ClassPair = Stated['superclasses'][number]

function makeClasses(state: TableState) {
  const relation = (): Relation<string> => makeRelation(state.value<Pairs<string>>(new Map()))
  const [superclasses, subclasses] = [relation(), relation()]
  const [above, below] = [makeClosure(superclasses), makeClosure(subclasses)]
  const change =
    (how: 'add' | 'remove') =>
    ([type, superclass]: ClassPair): void => {
      superclasses[how](type, superclass)
      subclasses[how](superclass, type)
      above.forget()
      below.forget()
    }
  return { above: above.of, below: below.of, add: change('add'), remove: change('remove') }
}

const HALF = 2 ** 24

interface Digests {
  of(graph: number): number | undefined
  set(graph: number, digest: number): void
  delete(graph: number): void
}

function makeDigests(state: TableState): Digests {
  const [upper, lower] = [state.column(), state.column()]
  return {
    /** 0 means none. */
    of: (graph) => (upper.at(graph) === 0 ? undefined : (upper.at(graph) - 1) * HALF + lower.at(graph)),
    set(graph, digest) {
      upper.set(graph, Math.floor(digest / HALF) + 1)
      lower.set(graph, digest % HALF)
    },
    delete: (graph) => upper.set(graph, 0),
  }
}

export interface TableSize {
  readonly graphs: number
  readonly authorizations: number
  readonly subjects: number
}

export interface AuthorizationTable {
  /**
   * Replaces the content of a graph, in steps of a few milliseconds. Between two of them the graph may change in another
   * way; then no further step may be taken.
   * @param digest the digest of the facts, if they come from the store
   */
  putting(graph: string, facts: Iterable<Fact>, digest?: number): Generator<void, void>
  /** Removes the content of a graph, in such steps. */
  removing(graph: string): Generator<void, void>
  digestOf(graph: string): number | undefined
  graphs(): Iterable<string>
  /** The number of authorizations and other statements of the graph. */
  countIn(graph: string): number
  size(): TableSize
  readonly rows: AuthorizationRows
  /** The authorizations on a target. The kind `control` has a single target, the empty string. */
  entryOf(kind: TargetKind, iri: string): TargetEntry | undefined
  /** The agent itself, its groups, and the internal groups of authorizations with many subjects. */
  named(agent: string, memberships?: readonly string[]): NamedRule
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
  /** The authorizations that include an agent, and whether by its name or group. May contain duplicates. */
  including(agent: string | undefined, memberships?: readonly string[]): Iterable<Including>
  /** The state of the table, in parts. Do not change it. */
  saved(): Iterable<object>
}

/** The rights that members of groups get through them. */
export interface OfGroups {
  readonly authorizations: readonly Authorization[]
  readonly members: number
}

export interface Including {
  readonly authorization: Authorization
  /** False if the agent is included only as a member of an agent class. */
  readonly isNamed: boolean
}

const CONTROL = bitsOf('Control')

/** @param saved what `saved` gave for another table (table-state.ts) */
export function makeAuthorizationTable(saved?: Iterator<unknown>): AuthorizationTable {
  const state = makeTableState(saved)
  const [iris, graphs] = [makeIriTable(state), makeIriTable(state)]
  const rows = makeAuthorizationRows(iris, graphs, state)
  const targets = makeTargets(iris, rows, state)
  const digests = makeDigests(state)
  const groupsOf = makeRelation(state.value<Pairs<number>>(new Map()))
  const named = makeNamed(iris, groupsOf)
  const classes = makeClasses(state)
  const others = makeOthers(iris, groupsOf, classes, state)
  const authorizations = makeAuthorizations(rows, targets, groupsOf, state)
  const idOf = (graph: string): number => graphs.idOf('graph', graph) ?? 0 // which no graph has

  function* removing(name: string): Generator<void, void> {
    const graph = idOf(name)
    if (graph === 0) return
    digests.delete(graph)
    yield* inSteps(authorizations.removing(graph))
    yield* inSteps(others.removing(graph))
    graphs.release(graph)
    named.forget()
  }

  return {
    ...{ rows, removing, entryOf: targets.entryOf, graphs: graphs.all, named: named.of, saved: state.all },
    size: () => {
      const subjects = iris.countOf('agent') + iris.countOf('group')
      return { graphs: graphs.countOf('graph'), authorizations: authorizations.count(), subjects }
    },
    digestOf: (name) => digests.of(idOf(name)),
    *putting(name, facts, digest) {
      yield* removing(name)
      const stated = yield* stating(facts)
      // A graph from the store that states nothing is recorded too, so that it is not read again.
      if (stated.isEmpty && digest === undefined) return
      const graph = graphs.retain('graph', name)
      yield* inSteps(authorizations.adding(graph, stated))
      yield* inSteps(others.adding(graph, stated))
      if (digest !== undefined) digests.set(graph, digest)
      named.forget()
    },
    countIn: (name) => [...rows.inGraph(idOf(name))].length + others.countIn(idOf(name)),
    inGraph: (name) => Array.from(rows.inGraph(idOf(name)), rows.at),
    ofGroupsIn: (name) => ofGroups(others.membersOf(idOf(name)), groupsOf, rows),
    iriOf: (subject) => iris.iriOf(idIn(subject)),
    classes: classes.above,
    subclasses: classes.below,
    including: (agent, memberships) => including(rows, agent === undefined ? undefined : named.of(agent, memberships)),
  }
}

/** The authorizations of graphs, in steps: one may have as many members as a graph has authorizations. */
function makeAuthorizations(
  rows: AuthorizationRows,
  targets: ReturnType<typeof makeTargets>,
  groupsOf: Relation<number>,
  state: TableState,
) {
  const all = state.value({ count: 0 })
  function change(row: number, how: 'add' | 'remove'): void {
    all.count += how === 'add' ? 1 : -1
    for (const { kind, key } of rows.linksOf(row)) if (kind !== 'subject' && kind !== 'member') targets[how](key, row)
    if (rows.bitsOf(row) & CONTROL) targets[how](targets.control, row)
  }
  return {
    count: () => all.count,
    *adding(graph: number, { authorizations }: Stated): Generator<unknown, void> {
      for (const one of authorizations) {
        const row = rows.add(graph, one)
        change(row, 'add')
        const group = rows.subjectsOf(row).at(-1)!
        for (const member of rows.addingMembers(row, one)) yield groupsOf.add(member, group)
        yield
      }
    },
    *removing(graph: number): Generator<unknown, void> {
      for (const left of rows.removing(graph, (row) => change(row, 'remove'))) yield left && groupsOf.remove(...left)
    },
  }
}

const PER_STEP = 500

function* inSteps(work: Iterator<unknown>): Generator<void, void> {
  for (let count = 1; !work.next().done; count++) if (count % PER_STEP === 0) yield
}

/**
 * The statements of graphs apart from authorizations. Between two steps, it knows exactly the statements that have been
 * added.
 */
function makeOthers(
  iris: IriTable,
  groupsOf: Relation<number>,
  classes: ReturnType<typeof makeClasses>,
  state: TableState,
) {
  /** By graph: agents and their groups as subjects, alternating. */
  const members = state.value(new Map<number, number[]>())
  const superclasses = state.value(new Map<number, ClassPair[]>())
  return {
    membersOf: (graph: number): readonly number[] => members.get(graph) ?? [],
    countIn: (graph: number): number => (members.get(graph)?.length ?? 0) / 2 + (superclasses.get(graph)?.length ?? 0),
    *adding(graph: number, stated: Stated): Generator<void, void> {
      if (stated.superclasses.length > 0) superclasses.set(graph, [])
      for (const pair of stated.superclasses) {
        superclasses.get(graph)!.push(pair)
        yield classes.add(pair)
      }
      if (stated.members.length > 0) members.set(graph, [])
      for (const [agent, group] of stated.members) {
        const [its, theirs] = [agentSubject(iris.retain('agent', agent)), groupSubject(iris.retain('group', group))]
        members.get(graph)!.push(its, theirs)
        yield groupsOf.add(its, theirs)
      }
    },
    *removing(graph: number): Generator<void, void> {
      const [pairs, its] = [superclasses.get(graph) ?? [], members.get(graph) ?? []]
      while (pairs.length > 0) yield classes.remove(pairs.pop()!)
      while (its.length > 0) {
        const [group, agent] = [its.pop()!, its.pop()!]
        groupsOf.remove(agent, group)
        iris.release(idIn(agent))
        yield iris.release(idIn(group))
      }
      superclasses.delete(graph)
      members.delete(graph)
    },
  }
}

function ofGroups(pairs: readonly number[], groupsOf: Relation<number>, rows: AuthorizationRows): OfGroups {
  const authorizations = new Set<number>()
  const members = new Set<number>()
  for (let i = 0; i < pairs.length; i += 2) {
    const [agent, group] = [pairs[i]!, pairs[i + 1]!]
    const naming = [group, ...groupsOf.of(group)].flatMap((subject) => [...rows.of(subject)])
    if (naming.length > 0) members.add(agent)
    for (const one of naming) authorizations.add(one)
  }
  return { authorizations: Array.from(authorizations, rows.at), members: members.size }
}

function* including(rows: AuthorizationRows, named: NamedRule | undefined): Generator<Including> {
  for (const subject of named ? [EVERYONE, AUTHENTICATED] : [EVERYONE]) {
    for (const row of rows.of(subject)) yield { authorization: rows.at(row), isNamed: false }
  }
  for (const subject of named?.subjects.keys() ?? []) {
    for (const row of rows.of(subject)) yield { authorization: rows.at(row), isNamed: true }
  }
}
