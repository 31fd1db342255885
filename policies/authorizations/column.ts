// Columns: integers by index, four bytes each.

export interface Column {
  /** 0 if it was never set. */
  at(index: number): number
  set(index: number, value: number): void
}

export function makeColumn(): Column {
  let values = new Int32Array(16)
  return {
    at: (index) => values[index] ?? 0,
    set(index, value) {
      if (index >= values.length) {
        const longer = new Int32Array(Math.ceil(index * 1.125) + 16)
        longer.set(values)
        values = longer
      }
      values[index] = value
    },
  }
}

/** Allocates row indexes above 0. Freed ones are reused. */
export function makeRows(): { take(): number; give(row: number): void } {
  const free: number[] = []
  let last = 0
  return { take: () => free.pop() ?? ++last, give: (row) => void free.push(row) }
}
