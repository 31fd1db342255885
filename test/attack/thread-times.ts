// The times of a thread (Linux, proc(5): schedstat). On a busy machine a clock also counts the time that a thread waits for
// a processor: other programs cause that, and no attack.
import { readFileSync } from 'node:fs'

/** In ms, since the thread began; 0 where the system does not say it. @param thread such as `self` or `17/task/18` */
export function timesOf(thread: string): { readonly ran: number; readonly waited: number } {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ').map(Number)
    return { ran: ran / 1e6, waited: waited / 1e6 }
  } catch {
    return { ran: 0, waited: 0 }
  }
}

/** A clock that stands still while this thread, or the main thread of the gateway, waits for a processor. */
export function clockBeside(gateway: number): () => number {
  // After a restart the gateway is another process.
  let waited = 0
  return () => {
    waited = Math.max(waited, timesOf(`${gateway}/task/${gateway}`).waited)
    return performance.now() - timesOf('thread-self').waited - waited
  }
}
