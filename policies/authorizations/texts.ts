// Texts in different roles (names of agents, targets, and the like) as bytes in large blocks, so that a million of them
// cost the garbage collector nothing.
import { randomInt } from 'node:crypto'
import type { TableState } from './table-state.js'

/** Blocks are addressed in words of four bytes. A text has one word with its length, then its role and characters. */
const BLOCK_BITS = 18
const BLOCK = 2 ** BLOCK_BITS
/** The initial size of the first block, in words. */
const SMALL = 256

/** The bytes of a text to look up. */
export interface Written {
  readonly bytes: Uint8Array
  readonly length: number
}

export interface TextTable {
  /**
   * Encodes the role and the characters, in one byte each if they fit, otherwise two. The next call reuses the buffer.
   */
  write(role: number, text: string): Written
  keep(written: Written): number
  drop(place: number): void
  read(place: number): string
  roleAt(place: number): number
  isAt(place: number, written: Written): boolean
  hashOf(written: Written): number
  hashAt(place: number): number
}

const WIDE = 0x80

interface Blocks {
  blockOf(place: number): Buffer
  /** Allocates this many words. */
  take(words: number): number
  give(place: number, words: number): void
}

/** The byte offset of a place in its block. */
const start = (place: number): number => (place % BLOCK) * 4

function makeBlocks(state: TableState): Blocks {
  const blocks = state.value<Buffer[]>([])
  const last = state.value({ room: 0, next: 0 })
  /** Freed places by their size in words. */
  const given = state.value(new Map<number, number[]>())
  const blockOf = (place: number): Buffer => blocks[place >>> BLOCK_BITS]!

  function growFor(place: number, words: number): void {
    const block = blockOf(place)
    const needed = start(place) + words * 4
    if (needed <= block.length) return
    const larger = Buffer.alloc(Math.max(needed, Math.min(BLOCK * 4, block.length * 2)))
    larger.set(block)
    blocks[place >>> BLOCK_BITS] = larger
  }

  return {
    blockOf,
    take(words) {
      const used = given.get(words)?.pop()
      if (used !== undefined) return used
      if (words > last.room) {
        // A longer text gets its own block.
        blocks.push(Buffer.alloc(Math.max(blocks.length === 0 ? SMALL : BLOCK, words) * 4))
        last.next = (blocks.length - 1) * BLOCK
        last.room = BLOCK
      }
      growFor(last.next, words)
      const place = last.next
      last.next += words
      last.room = Math.max(0, last.room - words)
      return place
    },
    give(place, words) {
      const places = given.get(words)
      if (places) places.push(place)
      else given.set(words, [place])
    },
  }
}

const wordsOf = (length: number): number => 1 + Math.ceil(length / 4)

export function makeTexts(state: TableState): TextTable {
  const { blockOf, take, give } = makeBlocks(state)
  // The seed is secret, so that nobody can construct texts that share a slot.
  const { seed } = state.value({ seed: randomInt(2 ** 32) })
  let scratch = Buffer.alloc(1024)
  const lengthAt = (place: number): number => {
    const [block, at] = [blockOf(place), start(place)]
    return block[at]! | (block[at + 1]! << 8) | (block[at + 2]! << 16) | (block[at + 3]! << 24)
  }

  return {
    write(role, text) {
      if (scratch.length < 1 + 2 * text.length) scratch = Buffer.alloc(2 + 4 * text.length)
      scratch[0] = role
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code > 0xff) {
          scratch[0] = role | WIDE
          return { bytes: scratch, length: 1 + scratch.write(text, 1, 'utf16le') }
        }
        scratch[i + 1] = code
      }
      return { bytes: scratch, length: text.length + 1 }
    },
    keep({ bytes, length }) {
      const place = take(wordsOf(length))
      const block = blockOf(place)
      block.writeUInt32LE(length, start(place))
      block.set(bytes.subarray(0, length), start(place) + 4)
      return place
    },
    drop: (place) => give(place, wordsOf(lengthAt(place))),
    read(place) {
      const [block, from] = [blockOf(place), start(place) + 4]
      const isWide = (block[from]! & WIDE) !== 0
      return block.toString(isWide ? 'utf16le' : 'latin1', from + 1, from + lengthAt(place))
    },
    roleAt: (place) => blockOf(place)[start(place) + 4]! & ~WIDE,
    isAt(place, { bytes, length }) {
      if (lengthAt(place) !== length) return false
      const [block, from] = [blockOf(place), start(place) + 4]
      for (let i = 0; i < length; i++) if (block[from + i] !== bytes[i]) return false
      return true
    },
    hashOf: ({ bytes, length }) => hashOf(seed, bytes, 0, length),
    hashAt: (place) => hashOf(seed, blockOf(place), start(place) + 4, lengthAt(place)),
  }
}

function hashOf(seed: number, bytes: Uint8Array, from: number, length: number): number {
  let hash = seed
  for (let i = from; i < from + length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
