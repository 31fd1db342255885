// The evidence for a decision: the authorizations that gave a mode, and the reasons why others did not.
import { isGroup, modesOf, AUTHENTICATED, EVERYONE, type Authorization, type Mode } from './authorization.js'
import type { Hit, NamedRule } from './named.js'
import type { AuthorizationRows } from './rows.js'
import type { AuthorizationTable } from './table.js'
import { authorizationsOn, grantingIn, isShared, type TargetEntry, type TargetKind } from './target-entry.js'

/** A target in the form in which an authorization would name it for this document. */
export interface AskedTarget {
  readonly kind: TargetKind
  readonly iri: string
}

export type SubjectKind = 'public' | 'authenticated-agent' | 'agent' | 'group'

/** An authorization that gave the required mode, and the way in which it applies. */
export interface GrantingAuthorization {
  readonly iri: string
  readonly graph: string
  readonly modes: readonly Mode[]
  readonly subject: SubjectKind
  readonly group?: string
  readonly target: AskedTarget
}

/** An authorization on the target that did not give the required mode: it lacks the agent or the mode. */
export interface Considered {
  readonly iri: string
  readonly graph: string
  readonly modes: readonly Mode[]
  readonly target: AskedTarget
  readonly lacks: 'agent' | 'mode'
}

/** An authorization and its subjects. */
export interface Audited {
  readonly iri: string
  readonly graph: string
  readonly modes: readonly Mode[]
  readonly target: AskedTarget
  /** `iri`: that of an agent or group. */
  readonly subjects: readonly { readonly kind: SubjectKind; readonly iri?: string }[]
}

export interface AllConsidered {
  /** Authorizations on the targets that did not give the mode, at most 20. */
  readonly authorizations: readonly Considered[]
  /** The number of authorizations on the targets, once per target, matching or not. */
  readonly total: number
}

const GRANTS_LISTED = 5
const CONSIDERED_LISTED = 20
const LOOKED_THROUGH = 64

/** The subject, if it is a class that includes the agent and the kind of target allows agent classes. */
export const classOf = (subject: number, named: NamedRule | undefined, kind: TargetKind): number | undefined =>
  kind !== 'control' && (subject === EVERYONE || (subject === AUTHENTICATED && named)) ? subject : undefined

export const throughOf = (subject: number, named: NamedRule | undefined, kind: TargetKind): number | undefined =>
  named?.subjects.get(subject) ?? classOf(subject, named, kind)

const subjectKind = (through: number): SubjectKind => {
  if (through === EVERYONE) return 'public'
  if (through === AUTHENTICATED) return 'authenticated-agent'
  return isGroup(through) ? 'group' : 'agent'
}

const WIDEST_FIRST: readonly SubjectKind[] = ['public', 'authenticated-agent', 'agent', 'group']

export type TargetHit = Hit & { readonly target: AskedTarget }

export function grantsOf(
  table: AuthorizationTable,
  hits: readonly TargetHit[],
  required: number,
): readonly GrantingAuthorization[] {
  const grants = new Map<number, GrantingAuthorization>()
  for (const subject of WIDEST_FIRST) {
    for (const { bag, through, target } of hits) {
      if (subjectKind(through) !== subject) continue
      const group = subject === 'group' ? { group: table.iriOf(through) } : {}
      for (const row of grantingIn(bag, required)) {
        if (grants.size >= GRANTS_LISTED) return [...grants.values()]
        if (grants.has(row)) continue
        const { iri, graph, bits } = table.rows.headOf(row)
        grants.set(row, { iri, graph, modes: modesOf(bits), subject, ...group, target })
      }
    }
  }
  return [...grants.values()]
}

type Entries = readonly { readonly target: AskedTarget; readonly entry: TargetEntry }[]

export const consideredOn = (
  { rows }: AuthorizationTable,
  entries: Entries,
  required: number,
  named: NamedRule | undefined,
): AllConsidered => ({
  authorizations: notGranting(rows, entries, required, named),
  total: entries.reduce((sum, { entry }) => sum + (isShared(entry) ? entry.count : 1), 0),
})

function notGranting(
  rows: AuthorizationRows,
  entries: Entries,
  required: number,
  named: NamedRule | undefined,
): readonly Considered[] {
  const considered = new Map<number, Considered>()
  const granting = new Set<number>()
  let looked = 0
  for (const { target, entry } of entries) {
    for (const row of authorizationsOn(entry)) {
      if (considered.size >= CONSIDERED_LISTED || looked++ >= LOOKED_THROUGH) return [...considered.values()]
      if (granting.has(row)) continue
      const { iri, graph, bits } = rows.headOf(row)
      const matches = rows.subjectsOf(row).some((subject) => throughOf(subject, named, target.kind) !== undefined)
      if (matches && bits & required) {
        // The authorization may not grant through an earlier target, and so be among those considered.
        granting.add(row)
        considered.delete(row)
      } else if (!considered.has(row)) {
        considered.set(row, { iri, graph, modes: modesOf(bits), target, lacks: matches ? 'mode' : 'agent' })
      }
    }
  }
  return [...considered.values()]
}

const AUDITED = 1000

/** Leaves out authorizations without a subject, which apply to no agent. */
export function auditedOn(table: AuthorizationTable, entries: Entries): readonly Audited[] {
  const audited = new Map<number, Audited>()
  for (const { target, entry } of entries) {
    for (const row of authorizationsOn(entry)) {
      if (audited.size >= AUDITED) return [...audited.values()]
      if (audited.has(row)) continue
      const authorization = table.rows.at(row)
      const { iri, graph, bits } = authorization
      const subjects = subjectsOf(authorization, target.kind).map((subject) => {
        const kind = subjectKind(subject)
        return kind === 'agent' || kind === 'group' ? { kind, iri: table.iriOf(subject) } : { kind }
      })
      if (subjects.length > 0) audited.set(row, { iri, graph, modes: modesOf(bits), target, subjects })
    }
  }
  return [...audited.values()]
}

const subjectsOf = ({ subjects, members }: Authorization, kind: TargetKind): number[] =>
  [...subjects, ...members].filter(
    (subject) => subject >= 0 || (kind !== 'control' && (subject === EVERYONE || subject === AUTHENTICATED)),
  )
