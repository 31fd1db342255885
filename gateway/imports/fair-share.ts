// In charge of the share of an import in the work of this process: it takes all of it while no other work wants any, else a sixth.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** ms of work before it looks whether others work too, where they did and where they did not at its last look. */
const [WORK_BESIDE_MS, WORK_ALONE_MS] = [100, 1_000]
/** For how long it looks, and looks again while it pauses. */
const [LOOK_MS, LOOK_AGAIN_MS] = [8, 50]
const LONGEST_PAUSE_MS = 1_000
/** The part of the time that others work, from which on they are given more of it. */
const BUSY = 0.3
const FACTOR = 5

export interface FairShare {
  /** Whether it is time to look. */
  isDue(): boolean
  /** To be called while none of the work is under way, which would count as that of others: waits while it is their turn. */
  rest(): Promise<void>
}

export function makeFairShare(signal: AbortSignal): FairShare {
  let [began, wasBusy] = [performance.now(), true]
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
  const isBusy = async (ms: number): Promise<boolean> => {
    const before = performance.eventLoopUtilization()
    await pause(ms)
    return performance.eventLoopUtilization(before).utilization > BUSY
  }
  return {
    isDue: () => performance.now() - began >= (wasBusy ? WORK_BESIDE_MS : WORK_ALONE_MS),
    async rest() {
      // Others have only just come, where there were none at the last look.
      const worked = wasBusy ? performance.now() - began : WORK_BESIDE_MS
      const until = performance.now() + Math.min(FACTOR * worked, LONGEST_PAUSE_MS)
      wasBusy = await isBusy(LOOK_MS)
      // What lasts a moment only, such as a commit of what was imported, is not waited for any longer than that.
      for (let now = performance.now(); wasBusy && now < until && !signal.aborted; now = performance.now())
        wasBusy = await isBusy(Math.min(LOOK_AGAIN_MS, until - now))
      began = performance.now()
    },
  }
}
