// Decides when stores are compacted: at a time of day, or when their databases have grown by a factor.
import { setTimeout as sleep } from 'node:timers/promises'
import { writePrivate } from '../../identity/private-file.js'
import { isFailure } from '../../problem.js'
import { compactedFile, compactedSize, diskUseOf } from '../../survey/disk-use.js'

const LOOK_MS = 5_000
/** Compactions take a tenth of the time at most. */
const REST = 9
const AFTER_BUSY_MS = 10_000
const AFTER_FAILURE_MS = 600_000

export interface Schedule {
  readonly when: string
  /** Of Fuseki. */
  readonly folders: readonly string[]
  /** The data folder. */
  readonly data: string
  readonly now: () => number
}

export type Outcome = 'done' | 'busy' | 'failed'

/** Throws when the signal aborts. */
export async function runSchedule<Store>(
  schedule: Schedule,
  stores: readonly Store[],
  compact: (store: Store, measure: () => Promise<void>) => Promise<Outcome>,
  signal: AbortSignal,
): Promise<void> {
  const isDaily = schedule.when.includes(':')
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal, ref: false })
  for (;;) {
    await pause(isDaily ? untilTime(schedule.when, schedule.now()) : LOOK_MS)
    if (!isDaily && !(await hasGrown(schedule))) continue
    let took = 0
    const sizes = makeSizes(schedule.folders)
    const compactEach = async (due: readonly Store[]): Promise<Due<Store>> => {
      const from = performance.now()
      const left = await compactAll(due, (store) => compact(store, sizes.measure))
      took = performance.now() - from
      return left
    }
    const failed = await untilCompacted(stores, compactEach, { pause, isDaily })
    if (failed.length === 0 && schedule.folders.length > 0)
      await writePrivate(compactedFile(schedule.data), JSON.stringify({ bytes: sizes.sum() }))
    if (!isDaily) await pause(REST * took)
  }
}

/** The stores that are still to be compacted. */
export interface Due<Store> {
  readonly busy: readonly Store[]
  readonly failed: readonly Store[]
}

export async function compactAll<Store>(
  stores: readonly Store[],
  compact: (store: Store) => Promise<Outcome>,
): Promise<Due<Store>> {
  const [busy, failed]: [Store[], Store[]] = [[], []]
  for (const store of stores) {
    const outcome = await compact(store)
    if (outcome !== 'done') (outcome === 'busy' ? busy : failed).push(store)
  }
  return { busy, failed }
}

/**
 * Tries again only those stores that are still due: each compaction stops the writes of its store. Returns the stores
 * that failed, if the schedule is daily: they wait for the next day.
 */
export async function untilCompacted<Store>(
  stores: readonly Store[],
  compactEach: (due: readonly Store[]) => Promise<Due<Store>>,
  { pause, isDaily }: { pause(ms: number): Promise<void>; readonly isDaily: boolean },
): Promise<readonly Store[]> {
  let failed: Store[] = []
  let due = stores
  for (;;) {
    const left = await compactEach(due)
    failed.push(...left.failed)
    if (left.busy.length > 0) {
      due = left.busy
      await pause(AFTER_BUSY_MS)
    } else {
      if (isDaily || failed.length === 0) return failed
      ;[due, failed] = [failed, []]
      await pause(AFTER_FAILURE_MS)
    }
  }
}

/** In ms, on the clock of this machine. */
export function untilTime(time: string, now: number): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const next = new Date(now)
  next.setHours(hours, minutes, 0, 0)
  if (next.getTime() <= now) next.setDate(next.getDate() + 1)
  return next.getTime() - now
}

/** Before the first compaction, the size of the data alone is unknown, so the first one is always due. */
async function hasGrown({ when, folders, data }: Schedule): Promise<boolean> {
  const bytes = await diskUseOf(folders)
  if (isFailure(bytes)) return false
  const before = await compactedSize(data)
  return before === undefined || bytes > Number.parseFloat(when) * before
}

/** The smallest size of each folder so far: while one store is compacted, others may grow. */
function makeSizes(folders: readonly string[]): { measure(): Promise<void>; sum(): number } {
  const least = new Map<string, number>()
  return {
    async measure() {
      for (const folder of folders) {
        const bytes = await diskUseOf([folder])
        if (!isFailure(bytes)) least.set(folder, Math.min(bytes, least.get(folder) ?? Infinity))
      }
    },
    sum: () => [...least.values()].reduce((sum, bytes) => sum + bytes, 0),
  }
}
