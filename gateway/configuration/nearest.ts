// In charge of which known name was meant by one that is not known. Pure.

/** The known name with the fewest edits to the one given. */
export const nearest = (name: string, known: readonly string[]): string =>
  [...known].sort((a, b) => distance(name, a) - distance(name, b))[0]!

/** How many characters have to be put in, taken out or changed to make one name of the other. */
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
