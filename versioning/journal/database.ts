// The key-value store of journal and version index: one folder, one owner, one atomic batch at a time.
import { setImmediate as breathe } from 'node:timers/promises'
import { SetbackError, type Setback } from '../failure.js'
import type { OperatorLog } from '../history.js'
import { closeToReopen, makeLevel, openLevel, unusable, unwritable, type Level } from './level.js'

export type DatabaseOperation =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string }

export const put = (key: string, value: string): DatabaseOperation => ({ type: 'put', key, value })
export const del = (key: string): DatabaseOperation => ({ type: 'del', key })

/**
 * What happens to operations that could not be written: `undo` is for keys that are written only once. LevelDB's log may
 * contain a failed batch all the same, and bring it back when it is opened.
 */
export type Failing = 'drop' | 'undo' | 'keep'

export interface Database {
  /**
   * Writes all of these operations or none, after all earlier ones; with `sync` it resolves when they are on the disk.
   * Operations that wait while a batch is written share the next batch; those without `sync` wait a little for some
   * with it. After a failure the database is opened again, and the operations to keep or undo are synced before any
   * others. Until that succeeds, operations to `undo` are `in-doubt`: they may be there after a crash.
   */
  write(operations: readonly DatabaseOperation[], sync: boolean, failing: Failing): Promise<undefined | Setback>
  /** Throws SetbackError, as all reading does. */
  get(key: string): Promise<string | undefined>
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>
  /**
   * The entries whose keys start with `prefix`, in the order of the keys as bytes. With `newest`, at most that many, in
   * reverse order from the last one.
   */
  range(prefix: string, some?: { readonly newest: number }): AsyncIterable<[key: string, value: string]>
  clear(prefix: string): Promise<void>
  /** Batches written so far, and how many of them were synced. */
  readonly counts: { readonly batches: number; readonly synced: number }
  close(): Promise<void>
}

/** The most UTF-16 units of one batch, since LevelDB has the whole batch in memory. */
const BATCH = 16 * 1024 * 1024
/** The longest wait of operations without `sync` for some with it. */
const RIDE_MS = 5

interface WaitingWrite {
  readonly operations: readonly DatabaseOperation[]
  readonly sync: boolean
  readonly failing: Failing
  readonly resolve: (outcome: undefined | Setback) => void
}

interface DatabaseState {
  readonly folder: string
  readonly log: OperatorLog
  readonly level: Level
  readonly counts: { batches: number; synced: number }
  readonly queue: WaitingWrite[]
  /** Operations of failed batches that must still be kept or undone. */
  leftover: DatabaseOperation[]
  writing: Promise<void> | undefined
  riding: NodeJS.Timeout | undefined
  /** True if the queue must be written now. */
  due: boolean
  broken: Setback | undefined
  closed: boolean
}

/** Creates the folder if it is missing. */
export async function openDatabase(folder: string, log: OperatorLog): Promise<Database | Setback> {
  const level = makeLevel(folder)
  const state: DatabaseState = {
    ...{ folder, log, level, counts: { batches: 0, synced: 0 }, queue: [], leftover: [] },
    ...{ writing: undefined, riding: undefined, due: false, broken: undefined, closed: false },
  }
  const failed = await openLevel(level, folder)
  if (failed) return failed

  const reading = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read
    } catch (error) {
      throw new SetbackError(state.broken ?? unusable(folder, error))
    }
  }

  return {
    counts: state.counts,
    write(operations, sync, failing) {
      if (state.closed) return Promise.resolve({ failure: 'failed', detail: 'The journal is closed.' })
      return new Promise((resolve) => {
        state.queue.push({ operations, sync, failing, resolve })
        if (sync) startWriting(state)
        else state.riding ??= setTimeout(() => startWriting(state), RIDE_MS)
      })
    },
    get: (key) => reading(level.get(key)),
    getMany: (keys) => reading(level.getMany([...keys])),
    async *range(prefix, some) {
      const order = some ? { reverse: true, limit: some.newest } : {}
      const iterator = level.iterator({ ...startingWith(prefix), ...order })
      try {
        for (;;) {
          const entries = await reading(iterator.nextv(1000))
          if (entries.length === 0) return
          yield* entries
        }
      } finally {
        await iterator.close()
      }
    },
    clear: (prefix) => reading(level.clear(startingWith(prefix))),
    async close() {
      state.closed = true
      startWriting(state)
      await state.writing
      await repair(state)
      await level.close()
    },
  }
}

