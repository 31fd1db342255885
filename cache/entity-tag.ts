// In charge of entity-tags (RFC 9110 §8.8.3): making them from the content of a graph and a format, and comparing them.
import { hash } from 'node:crypto'

/**
 * The digest of a set of canonical N-Triples lines (without line ends), independent of their order: the sum of the SHA-256
 * of the key with each line, in eight lanes modulo 2^32, and of that the SHA-256 with the key. One pass; only the sum is in
 * memory. Without the key nobody can tell from a digest which lines it is of, nor find other lines with the same digest.
 */
export function makeDigest(key: string): { add(line: string): void; value(): string } {
  const sum = new Uint32Array(8)
  return {
    add(line) {
      const hashed = hash('sha256', key + line, 'buffer')
      for (let lane = 0; lane < 8; lane++) sum[lane] = sum[lane]! + hashed.readUInt32LE(lane * 4)
    },
    value: () => hash('sha256', key + Buffer.from(sum.buffer).toString('hex'), 'base64url'),
  }
}

/** @param key the secret of the dataspace; of any fixed length */
export function digestOf(lines: Iterable<string>, key: string): string {
  const digest = makeDigest(key)
  for (const line of lines) digest.add(line)
  return digest.value()
}

/** The strong entity-tag of a state in a format: each format has its own (spec 4.6). */
export const entityTag = (digest: string, formatCode: string): string => `"${digest}.${formatCode}"`

export interface EntityTag {
  readonly weak: boolean
  /** With its quotes. */
  readonly opaque: string
}

// RFC 9110 §8.8.3: entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE; a list may hold empty members (§5.6.1).
const MEMBER = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*"))?[ \t]*(?:,|$)/y

/** The members of an `If-Match` or `If-None-Match` field, `*`, or undefined when it is malformed. */
export function parseEntityTags(value: string): '*' | EntityTag[] | undefined {
  if (value.trim() === '*') return '*'
  const tags: EntityTag[] = []
  MEMBER.lastIndex = 0
  while (MEMBER.lastIndex < value.length) {
    const match = MEMBER.exec(value)
    if (!match) return undefined
    if (match[2]) tags.push({ weak: match[1] !== undefined, opaque: match[2] })
  }
  return tags.length > 0 ? tags : undefined
}

/** RFC 9110 §8.8.3.2. Our own tags are strong. */
export const strongMatch = (tags: '*' | EntityTag[], current: readonly string[]): boolean =>
  tags === '*' || tags.some((tag) => !tag.weak && current.includes(tag.opaque))
export const weakMatch = (tags: '*' | EntityTag[], current: readonly string[]): boolean =>
  tags === '*' || tags.some((tag) => current.includes(tag.opaque))
