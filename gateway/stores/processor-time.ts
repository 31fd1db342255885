// The processor time of a thread, measured from another one: on a busy machine, a clock would also count the time that
// a thread waits. Linux reports it in /proc (proc(5): schedstat); elsewhere it is unknown.
import { readFileSync, readlinkSync } from 'node:fs'

/** Names the calling thread; undefined if its time is not known. */
export function thisThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return undefined
  }
}

/** The time that the thread has been running on a processor, in ms. */
export function processorTimeOf(thread: string): number | undefined {
  try {
    const [nanoseconds] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return undefined
  }
}
