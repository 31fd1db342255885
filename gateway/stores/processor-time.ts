// The processor time of a thread, seen from another one: on a busy machine a clock tells how long a thread has
// waited too. Linux says it in /proc (proc(5): schedstat); elsewhere it is not known.
import { readFileSync, readlinkSync } from 'node:fs'

/** Names the calling thread; undefined where its time is not known. */
export function thisThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return undefined
  }
}

/** ms that the thread has been at work, on a processor. */
export function processorTimeOf(thread: string): number | undefined {
  try {
    const [nanoseconds] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return undefined
  }
}
