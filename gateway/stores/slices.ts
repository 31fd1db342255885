// Divides work on many lines or documents into slices, with other requests between them (design 7).
import { setImmediate as eventLoopTurn } from 'node:timers/promises'

/** In characters: parsing takes some 50 µs per line. */
const SLICE = 64 * 1024

const SLICE_MS = 10

/** Call it between pieces of work: returns a promise to wait for once they have taken 10 ms. */
export function makeSliceTurns(): () => undefined | Promise<void> {
  let until = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < until) return undefined
    return eventLoopTurn().then(() => void (until = performance.now() + SLICE_MS))
  }
}

/** Call it with the length of each line: returns a promise to wait for when a slice is full. */
export function makeSlices(): (characters: number) => undefined | Promise<void> {
  let left = SLICE
  return (characters) => {
    if ((left -= characters) > 0) return undefined
    left = SLICE
    return eventLoopTurn()
  }
}
