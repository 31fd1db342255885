// Writes without a fenced request (applier.ts): looks in the store whether the write was carried out.
import type { makeSignal } from '../../versioning/journal/signal.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { DOUBT_MS, FENCE, hadNoEffect, hasNoLaterEffect } from './write-failures.js'
import type { Attempt, QueuedWrite } from './write-groups.js'

/**
 * Without a fence, a late attempt would overwrite later writes. So the write is attempted again only when the previous
 * attempt can have no effect any more.
 */
export function unfenced(
  { store, closing }: { readonly store: GraphStore; readonly closing: ReturnType<typeof makeSignal> },
  write: QueuedWrite,
): Attempt {
  let failures = 0
  return async (attempt) => {
    if (attempt > 0) {
      await closing.received(DOUBT_MS)
      const failed = await sendUpdate(store, FENCE)
      const isThere = failed ?? (await write.isThere())
      if (isFailure(isThere)) return { unknown: isThere }
      if (isThere) return 'done'
      if (failures === MOST_FAILURES) return { refused: ALWAYS }
    }
    const failed = await write.alone()
    if (!failed) return 'done'
    if (hadNoEffect(failed) || hasNoLaterEffect(failed)) return { refused: failed }
    if (failed.failure === 'store.failed') failures++
    return { unknown: failed }
  }
}

/** After this many failures, five seconds apart, the store is assumed to fail every time. */
const MOST_FAILURES = 2
const ALWAYS = problem('store.refused', 'The triplestore fails at each attempt to carry out the write.')

export const sendUpdate = (store: GraphStore, text: string): Promise<undefined | Problem> =>
  store.together ? store.together.update(text) : store.update(text)
