// The links between authorizations and their subjects and targets, as rows of numbers. They can be followed from either
// side.
import { idIn, type TargetProperty } from './authorization.js'
import { makeRows } from './column.js'
import type { IriTable } from './iri-table.js'
import type { TableState } from './table-state.js'

export const TARGETS: readonly TargetProperty[] = ['accessTo', 'accessToClass', 'default']
/** Kinds of links. The kinds of targets are numbered by position. A key and its kind form one number. */
export const [SUBJECT, MEMBER] = [3, 4]
const KIND_BITS = 3
const KINDS = 2 ** KIND_BITS

/** A subject or a target of an authorization. */
export interface AuthorizationLink {
  readonly kind: 'subject' | 'member' | TargetProperty
  /** A subject, or the number of a target's IRI. */
  readonly key: number
}

const KIND_NAMES: readonly AuthorizationLink['kind'][] = [...TARGETS, 'subject', 'member']

export interface Links {
  /** Adds it as the authorization's first link. */
  add(row: number, kind: number, key: number): void
  removeAll(row: number): void
  /** Removes the members of an authorization, from the last one on. Yields each of them. */
  removingMembers(row: number): Generator<number, void>
  of(row: number): Iterable<AuthorizationLink>
  keysOf(row: number, kind: number): number[]
  /** The authorizations linked to the key. */
  with(kind: number, key: number): Iterable<number>
}

export function makeLinks(iris: IriTable, state: TableState): Links {
  const rows = makeRows(state.value({ last: 0, free: [] }))
  /** The first link of an authorization. */
  const firsts = state.column()
  /** The key with its kind, the authorization, and the authorization's next link. */
  const [keys, owners, siblings] = [state.column(), state.column(), state.column()]
  const chains = makeChains(state)
  const kindOf = (link: number): number => keys.at(link) & (KINDS - 1)
  const keyOf = (link: number): number => keys.at(link) >> KIND_BITS

  function remove(link: number): void {
    const [kind, key] = [kindOf(link), keyOf(link)]
    if (kind !== MEMBER) chains.remove(kind, key, link)
    if (kind < SUBJECT) iris.release(key)
    else if (key >= 0) iris.release(idIn(key))
    rows.give(link)
  }
  function* linksOf(row: number): Generator<number> {
    for (let link = firsts.at(row); link > 0; link = siblings.at(link)) yield link
  }

  return {
    add(row, kind, key) {
      const link = rows.take()
      keys.set(link, key * KINDS + kind)
      owners.set(link, row)
      siblings.set(link, firsts.at(row))
      firsts.set(row, link)
      if (kind !== MEMBER) chains.add(kind, key, link)
    },
    removeAll(row) {
      for (const link of [...linksOf(row)]) remove(link)
      firsts.set(row, 0)
    },
    *removingMembers(row) {
      for (let link = firsts.at(row); link > 0 && kindOf(link) === MEMBER; link = firsts.at(row)) {
        const key = keyOf(link)
        firsts.set(row, siblings.at(link))
        remove(link)
        yield key
      }
    },
    *of(row) {
      for (const link of linksOf(row)) yield { kind: KIND_NAMES[kindOf(link)]!, key: keyOf(link) }
    },
    // Used in every decision, so it avoids iterators.
    keysOf(row, kind) {
      const found: number[] = []
      for (let at = firsts.at(row); at > 0; at = siblings.at(at)) if (kindOf(at) === kind) found.push(keyOf(at))
      return found
    },
    *with(kind, key) {
      for (let link = chains.first(kind, key); link > 0; link = chains.next(link)) yield owners.at(link)
    },
  }
}

/** The links of each key, newest first. */
function makeChains(state: TableState) {
  const [heads, laters, earlier] = [makeHeads(state), state.column(), state.column()]
  return {
    first: heads.of,
    next: laters.at,
    add(kind: number, key: number, link: number): void {
      const head = heads.of(kind, key)
      laters.set(link, head)
      earlier.set(link, 0)
      if (head > 0) earlier.set(head, link)
      heads.set(kind, key, link)
    },
    remove(kind: number, key: number, link: number): void {
      const [before, after] = [earlier.at(link), laters.at(link)]
      if (before > 0) laters.set(before, after)
      else heads.set(kind, key, after)
      if (after > 0) earlier.set(after, before)
    },
  }
}

/** The first link of each key: by number for IRIs, in a map for other subjects. */
function makeHeads(state: TableState) {
  const heads = state.column()
  const others = state.value(new Map<number, number>())
  const idOf = (kind: number, key: number): number => (kind === SUBJECT ? idIn(key) : key)
  return {
    of: (kind: number, key: number): number => (key < 0 ? (others.get(key) ?? 0) : heads.at(idOf(kind, key))),
    set(kind: number, key: number, link: number): void {
      if (key >= 0) heads.set(idOf(kind, key), link)
      else if (link > 0) others.set(key, link)
      else others.delete(key)
    },
  }
}
