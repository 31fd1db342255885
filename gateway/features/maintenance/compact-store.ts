// Compacts a TDB2 dataset while its store is paused, and waits until Fuseki has ended the task.
import { setTimeout as sleep } from 'node:timers/promises'
import { isFailure } from '../../problem.js'
import type { FusekiAdmin } from '../../stores/fuseki-admin.js'
import type { GraphStore } from '../../stores/store.js'

export type Compaction = 'done' | { readonly problem: string; readonly isBusy?: true }

/**
 * How long a compaction waits for running requests, in ms. It must be short, since the regular check of who holds the
 * store waits too (stores/holder.ts).
 */
const DRAIN_MS = 2_000
const LOOK_MS = { first: 20, most: 500 }
/** After this time, an update shows whether Fuseki is still copying. */
const COPYING_MS = 2_000
/** The longest time between the end of copying and the end of the task. */
const REMOVING_MS = 60_000
const MOST_FAILURES = 5

interface Limits {
  readonly signal: AbortSignal
  /** Called after the compaction, before anything is written again. */
  readonly measure?: () => Promise<void>
  /** For tests, which use shorter times. */
  readonly copying?: number
  readonly removing?: number
}

/**
 * If a read begins before Jena switches to the copy and ends after that, Jena never ends the compaction and never
 * removes the old files. So nothing is sent to the store until the task has ended.
 */
export async function compactStore(store: GraphStore, admin: FusekiAdmin, limits: Limits): Promise<Compaction> {
  const tasks = await admin.tasks()
  if (typeof tasks === 'string') return { problem: tasks }
  if (tasks.some(({ task, finished }) => task === 'Compact' && finished === undefined)) return UNENDED
  const resume = await store.pause?.(AbortSignal.any([limits.signal, AbortSignal.timeout(DRAIN_MS)]))
  if (resume === undefined) return { problem: 'This store cannot be paused.' }
  if (isFailure(resume))
    return { problem: 'Requests to the store take too long. The compaction will be tried again.', isBusy: true }
  try {
    const begun = await admin.compact()
    if (typeof begun === 'string') return { problem: begun }
    const outcome = await ended(admin, begun.taskId, { ...limits, resume })
    if (outcome === 'done') await limits.measure?.()
    return outcome
  } finally {
    resume()
  }
}

const UNENDED: Compaction = {
  problem:
    'A compaction of Fuseki has not ended. If it never does, restart Fuseki and remove its older Data-NNNN folder.',
}

/** Fuseki delays an update while it copies, and carries it out as soon as the copy is in use. */
async function ended(
  admin: FusekiAdmin,
  id: string,
  { signal, resume, copying = COPYING_MS, removing = REMOVING_MS }: Limits & { readonly resume: () => void },
): Promise<Compaction> {
  const over = new AbortController()
  let [failures, isAsked] = [0, false]
  let startedAt: number | undefined
  let copiedAt: number | undefined
  const ask = async (): Promise<void> => {
    isAsked = true
    if (await admin.writes(over.signal)) {
      copiedAt = performance.now()
      resume()
    } else isAsked = false
  }
  try {
    for (let wait = LOOK_MS.first; ; wait = Math.min(2 * wait, LOOK_MS.most)) {
      await sleep(wait, undefined, { signal })
      const tasks = await admin.tasks()
      if (typeof tasks === 'string') {
        if (++failures >= MOST_FAILURES) return { problem: tasks }
        continue
      }
      failures = 0
      const task = tasks.find(({ taskId }) => taskId === id)
      if (!task) return { problem: 'Fuseki was restarted, or has forgotten the task.' }
      if (task.finished !== undefined) return task.success === false ? REFUSED : 'done'
      if (task.started !== undefined) startedAt ??= performance.now()
      if (!isAsked && startedAt !== undefined && performance.now() - startedAt >= copying) void ask()
      if (copiedAt !== undefined && performance.now() - copiedAt >= removing) return UNENDED
    }
  } finally {
    over.abort()
  }
}

const REFUSED: Compaction = { problem: 'Fuseki could not compact the dataset. See the log of Fuseki.' }
