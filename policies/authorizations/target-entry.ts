// In charge of the authorizations on one target: by subject, then by modes, so that any number of similar ones costs the same.
import type { Authorization } from './authorization.js'

/** The authorizations of one subject on one target: a single one, or several by their modes. `bits`: the modes of all. */
export type Bag = Authorization | SharedBag
interface SharedBag {
  bits: number
  readonly byBits: Map<number, Set<Authorization>>
}

/** A target that several authorizations name; `count` is their number. */
export interface SharedTarget {
  readonly bySubject: Map<number, Bag>
  count: number
}
export type TargetEntry = Authorization | SharedTarget
/** Targets of one kind by their IRI. */
export type Targets = Map<string, TargetEntry>

export const isShared = (entry: TargetEntry): entry is SharedTarget => 'bySubject' in entry

export function addToTarget(targets: Targets, target: string, authorization: Authorization): void {
  const entry = targets.get(target)
  if (!entry) targets.set(target, authorization)
  else if (isShared(entry)) addToShared(entry, authorization)
  else {
    const shared: SharedTarget = { bySubject: new Map(), count: 0 }
    addToShared(shared, entry)
    addToShared(shared, authorization)
    targets.set(target, shared)
  }
}

function addToShared(entry: SharedTarget, authorization: Authorization): void {
  entry.count++
  for (const subject of authorization.subjects) {
    const bag = entry.bySubject.get(subject)
    if (!bag) entry.bySubject.set(subject, authorization)
    else if (isSharedBag(bag)) addToBag(bag, authorization)
    else {
      const shared: SharedBag = { bits: 0, byBits: new Map() }
      addToBag(shared, bag)
      addToBag(shared, authorization)
      entry.bySubject.set(subject, shared)
    }
  }
}

const isSharedBag = (bag: Bag): bag is SharedBag => 'byBits' in bag

function addToBag(bag: SharedBag, authorization: Authorization): void {
  const alike = bag.byBits.get(authorization.bits)
  if (alike) alike.add(authorization)
  else bag.byBits.set(authorization.bits, new Set([authorization]))
  bag.bits |= authorization.bits
}

function removeFromBag(bag: SharedBag, authorization: Authorization): void {
  const alike = bag.byBits.get(authorization.bits)
  if (!alike?.delete(authorization) || alike.size > 0) return
  bag.byBits.delete(authorization.bits)
  bag.bits = 0
  for (const bits of bag.byBits.keys()) bag.bits |= bits
}

export function removeFromTarget(targets: Targets, target: string, authorization: Authorization): void {
  const entry = targets.get(target)
  if (!entry) return
  if (!isShared(entry) || --entry.count === 0) {
    targets.delete(target)
    return
  }
  for (const subject of authorization.subjects) {
    const bag = entry.bySubject.get(subject)
    if (bag && isSharedBag(bag)) removeFromBag(bag, authorization)
    if (bag === authorization || (bag && isSharedBag(bag) && bag.byBits.size === 0)) entry.bySubject.delete(subject)
  }
}

export function* authorizationsOn(entry: TargetEntry): Generator<Authorization> {
  if (!isShared(entry)) yield entry
  else {
    for (const bag of entry.bySubject.values()) {
      if (!isSharedBag(bag)) yield bag
      else for (const alike of bag.byBits.values()) yield* alike
    }
  }
}

/** The authorizations with one of the required modes. */
export function* grantingIn(bag: Bag, required: number): Generator<Authorization> {
  if (!isSharedBag(bag)) yield bag
  else for (const [bits, alike] of bag.byBits) if (bits & required) yield* alike
}
