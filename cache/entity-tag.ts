// Entity-tags (RFC 9110 §8.8.3): computes them from a graph and a format, and compares them.
import { hash } from 'node:crypto'

/** The sum of a set of lines. It changes with the set and is never shown to clients (see `digestOf`). */
export interface LineSum {
  add(line: string): void
  remove(line: string): void
  value(): string
}

/**
 * The order-independent sum of a set of canonical N-Triples lines (without line ends): adds up the SHA-256 of the key
 * with each line, in eight lanes modulo 2^32. One pass, and only the sum is in memory.
 * @param key the secret of the dataspace, of any fixed length
 * @param start the sum of preceding lines
 */
export function makeLineSum(key: string, start?: string): LineSum {
  const sum = new Uint32Array(8)
  if (start !== undefined) new Uint8Array(sum.buffer).set(Buffer.from(start, 'base64url'))
  const count = (line: string, sign: 1 | -1): void => {
    // One character per byte: making a Buffer takes twice as long as the hash.
    const hashed = hash('sha256', key + line, 'binary')
    for (let lane = 0; lane < 8; lane++) sum[lane] = sum[lane]! + sign * wordAt(hashed, lane * 4)
  }
  return {
    add: (line) => count(line, 1),
    remove: (line) => count(line, -1),
    value: () => Buffer.from(sum.buffer).toString('base64url'),
  }
}

/** Little-endian. */
const wordAt = (bytes: string, at: number): number =>
  bytes.charCodeAt(at) |
  (bytes.charCodeAt(at + 1) << 8) |
  (bytes.charCodeAt(at + 2) << 16) |
  (bytes.charCodeAt(at + 3) << 24)

export function sumOf(lines: Iterable<string>, key: string): string {
  const sum = makeLineSum(key)
  for (const line of lines) sum.add(line)
  return sum.value()
}

/** The sum of a set after some lines have changed. */
export function changedSum(
  sum: string,
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
  key: string,
): string {
  const next = makeLineSum(key, sum)
  for (const line of removed) next.remove(line)
  for (const line of added) next.add(line)
  return next.value()
}

/**
 * The digest of a set with this sum: the SHA-256 of the key with the sum. Without the key, clients can learn nothing
 * about the lines from digests: neither which they are, nor what was added, nor other lines with the same digest.
 */
export const digestOf = (sum: string, key: string): string => hash('sha256', key + sum, 'base64url')

/** The strong entity-tag of a state in a format. Each format has its own (spec 4.6). */
export const entityTag = (digest: string, formatCode: string): string => `"${digest}.${formatCode}"`

export interface EntityTag {
  readonly weak: boolean
  /** Including its quotes. */
  readonly opaque: string
}

// RFC 9110 §8.8.3: entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE. Matches in linear time.
const TAG = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/y
// RFC 9110 §5.6.1: a list may have empty members.
const BETWEEN = /[ \t,]*/y

/** The members of an `If-Match` or `If-None-Match` field, or `*`; undefined if it is malformed. */
export function parseEntityTags(value: string): '*' | EntityTag[] | undefined {
  if (value.trim() === '*') return '*'
  const tags: EntityTag[] = []
  for (let at = 0; ;) {
    BETWEEN.lastIndex = at
    const between = BETWEEN.exec(value)![0]
    at += between.length
    if (at === value.length) return tags.length > 0 ? tags : undefined
    TAG.lastIndex = at
    const match = TAG.exec(value)
    if (!match || (tags.length > 0 && !between.includes(','))) return undefined
    tags.push({ weak: match[1] !== undefined, opaque: match[2]! })
    at = TAG.lastIndex
  }
}

/** RFC 9110 §8.8.3.2. Our own tags are strong. */
export const strongMatch = (tags: '*' | EntityTag[], current: readonly string[]): boolean =>
  tags === '*' || tags.some((tag) => !tag.weak && current.includes(tag.opaque))
export const weakMatch = (tags: '*' | EntityTag[], current: readonly string[]): boolean =>
  tags === '*' || tags.some((tag) => current.includes(tag.opaque))
