// In charge of mementos for the tests of TimeMap and TimeGate.
import type { Memento } from '../../versioning/memento/time-map.js'

/** Mementos of these times, in seconds since the epoch. */
export const mementos = (...seconds: readonly number[]): Memento[] =>
  seconds.map((second, seq) => ({
    seq,
    commit: (seq + 1).toString(16).repeat(40).slice(0, 40),
    position: seq,
    blob: 'b'.repeat(40),
    time: second * 1000,
    agent: undefined,
    method: 'PUT',
    added: 1,
    removed: 0,
  }))
