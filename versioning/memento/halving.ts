// Binary search in a long list, without reading all of it.

/** The last number below `count` for which `isTrue`, or -1. It must be true for all numbers before that one. */
export async function lastWhere(count: number, isTrue: (number: number) => Promise<boolean>): Promise<number> {
  let [from, to] = [0, count]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (await isTrue(middle)) from = middle + 1
    else to = middle
  }
  return from - 1
}
