// Finds the known name that a misspelt name is probably meant to be. Pure.

/** The known name reachable with the fewest edits. */
export const nearest = (name: string, known: readonly string[]): string | undefined =>
  [...known].sort((a, b) => distance(name, a) - distance(name, b))[0]

/** `Did you mean NAME? ` if a known name is close, otherwise ''. A sentence can follow. */
export function didYouMean(name: string, known: readonly string[]): string {
  const best = nearest(
    name,
    known.filter((one) => isNear(name, one)),
  )
  return best === undefined ? '' : `Did you mean ${best}? `
}

/** True if at most a third of the letters differ, or one name begins or ends with the other, half as long or more. */
export function isNear(name: string, known: string): boolean {
  const [a, b] = [name, known].map((text) => text.toLowerCase()) as [string, string]
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  const isPart = 2 * short.length >= long.length && (long.startsWith(short) || long.endsWith(short))
  return isPart || distance(a, b) <= Math.floor(b.length / 3)
}

/** The number of characters to insert, delete or replace to turn one name into the other. */
export function distance(a: string, b: string): number {
  let row = [...b, ''].map((_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(row[j]! + (a[i] === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
