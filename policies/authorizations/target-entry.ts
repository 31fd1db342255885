// The authorizations on one target, grouped by subject and modes, so that the number of similar ones does not matter.
import type { AuthorizationRows } from './rows.js'

/**
 * How an authorization reaches a document. `control`: it lists Control, and the document is in the admin application.
 */
export type TargetKind = 'accessTo' | 'accessToClass' | 'default' | 'control'

/** The authorizations of a subject on a target: a single one, or several grouped by modes. `bits`: the modes of all. */
export type Bag = number | SharedBag
interface SharedBag {
  bits: number
  readonly byBits: Map<number, Set<number>>
}

/** A target named by several authorizations; `count` is their number. */
export interface SharedTarget {
  readonly bySubject: Map<number, Bag>
  count: number
}
/** A single authorization, or several. */
export type TargetEntry = number | SharedTarget

type Rows = Pick<AuthorizationRows, 'bitsOf' | 'subjectsOf'>

export const isShared = (entry: TargetEntry): entry is SharedTarget => typeof entry !== 'number'

/** The entry for a target named by these authorizations. */
export function entryOf(its: readonly number[], rows: Rows): TargetEntry | undefined {
  if (its.length <= 1) return its[0]
  const shared: SharedTarget = { bySubject: new Map(), count: 0 }
  for (const row of its) addToShared(shared, row, rows)
  return shared
}

export function addToShared(entry: SharedTarget, row: number, rows: Rows): void {
  entry.count++
  const bits = rows.bitsOf(row)
  for (const subject of rows.subjectsOf(row)) {
    const bag = entry.bySubject.get(subject)
    if (bag === undefined) entry.bySubject.set(subject, row)
    else if (isSharedBag(bag)) addToBag(bag, row, bits)
    else {
      const shared: SharedBag = { bits: 0, byBits: new Map() }
      addToBag(shared, bag, rows.bitsOf(bag))
      addToBag(shared, row, bits)
      entry.bySubject.set(subject, shared)
    }
  }
}

const isSharedBag = (bag: Bag): bag is SharedBag => typeof bag !== 'number'

export const bitsIn = (bag: Bag, rows: Rows): number => (isSharedBag(bag) ? bag.bits : rows.bitsOf(bag))

function addToBag(bag: SharedBag, row: number, bits: number): void {
  const alike = bag.byBits.get(bits)
  if (alike) alike.add(row)
  else bag.byBits.set(bits, new Set([row]))
  bag.bits |= bits
}

function removeFromBag(bag: SharedBag, row: number, itsBits: number): void {
  const alike = bag.byBits.get(itsBits)
  if (!alike?.delete(row) || alike.size > 0) return
  bag.byBits.delete(itsBits)
  bag.bits = 0
  for (const bits of bag.byBits.keys()) bag.bits |= bits
}

export function removeFromShared(entry: SharedTarget, row: number, rows: Rows): void {
  entry.count--
  for (const subject of rows.subjectsOf(row)) {
    const bag = entry.bySubject.get(subject)
    if (bag !== undefined && isSharedBag(bag)) removeFromBag(bag, row, rows.bitsOf(row))
    if (bag === row || (bag !== undefined && isSharedBag(bag) && bag.byBits.size === 0)) entry.bySubject.delete(subject)
  }
}

export function* authorizationsOn(entry: TargetEntry): Generator<number> {
  if (!isShared(entry)) yield entry
  else {
    for (const bag of entry.bySubject.values()) {
      if (!isSharedBag(bag)) yield bag
      else for (const alike of bag.byBits.values()) yield* alike
    }
  }
}

/** The authorizations that have one of the required modes. */
export function* grantingIn(bag: Bag, required: number): Generator<number> {
  if (!isSharedBag(bag)) yield bag
  else for (const [bits, alike] of bag.byBits) if (bits & required) yield* alike
}
