// The inputs of a fuzzer: texts that have reached new code, and random variations of them.
import type { Random } from '../crash/random.js'

/** In characters: longer texts belong to the tests of growth (test/gateway/growth.test.ts). */
const LONGEST = 4096

/** Characters that parsers treat specially. */
const SPECIAL = [...' \t\r\n\0"\'\\<>{}[]()#;,.:/?&=%@^_|~*+-$!`', '\u00e9', '\u2028', '\ufeff', '\ud800', '\u{1f600}', '%00', '%2F', '\r\n\r\n', '..', '//', '0', '1', '999999999999999999999', '-1', '\\u0000', '\\uD800', '<!--', '-->', ']]>', '/*'] // prettier-ignore

/** Words and signs of the seeds, which random characters would hardly form. */
export const wordsOf = (seeds: readonly string[]): readonly string[] => [
  ...new Set([...SPECIAL, ...seeds.flatMap((seed) => seed.match(/[\w-]{2,}|[^\w\s]+/g) ?? [])]),
]

export function changed(random: Random, corpus: readonly string[], words: readonly string[]): string {
  let text = random.one(corpus)
  // Most inputs differ only a little from a known one.
  for (let changes = 2 ** Math.floor(random.between(0, 4)); changes > 0; changes--)
    text = once(random, text, corpus, words)
  return text.slice(0, LONGEST)
}

function once(random: Random, text: string, corpus: readonly string[], words: readonly string[]): string {
  const place = (): number => Math.floor(random.between(0, text.length + 1))
  const [a, b] = [place(), place()].sort((x, y) => x - y) as [number, number]
  const part = text.slice(a, Math.min(b, a + 64))
  const other = random.one(corpus)
  const from = Math.floor(random.between(0, other.length + 1))
  return random.one([
    () => text.slice(0, a) + random.one(words) + text.slice(a),
    () => text.slice(0, a) + random.one(words) + text.slice(a + 1),
    () => text.slice(0, a) + text.slice(a + 1),
    () => text.slice(0, a) + text.slice(b),
    () => text.slice(0, b) + part + text.slice(b),
    () => text.slice(0, b) + part.repeat(Math.floor(random.between(2, 200))) + text.slice(b),
    () => text.slice(0, a) + other.slice(from),
    () => text.slice(0, a) + other.slice(from, from + 32) + text.slice(b),
    () => text.slice(0, a) + String.fromCharCode(random.between(0, 256)) + text.slice(a + 1),
    () => text.slice(0, a) + String.fromCharCode(random.between(0, 65536)) + text.slice(a),
  ])()
}
