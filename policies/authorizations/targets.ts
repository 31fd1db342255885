// The authorizations on each target: a few are found by their links, many are gathered by subject and modes.
import type { IriTable } from './iri-table.js'
import type { AuthorizationRows } from './rows.js'
import {
  addToShared,
  entryOf,
  removeFromShared,
  type SharedTarget,
  type TargetEntry,
  type TargetKind,
} from './target-entry.js'

const FEW = 8

export function makeTargets(iris: IriTable, rows: AuthorizationRows) {
  /** The number of the one target of the kind `control`. */
  const control = iris.retain('control', '')
  const shared = new Map<number, SharedTarget>([[control, { bySubject: new Map(), count: 0 }]])

  /** The authorizations on a target, in the order in which they came; undefined where they are many. */
  function few(target: number): readonly number[] | undefined {
    const its: number[] = []
    for (const row of rows.on(target)) if (its.push(row) > FEW) return undefined
    return its.reverse()
  }

  return {
    control,
    /** To be called when the authorization is linked to the target. */
    add(target: number, row: number): void {
      const known = shared.get(target)
      if (known) addToShared(known, row, rows)
      else if (few(target) === undefined) {
        shared.set(target, entryOf([...rows.on(target)].reverse(), rows) as SharedTarget)
      }
    },
    /** To be called while it is linked to it. */
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
