// The memory that a thread has taken for a large job: V8 returns none of it while the thread is idle.
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of heap that a thread may hold while it is idle: collecting less is not worth its time. */
const IDLE_BYTES = 64 * 2 ** 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** To be called when the reply has been sent. */
export function returnMemory(): void {
  if (getHeapStatistics().total_heap_size > IDLE_BYTES) collect()
}