function startWriting(state: DatabaseState): void {
  clearTimeout(state.riding)
  state.riding = undefined
  state.due = true
  // Writes of the same turn of the event loop share a batch.
  state.writing ??= breathe().then(() => drain(state))
}

async function drain(state: DatabaseState): Promise<void> {
  const { queue } = state
  while (state.due && queue.length > 0) {
    let size = 0
    const beyond = queue.findIndex(({ operations }, i) => (size += sizeOf(operations)) > BATCH && i > 0)
    const group = queue.splice(0, beyond === -1 ? queue.length : beyond)
    state.due = beyond !== -1
    const outcome = await attempt(state, group)
    for (const { failing, resolve } of group) resolve(outcome?.[failing])
  }
  state.writing = undefined
}

/** The outcome of a failed write, for each kind of operation. */
type Failed = Readonly<Record<Failing, undefined | Setback>>

async function attempt(state: DatabaseState, group: readonly WaitingWrite[]): Promise<undefined | Failed> {
  const broken = await repair(state)
  if (broken) {
    state.leftover.push(...group.filter(({ failing }) => failing === 'keep').flatMap(({ operations }) => operations))
    return { drop: broken, undo: broken, keep: broken }
  }
  const sync = group.some((waiting) => waiting.sync)
  const operations = group.flatMap((waiting) => waiting.operations)
  const failed = await writeCounted(state, operations, sync)
  if (!failed) return undefined
  state.broken = failed
  state.leftover.push(...group.flatMap(afterFailure))
  state.log.error({ folder: state.folder }, failed.detail)
  const unrepaired = await repair(state)
  return { drop: failed, undo: unrepaired ? { ...failed, failure: 'in-doubt' } : failed, keep: unrepaired }
}

/**
 * Opens the database again: after a failure LevelDB refuses all writes, or its log may lose later ones. Then keeps or
 * undoes the operations that failed.
 */
async function repair(state: DatabaseState): Promise<undefined | Setback> {
  const { level, folder, log } = state
  if (!state.broken) return undefined
  if (!(await closeToReopen(level, folder))) return state.broken
  state.broken = (await openLevel(level, folder)) ?? (await writeCounted(state, state.leftover, true))
  if (state.broken) return state.broken
  state.leftover = []
  log.info({ folder }, 'The journal can be written again.')
  return undefined
}

async function writeCounted(
  { level, folder, counts }: DatabaseState,
  operations: readonly DatabaseOperation[],
  sync: boolean,
): Promise<undefined | Setback> {
  try {
    await writeBatch(level, operations, sync)
    counts.batches++
    if (sync) counts.synced++
    return undefined
  } catch (error) {
    return unwritable(folder, error)
  }
}

/** Uses a chained batch: an array of operations takes several times as long. */
function writeBatch(level: Level, operations: readonly DatabaseOperation[], sync: boolean): Promise<void> {
  const batch = level.batch()
  for (const operation of operations) {
    if (operation.type === 'put') batch.put(operation.key, operation.value)
    else batch.del(operation.key)
  }
  return batch.write({ sync })
}

/** The operations to write after a failure. */
const afterFailure = ({ operations, failing }: WaitingWrite): readonly DatabaseOperation[] =>
  failing === 'keep' ? operations : failing === 'undo' ? operations.map(({ key }) => del(key)) : []

/** @param prefix ends in ASCII */
const startingWith = (prefix: string): { gte: string; lt: string } => ({
  gte: prefix,
  lt: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
})

const sizeOf = (operations: readonly DatabaseOperation[]): number =>
  operations.reduce((sum, operation) => sum + (operation.type === 'put' ? operation.value.length : 0), 0)
