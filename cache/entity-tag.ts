// Entity-tags (RFC 9110 §8.8.3): making them from the content of a graph and a format, and comparing them.
import { hash } from 'node:crypto'

/** The sum of a set of lines: changed with the set, and never shown (see `digestOf`). */
export interface LineSum {
  add(line: string): void
  remove(line: string): void
  value(): string
}

/**
 * The sum of a set of canonical N-Triples lines (without line ends), independent of their order: of the SHA-256 of the
 * key with each line, in eight lanes modulo 2^32. One pass; only the sum is in memory.
 * @param key the secret of the dataspace; of any fixed length
 * @param start the sum of other lines before
 */
export function makeLineSum(key: string, start?: string): LineSum {
  const sum = new Uint32Array(8)
  if (start !== undefined) new Uint8Array(sum.buffer).set(Buffer.from(start, 'base64url'))
  const count = (line: string, sign: 1 | -1): void => {
    // A character for each byte: a Buffer takes twice as long to make as its hash.
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

/** The sum of a set after a change of some lines. */
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
 * The digest of a set with this sum: its SHA-256 with the key. Without the key no client can tell from digests which
 * lines they are of, what was added between two of them, nor find other lines with the same digest.
 */
export const digestOf = (sum: string, key: string): string => hash('sha256', key + sum, 'base64url')

/** The strong entity-tag of a state in a format: each format has its own (spec 4.6). */
export const entityTag = (digest: string, formatCode: string): string => `"${digest}.${formatCode}"`

export interface EntityTag {
  readonly weak: boolean
  /** With its quotes. */
  readonly opaque: string
}

// RFC 9110 §8.8.3: entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE. Nothing repeats beside its like: it takes linear time.
const TAG = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/y
// RFC 9110 §5.6.1: a list may hold empty members.
const BETWEEN = /[ \t,]*/y

/** The members of an `If-Match` or `If-None-Match` field, `*`, or undefined when it is malformed. */
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
