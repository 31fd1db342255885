// The state of a table of authorizations: its parts take it in a fixed order, so that all of it can be saved and
// restored.
import { makeColumn, type Column } from './column.js'

export interface TableState {
  /** The next column. */
  column(): Column
  /** The next value, such as a map, which is only changed in place. */
  value<T extends object>(initial: T): T
  /** Everything that has been taken, in order. Do not change it. */
  readonly all: () => Iterable<object>
}

/** @param saved what `all` gave for another table; empty for a new one. It must not be used for anything else. */
export function makeTableState(saved: Iterator<unknown> = [][Symbol.iterator]()): TableState {
  const taken: (() => object)[] = []
  const next = <T>(): T | undefined => (saved.next() as IteratorResult<T | undefined, undefined>).value
  return {
    column() {
      const column = makeColumn(next<Int32Array<ArrayBuffer>>())
      taken.push(column.values)
      return column
    },
    value<T extends object>(initial: T) {
      const value = next<T>() ?? initial
      taken.push(() => value)
      return value
    },
    *all() {
      for (const take of taken) yield take()
    },
  }
}
