// Finding a place in a long list without reading all of it.

/** As long as it is true for the first numbers below `count` and for no others: the last of them, or -1. */
export async function lastWhere(count: number, isTrue: (number: number) => Promise<boolean>): Promise<number> {
  let [from, to] = [0, count]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (await isTrue(middle)) from = middle + 1
    else to = middle
  }
  return from - 1
}
