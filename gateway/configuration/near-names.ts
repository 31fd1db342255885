// Finding the known name that a misspelt name stands for. Pure.

/** The known name that takes the fewest edits to reach. */
export const nearest = (name: string, known: readonly string[]): string | undefined =>
  [...known].sort((a, b) => distance(name, a) - distance(name, b))[0]

/** `Did you mean NAME?` where a known name is near, else nothing. Ends with a space, so that a sentence can follow. */
export function didYouMean(name: string, known: readonly string[]): string {
  const best = nearest(
    name,
    known.filter((one) => isNear(name, one)),
  )
  return best === undefined ? '' : `Did you mean ${best}? `
}

/** At most a third of the letters differ, or one name is at least half of the other, at its beginning or its end. */
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
