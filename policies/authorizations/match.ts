// Finds the authorizations that match an agent and some targets. The work is bounded by the number of targets and the
// smaller of the agent's groups and the target's subjects, not by the number of authorizations.
import { bitsOf, AUTHENTICATED, EVERYONE, type Mode } from './authorization.js'
import {
  auditedOn,
  classOf,
  consideredOn,
  grantsOf,
  throughOf,
  type AllConsidered,
  type Audited,
  type GrantingAuthorization,
  type AskedTarget,
  type TargetHit,
} from './evidence.js'
import type { Hit, NamedRule } from './named.js'
import type { AuthorizationTable } from './table.js'
import type { AuthorizationRows } from './rows.js'
import { bitsIn, isShared, type Bag, type SharedTarget, type TargetEntry, type TargetKind } from './target-entry.js'

export interface Match {
  /** The union of the modes of all matching authorizations. */
  readonly bits: number
  /** The authorizations that gave the mode, at most 5, widest subject first. */
  readonly via: readonly GrantingAuthorization[]
  /** Computed on demand: few refusals are examined, and a decision must cost the same with any number of them. */
  readonly considered: () => AllConsidered
}

const HITS = 20
const FEW = 8
const REMEMBERED = 64

/** `control` targets match only by agent and group. */
export function matchAuthorizations(
  table: AuthorizationTable,
  [agent, memberships]: readonly [agent: string | undefined, memberships: readonly string[] | undefined],
  mode: Mode,
  targets: readonly AskedTarget[],
): Match {
  const required = bitsOf(mode)
  const named = agent === undefined ? undefined : table.named(agent, memberships)
  const entries = entriesOf(table, targets)
  let bits = 0
  const hits: TargetHit[] = []
  for (const { target, entry } of entries) {
    for (const { bag, through } of hitsIn(table, entry, named, target.kind)) {
      const its = bitsIn(bag, table.rows)
      bits |= its
      if (its & required) hits.push({ bag, through, target })
    }
  }
  const granted = hits.length > 0
  const via = granted ? grantsOf(table, hits, required) : []
  return { bits, via, considered: () => consideredOn(table, entries, required, named) }
}

export const authorizationsOnTargets = (
  table: AuthorizationTable,
  targets: readonly AskedTarget[],
): readonly Audited[] => auditedOn(table, entriesOf(table, targets))

function entriesOf(
  table: AuthorizationTable,
  targets: readonly AskedTarget[],
): { readonly target: AskedTarget; readonly entry: TargetEntry }[] {
  const entries: { target: AskedTarget; entry: TargetEntry }[] = []
  for (const target of targets) {
    const { kind, iri } = target
    if (kind === 'accessToClass') {
      for (const type of table.classes(iri)) {
        const entry = table.entryOf(kind, type)
        if (entry !== undefined) entries.push({ target: { kind, iri: type }, entry })
      }
    } else {
      const entry = table.entryOf(kind, iri)
      if (entry !== undefined) entries.push({ target, entry })
    }
  }
  return entries
}

function hitsIn(
  { rows }: AuthorizationTable,
  entry: TargetEntry,
  named: NamedRule | undefined,
  kind: TargetKind,
): readonly Hit[] {
  if (!isShared(entry)) {
    const subject = rows.subjectsOf(entry).find((each) => throughOf(each, named, kind) !== undefined)
    return subject === undefined ? [] : [{ bag: entry, through: throughOf(subject, named, kind)! }]
  }
  const hits: Hit[] = []
  for (const subject of [EVERYONE, AUTHENTICATED]) {
    const through = classOf(subject, named, kind)
    const bag = through === undefined ? undefined : entry.bySubject.get(subject)
    if (bag !== undefined) hits.push({ bag, through: subject })
  }
  return named ? hits.concat(namedHits(rows, entry, named)) : hits
}

function namedHits(rows: AuthorizationRows, entry: SharedTarget, named: NamedRule): readonly Hit[] {
  const steps = Math.min(named.subjects.size, entry.bySubject.size)
  if (steps <= FEW) return findNamedHits(rows, entry, named)
  const known = named.found.get(entry)
  if (known) return known
  const found = findNamedHits(rows, entry, named)
  if (named.found.size >= REMEMBERED) named.found.clear()
  named.found.set(entry, found)
  return found
}

/** The first hits, and every later hit that adds a mode. */
function findNamedHits(rows: AuthorizationRows, { bySubject }: SharedTarget, { subjects }: NamedRule): Hit[] {
  const hits: Hit[] = []
  let bits = 0
  const keep = (bag: Bag | undefined, through: number | undefined): void => {
    if (bag === undefined || through === undefined) return
    const its = bitsIn(bag, rows)
    if (hits.length >= HITS && !(its & ~bits)) return
    bits |= its
    hits.push({ bag, through })
  }
  if (subjects.size <= bySubject.size) for (const [subject, through] of subjects) keep(bySubject.get(subject), through)
  else for (const [subject, bag] of bySubject) keep(bag, subjects.get(subject))
  return hits
}
