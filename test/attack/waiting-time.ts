// How long a thread has waited for a processor (Linux, proc(5): schedstat), which only other programs cause.
import { readFileSync } from 'node:fs'

/** In ms, since the thread began; 0 if the system does not report it. @param thread such as `self` or `17/task/18` */
export function waitingTimeOf(thread: string | number): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
