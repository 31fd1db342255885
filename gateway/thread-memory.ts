// The memory of a worker thread. V8 may end the whole process, not only the thread, when a heap reaches its limit. So
// code whose memory grows with foreign input counts it, and the thread stops itself long before (design 7).
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread, resourceLimits } from 'node:worker_threads'

/** The exit code of a thread that has used its memory. */
export const OUT_OF_MEMORY = 75

/**
 * V8's limit, as a multiple of the memory that a thread may use: the rest is room for one step that is not counted,
 * such as a parser of a library, or a Map that doubles.
 */
const ROOM = 2

/** The limit for V8, in MiB, of a thread that may use this many bytes. */
export const heapLimitOf = (memory: number): number => Math.ceil((ROOM * memory) / 2 ** 20)

const MOST = ((resourceLimits.maxOldGenerationSizeMb ?? Infinity) * 2 ** 20) / ROOM
/** After this many bytes the heap is measured. */
const EVERY = 4 * 2 ** 20
let left = EVERY

/** Call it before memory grows, with an estimate. Never returns if this thread would use too much. */
export function grown(bytes: number): void {
  if ((left -= bytes) < 0) look(bytes)
}

function look(bytes: number): void {
  left = EVERY
  if (isMainThread || freeAfter(bytes) >= 0) return
  collectGarbage()
  const free = freeAfter(bytes)
  // In a worker thread this stops the thread at once, whatever catches errors.
  if (free < 0) process.exit(OUT_OF_MEMORY)
  // Collecting is slow if little is free.
  left = Math.max(EVERY, free / 2)
}

const freeAfter = (bytes: number): number => MOST - getHeapStatistics().used_heap_size - bytes

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}
