// The share of an import in the work of this process: it takes all of it while no other work wants any, else a sixth.
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** ms of work before it looks whether others work too: where they did at one of its last looks, and where they did at none. */
const [WORK_BESIDE_MS, WORK_ALONE_MS] = [100, 1_000]
/** For how long it looks, and looks again while it pauses; and for how long where it was alone. */
const [LOOK_MS, LOOK_ALONE_MS] = [50, 8]
const LONGEST_PAUSE_MS = 1_000
/** The part of the time that others work, from which on they are given more of it. */
const BUSY = 0.3
const FACTOR = 5
/** A client that works may send nothing for a moment. */
const LAST_LOOKS = 3

export interface FairShare {
  /** Whether it is time to look. */
  isDue(): boolean
  /** To be called while none of the work is under way, which would count as that of others: waits while it is their turn. */
  rest(): Promise<void>
}

export function makeFairShare(signal: AbortSignal): FairShare {
  let [began, quietLooks] = [performance.now(), 0]
  const isAlone = (): boolean => quietLooks >= LAST_LOOKS
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
  const isBusySince = (before: EventLoopUtilization): boolean =>
    performance.eventLoopUtilization(before).utilization > BUSY
  const isBusy = async (ms: number): Promise<boolean> => {
    const before = performance.eventLoopUtilization()
    await pause(ms)
    return isBusySince(before)
  }
  return {
    isDue: () => performance.now() - began >= (isAlone() ? WORK_ALONE_MS : WORK_BESIDE_MS),
    async rest() {
      // Others have only just come, where there were none at the last look.
      const worked = isAlone() ? WORK_BESIDE_MS : performance.now() - began
      const until = performance.now() + Math.min(FACTOR * worked, LONGEST_PAUSE_MS)
      const before = performance.eventLoopUtilization()
      let busy = await isBusy(isAlone() ? LOOK_ALONE_MS : LOOK_MS)
      // What lasts a moment only, such as a commit of what was imported, is not waited for any longer than that.
      for (let now = performance.now(); busy && now < until && !signal.aborted; now = performance.now())
        busy = await isBusy(Math.min(LOOK_MS, until - now))
      quietLooks = isBusySince(before) ? 0 : quietLooks + 1
      began = performance.now()
    },
  }
}
