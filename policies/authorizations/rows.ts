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
import { makeColumn, makeRows } from './column.js'
import type { IriTable } from './iri-table.js'
import { makeLinks, MEMBER, SUBJECT, TARGETS, type AuthorizationLink, type Links } from './links.js'

/** A name and its modes form one number. */
const MODES = 16

export interface AuthorizationRows {
  /** Adds an authorization in the graph with this number. Returns its row. */
  add(graph: number, stated: StatedAuthorization): number
  /** Removes the authorizations of a graph one by one, each after this call. */
  removing(graph: number, before: (row: number) => void): Generator<void, void>
  bitsOf(row: number): number
  at(row: number): Authorization
  /** Gives only a part of an authorization, but faster. */
  headOf(row: number): Pick<Authorization, 'iri' | 'graph' | 'bits'>
  subjectsOf(row: number): readonly number[]
  linksOf(row: number): Iterable<AuthorizationLink>
  /** The authorizations in a graph, of a subject, and on a target. */
  inGraph(graph: number): Iterable<number>
  of(subject: number): Iterable<number>
  on(target: number): Iterable<number>
}

export function makeAuthorizationRows(iris: IriTable, graphNames: IriTable): AuthorizationRows {
  const rows = makeRows()
  /** Per authorization: its graph, its IRI with its modes, the next one in the graph; per graph: the first one. */
  const [graphs, names, nexts, firstIn] = [makeColumn(), makeColumn(), makeColumn(), makeColumn()]
  const links = makeLinks(iris)
  const link = linking(iris, links)
  function nameOf(row: number): string {
    const name = Math.floor(names.at(row) / MODES)
    return iris.roleOf(name) === 'fragment' ? graphNames.iriOf(graphs.at(row)) + iris.iriOf(name) : iris.iriOf(name)
  }
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
      const [iri, base] = [stated.iri, graphNames.iriOf(graph)]
      const isWithin = iri.startsWith(base)
      const name = isWithin ? iris.retain('fragment', iri.slice(base.length)) : iris.retain('name', iri)
      graphs.set(row, graph)
      names.set(row, name * MODES + stated.bits)
      nexts.set(row, firstIn.at(graph))
      firstIn.set(graph, row)
      link(row, stated)
      return row
    },
    *removing(graph, before) {
      for (let row = firstIn.at(graph); row > 0; row = firstIn.at(graph)) {
        before(row)
        firstIn.set(graph, nexts.at(row))
        links.removeAll(row)
        iris.release(Math.floor(names.at(row) / MODES))
        rows.give(row)
        yield
      }
    },
    headOf: (row) => ({ iri: nameOf(row), graph: graphNames.iriOf(graphs.at(row)), bits: bitsOf(row) }),
    subjectsOf: (row) => links.keysOf(row, SUBJECT),
    at: (row) => ({
      row,
      iri: nameOf(row),
      graph: graphNames.iriOf(graphs.at(row)),
      bits: bitsOf(row),
      subjects: links.keysOf(row, SUBJECT),
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

/**
 * Links an authorization to its subjects and targets. Each new link becomes the first one, so they are added in
 * reverse.
 */
function linking(iris: IriTable, links: Links): (row: number, stated: StatedAuthorization) => void {
  let nextOwnGroup = FIRST_OWN_GROUP
  return (row, { classes, agents, groups, targets }) => {
    for (const [kind, property] of TARGETS.entries()) {
      for (const target of targets[property].toReversed()) links.add(row, kind, iris.retain(property, target))
    }
    const named = [
      ...agents.map((agent) => agentSubject(iris.retain('agent', agent))),
      ...groups.map((group) => groupSubject(iris.retain('group', group))),
    ].reverse()
    const isWide = named.length > MAX_SUBJECTS - CLASS_SUBJECTS.size
    for (const subject of named) links.add(row, isWide ? MEMBER : SUBJECT, subject)
    if (isWide) links.add(row, SUBJECT, nextOwnGroup--)
    for (const subject of classes.toReversed()) links.add(row, SUBJECT, subject)
    if (named.length + classes.length === 0) links.add(row, SUBJECT, NO_SUBJECT)
  }
}
