// Repeats a write of an import while its problem is temporary. Repeating does no harm: an import writes a document only
// if that changes it.
import { type Failure, STATUS_OF, isFailure } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { setTimeout as sleep } from 'node:timers/promises'

/** After problems of the store, the write may be done all the same. */
const TEMPORARY: ReadonlySet<string> = new Set([
  ...Object.entries(STATUS_OF).flatMap(([code, status]) => (status === 503 || status === 504 ? [code] : [])),
  'store.failed',
  'history.in-doubt',
])
export const isTemporary = ({ failure }: Failure): boolean => TEMPORARY.has(failure)

const TRIES = 30
const WAIT_MS = 1_000

/** Whether the stores answer, each of which may hold up a write: that of the rules too. */
async function areReady({ application, dataspace }: Pick<Context, 'application' | 'dataspace'>): Promise<boolean> {
  const stores = new Set([application, dataspace.endUser, dataspace.admin].map(({ store }) => store))
  const failed = await Promise.all([...stores].map((store) => store.ready()))
  return failed.every((one) => one === undefined)
}

/**
 * Returns the outcome, or the problem of the last try. Only tries after which the stores answer, and the disk is not the
 * problem, are counted: without them no document can be written, so the import waits.
 */
export async function repeat<T>(
  context: Pick<Context, 'application' | 'dataspace'>,
  signal: AbortSignal,
  write: () => Promise<T>,
  wait = WAIT_MS,
): Promise<T | 'stopped'> {
  for (let tries = 0; ;) {
    const outcome = await write()
    if (!isFailure(outcome) || !isTemporary(outcome)) return outcome
    if (outcome.failure !== 'files.failed' && (await areReady(context)) && ++tries === TRIES) return outcome
    await sleep(wait, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return 'stopped'
  }
}
