// Authorizations as rows of numbers: a hundred thousand take a few dozen bytes each and cost the garbage collector
// nothing.
import {
  agentSubject,
  CLASS_SUBJECTS,
  FIRST_OWN_GROUP,
  groupSubject,
  MAX_SUBJECTS,
  NO_SUBJECT,
  type Authorization,
  type StatedAuthorization,
  type TargetProperty,
} from './authorization.js'
import { makeRows } from './column.js'
import type { IriTable } from './iri-table.js'
import { makeLinks, MEMBER, SUBJECT, TARGETS, type AuthorizationLink, type Links } from './links.js'
import type { TableState } from './table-state.js'

/** A name and its modes form one number. */
const MODES = 16

export interface AuthorizationRows {
  /** Adds an authorization in the graph with this number. Returns its row. Many subjects follow by `addingMembers`. */
  add(graph: number, stated: StatedAuthorization): number
  /** Adds the agents and groups that the last subject of the row stands for. Yields each of them. */
  addingMembers(row: number, stated: StatedAuthorization): Generator<number, void>
  /** Removes the authorizations of a graph. Of each, it yields the members with their group, then calls `before`. */
  removing(graph: number, before: (row: number) => void): Generator<undefined | readonly [number, number], void>
  bitsOf(row: number): number
  at(row: number): Authorization
  /** Faster than `at`, for a part of the authorization. */
  headOf(row: number): Pick<Authorization, 'iri' | 'graph' | 'bits'>
  subjectsOf(row: number): readonly number[]
  linksOf(row: number): Iterable<AuthorizationLink>
  /** The authorizations in a graph, of a subject, and on a target. */
  inGraph(graph: number): Iterable<number>
  of(subject: number): Iterable<number>
  on(target: number): Iterable<number>
}

export function makeAuthorizationRows(iris: IriTable, graphNames: IriTable, state: TableState): AuthorizationRows {
  const rows = makeRows(state.value({ last: 0, free: [] }))
  /** Per authorization: its graph, its IRI with its modes, the next one in the graph; per graph: the first one. */
  const [graphs, names, nexts, firstIn] = [state.column(), state.column(), state.column(), state.column()]
  const links = makeLinks(iris, state)
  const { link, addingMembers } = linking(iris, links, state)
  const naming = makeNaming(iris, graphNames)
  const subjectsOf = (row: number): readonly number[] => links.keysOf(row, SUBJECT)
  const nameOf = (row: number): string => naming.of(names.at(row), graphs.at(row))
  function* inGraph(graph: number): Generator<number> {
    for (let row = firstIn.at(graph); row > 0; row = nexts.at(row)) yield row
  }
  const bitsOf = (row: number): number => names.at(row) % MODES
  const targetsOf = (row: number, property: TargetProperty): string[] =>
    links.keysOf(row, TARGETS.indexOf(property)).map(iris.iriOf)

  return {
    bitsOf,
    inGraph,
    add(graph, stated) {
      const row = rows.take()
      graphs.set(row, graph)
      names.set(row, naming.retain(stated, graph))
      nexts.set(row, firstIn.at(graph))
      firstIn.set(graph, row)
      link(row, stated)
      return row
    },
    addingMembers,
    *removing(graph, before) {
      for (let row = firstIn.at(graph); row > 0; row = firstIn.at(graph)) {
        const group = subjectsOf(row).at(-1)!
        for (const member of links.removingMembers(row)) yield [member, group]
        before(row)
        firstIn.set(graph, nexts.at(row))
        links.removeAll(row)
        naming.release(names.at(row))
        rows.give(row)
        yield undefined
      }
    },
    headOf: (row) => ({ iri: nameOf(row), graph: graphNames.iriOf(graphs.at(row)), bits: bitsOf(row) }),
    subjectsOf,
    at: (row) => ({
      row,
      iri: nameOf(row),
      graph: graphNames.iriOf(graphs.at(row)),
      bits: bitsOf(row),
      subjects: subjectsOf(row),
      members: links.keysOf(row, MEMBER),
      accessTo: targetsOf(row, 'accessTo'),
      accessToClass: targetsOf(row, 'accessToClass'),
      default: targetsOf(row, 'default'),
    }),
    linksOf: links.of,
    of: (subject) => links.with(SUBJECT, subject),
    on: (target) => links.with(0, target),
  }
}

/** The IRI of an authorization, with its modes as one number. */
function makeNaming(iris: IriTable, graphNames: IriTable) {
  const idIn = (name: number): number => Math.floor(name / MODES)
  return {
    retain({ iri, bits }: StatedAuthorization, graph: number): number {
      const base = graphNames.iriOf(graph)
      const isWithin = iri.startsWith(base)
      const id = isWithin ? iris.retain('fragment', iri.slice(base.length)) : iris.retain('name', iri)
      return id * MODES + bits
    },
    of(name: number, graph: number): string {
      const id = idIn(name)
      return iris.roleOf(id) === 'fragment' ? graphNames.iriOf(graph) + iris.iriOf(id) : iris.iriOf(id)
    },
    release: (name: number): void => iris.release(idIn(name)),
  }
}

const isWide = ({ agents, groups }: StatedAuthorization): boolean =>
  agents.length + groups.length > MAX_SUBJECTS - CLASS_SUBJECTS.size

/** The agents and groups, last ones first. */
function* namedIn(iris: IriTable, { agents, groups }: StatedAuthorization): Generator<number> {
  for (const group of groups.toReversed()) yield groupSubject(iris.retain('group', group))
  for (const agent of agents.toReversed()) yield agentSubject(iris.retain('agent', agent))
}

/**
 * Links an authorization to its subjects and targets. Each new link becomes the first one, so they are added in
 * reverse.
 */
function linking(iris: IriTable, links: Links, state: TableState) {
  const ownGroups = state.value({ next: FIRST_OWN_GROUP })
  return {
    link(row: number, stated: StatedAuthorization): void {
      const { classes, agents, groups, targets } = stated
      for (const [kind, property] of TARGETS.entries()) {
        for (const target of targets[property].toReversed()) links.add(row, kind, iris.retain(property, target))
      }
      if (isWide(stated)) links.add(row, SUBJECT, ownGroups.next--)
      else for (const subject of namedIn(iris, stated)) links.add(row, SUBJECT, subject)
      for (const subject of classes.toReversed()) links.add(row, SUBJECT, subject)
      if (agents.length + groups.length + classes.length === 0) links.add(row, SUBJECT, NO_SUBJECT)
    },
    *addingMembers(row: number, stated: StatedAuthorization): Generator<number, void> {
      if (!isWide(stated)) return
      for (const subject of namedIn(iris, stated)) {
        links.add(row, MEMBER, subject)
        yield subject
      }
    },
  }
}
