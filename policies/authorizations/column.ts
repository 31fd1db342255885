// Columns: whole numbers by index, in four bytes each.

export interface Column {
  /** 0 where none was set. */
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

/** The indexes of rows that are in use: those that were given up are used again. They are above 0. */
export function makeRows(): { take(): number; give(row: number): void } {
  const free: number[] = []
  let last = 0
  return { take: () => free.pop() ?? ++last, give: (row) => void free.push(row) }
}
