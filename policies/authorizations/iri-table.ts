// IRIs as small integers with reference counts. An IRI without references is forgotten and its number reused. The texts
// are bytes in large blocks, so that a million of them cost the garbage collector nothing.
import { makeRows, type Column, type RowNumbers } from './column.js'
import type { TableState } from './table-state.js'
import { makeTexts, type TextTable, type Written } from './texts.js'

/** The role of an IRI. The same IRI has a different number in each role. */
export type Role =
  'graph' | 'name' | 'fragment' | 'agent' | 'group' | 'accessTo' | 'accessToClass' | 'default' | 'control'

const ROLES: readonly Role[] = ['graph', 'name', 'fragment', 'agent', 'group', 'accessTo', 'accessToClass', 'default', 'control'] // prettier-ignore
const CODES = Object.fromEntries(ROLES.map((role, code) => [role, code])) as Readonly<Record<Role, number>>

export interface IriTable {
  /** The number of an IRI, above 0; undefined if it has no references. */
  idOf(role: Role, iri: string): number | undefined
  iriOf(id: number): string
  roleOf(id: number): Role
  /** Adds a reference. Each needs one `release`. */
  retain(role: Role, iri: string): number
  release(id: number): void
  countOf(role: Role): number
  all(): Iterable<string>
}

const SHARDS = 16

const MOST_ASKED = 2000
/** In characters. */
const LONGEST_ASKED = 256

export function makeIriTable(state: TableState): IriTable {
  const texts = makeTexts(state)
  const [places, references] = [state.column(), state.column()]
  const ids = state.value<RowNumbers>({ last: 0, free: [] })
  const { take, give } = makeRows(ids)
  const counts = state.value(ROLES.map(() => 0))
  const numbers = makeNumbers(places, texts, state)
  // Decisions look up the same few IRIs repeatedly. The cache avoids encoding and hashing them each time.
  let asked = new Map<string, number | undefined>()

  return {
    idOf(role, iri) {
      const key = `${role} ${iri}`
      const known = asked.get(key)
      if (known !== undefined || asked.has(key)) return known
      const id = numbers.find(texts.write(CODES[role], iri))
      if (asked.size >= MOST_ASKED) asked.clear()
      if (iri.length <= LONGEST_ASKED) asked.set(key, id)
      return id
    },
    iriOf: (id) => texts.read(places.at(id)),
    roleOf: (id) => ROLES[texts.roleAt(places.at(id))]!,
    countOf: (role) => counts[CODES[role]]!,
    *all() {
      for (let id = 1; id <= ids.last; id++) if (references.at(id) > 0) yield texts.read(places.at(id))
    },
    retain(role, iri) {
      const text = texts.write(CODES[role], iri)
      const known = numbers.find(text)
      if (known !== undefined) {
        references.set(known, references.at(known) + 1)
        return known
      }
      const id = take()
      if (asked.size > 0) asked = new Map()
      places.set(id, texts.keep(text))
      references.set(id, 1)
      numbers.add(id)
      counts[CODES[role]]!++
      return id
    },
    release(id) {
      const left = references.at(id) - 1
      references.set(id, left)
      if (left > 0) return
      if (asked.size > 0) asked = new Map()
      counts[texts.roleAt(places.at(id))]!--
      numbers.remove(id)
      texts.drop(places.at(id))
      give(id)
    },
  }
}

interface Shard {
  /** Numbers of texts; 0 if empty. The length is a power of two. */
  slots: Int32Array
  count: number
}

/** The numbers by text: several hash tables with open addressing, so that growing never takes long. */
function makeNumbers(places: Column, texts: TextTable, state: TableState) {
  const shards = state.value(Array.from({ length: SHARDS }, (): Shard => ({ slots: new Int32Array(8), count: 0 })))
  const shardOf = (hash: number): Shard => shards[hash % SHARDS]!
  const homeIn = ({ length }: Int32Array, hash: number): number => Math.floor(hash / SHARDS) % length
  const hashOfId = (id: number): number => texts.hashAt(places.at(id))

  function insert(slots: Int32Array, id: number): void {
    let slot = homeIn(slots, hashOfId(id))
    while (slots[slot] !== 0) slot = (slot + 1) % slots.length
    slots[slot] = id
  }

  return {
    find(text: Written): number | undefined {
      const hash = texts.hashOf(text)
      const { slots } = shardOf(hash)
      for (let slot = homeIn(slots, hash); slots[slot] !== 0; slot = (slot + 1) % slots.length) {
        const id = slots[slot]!
        if (texts.isAt(places.at(id), text)) return id
      }
      return undefined
    },
    add(id: number): void {
      const shard = shardOf(hashOfId(id))
      if (++shard.count > shard.slots.length * 0.8) {
        const slots = new Int32Array(shard.slots.length * 2)
        for (const other of shard.slots) if (other !== 0) insert(slots, other)
        shard.slots = slots
      }
      insert(shard.slots, id)
    },
    /** Moves up the slots after it, so that searches never end too early. */
    remove(id: number): void {
      const hash = hashOfId(id)
      const shard = shardOf(hash)
      const { slots } = shard
      let gap = homeIn(slots, hash)
      while (slots[gap] !== id) gap = (gap + 1) % slots.length
      for (let slot = (gap + 1) % slots.length; slots[slot] !== 0; slot = (slot + 1) % slots.length) {
        const home = homeIn(slots, hashOfId(slots[slot]!))
        const stays = gap <= slot ? gap < home && home <= slot : gap < home || home <= slot
        if (stays) continue
        slots[gap] = slots[slot]!
        gap = slot
      }
      slots[gap] = 0
      shard.count--
    },
  }
}
