// In charge of the share of an import in the work of this process: it takes all of it while no other work wants any, else a third.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** ms of work before it looks whether others work too, and for how long it looks. */
const WORK_MS = 100
const LOOK_MS = 8
const LONGEST_PAUSE_MS = 1_000
/** The part of the time that others work, from which on they are given more of it. */
const BUSY = 0.3
const FACTOR = 2

/** To be called between pieces of the work: it waits while it is the turn of others. */
export function makeFairShare(signal: AbortSignal): () => Promise<void> {
  let began = performance.now()
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
  return async () => {
    const worked = performance.now() - began
    if (worked < WORK_MS) return
    const before = performance.eventLoopUtilization()
    await pause(LOOK_MS)
    const { utilization } = performance.eventLoopUtilization(before)
    if (utilization > BUSY) await pause(Math.min(FACTOR * worked, LONGEST_PAUSE_MS))
    began = performance.now()
  }
}
