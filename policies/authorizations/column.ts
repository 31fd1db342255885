// Columns: integers by index, four bytes each.

export interface Column {
  /** 0 if it was never set. */
  at(index: number): number
  set(index: number, value: number): void
  values(): Int32Array
}

export function makeColumn(values = new Int32Array(16)): Column {
  return {
    values: () => values,
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

/** The numbers of rows: the last one that was allocated, and those that were freed since. */
export interface RowNumbers {
  last: number
  readonly free: number[]
}

/** Allocates row indexes above 0. Freed ones are reused. */
export const makeRows = (numbers: RowNumbers): { take(): number; give(row: number): void } => ({
  take: () => numbers.free.pop() ?? ++numbers.last,
  give: (row) => void numbers.free.push(row),
})
