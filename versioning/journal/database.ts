// In charge of the key-value store under journal and version index: one folder, one owner, one atomic batch at a time.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import type { Setback } from '../change.js'
import type { Log } from '../history.js'
import { SetbackError } from '../repository.js'

export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string }

export const put = (key: string, value: string): Operation => ({ type: 'put', key, value })
export const del = (key: string): Operation => ({ type: 'del', key })

/** What is to become of operations that could not be written: `undo` is for keys that are put once and for all. */
export type Failing = 'drop' | 'undo' | 'keep'

export interface Database {
  /**
   * All or none of these, after all that was given before; with `sync` resolves when they are on the disk. Those that wait
   * while a batch is written share the next one; those without `sync` wait a little for one with it. After a failure the store is opened anew before anything else is
   * written; what is to be kept, or undone, goes first then.
   */
  write(operations: readonly Operation[], sync: boolean, failing: Failing): Promise<undefined | Setback>
  /** Throws SetbackError, as all that reads. */
  get(key: string): Promise<string | undefined>
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>
  /** What starts with `prefix`, in the order of the keys as bytes. */
  range(prefix: string): AsyncIterable<[key: string, value: string]>
  clear(prefix: string): Promise<void>
  /** Batches written so far, and how many of them were synced. */
  readonly counts: { readonly batches: number; readonly synced: number }
  close(): Promise<void>
}

/** UTF-16 units of one batch, which LevelDB holds as a whole. */
const BATCH = 16 * 1024 * 1024
/** How long operations that need not be on the disk wait for some that do. */
const RIDE_MS = 5
/** Bytes that must be free before a store that failed is opened again: it rewrites its log then. */
const ROOM = 256 * 1024

interface Waiting {
  readonly operations: readonly Operation[]
  readonly sync: boolean
  readonly failing: Failing
  readonly resolve: (outcome: undefined | Setback) => void
}

/** Makes the folder where there is none. */
export async function openDatabase(folder: string, log: Log): Promise<Database | Setback> {
  const level = new ClassicLevel<string, string>(folder, { writeBufferSize: 8 * 1024 * 1024 })
  const counts = { batches: 0, synced: 0 }
  const queue: Waiting[] = []
  let leftover: Operation[] = []
  let writing: Promise<void> | undefined
  let riding: NodeJS.Timeout | undefined
  /** Whether what waits is to be written now. */
  let due = false
  let broken: Setback | undefined
  let closed = false

  const opened = await open(level, folder)
  if (opened) return opened

  /** After a failure LevelDB refuses all writes, or its log may have a hole that would swallow later ones. */
  async function mend(): Promise<undefined | Setback> {
    if (!broken) return undefined
    const probe = join(folder, 'room.probe')
    try {
      await writeFile(probe, Buffer.alloc(ROOM), { flush: true })
      await level.close()
    } catch {
      return broken
    } finally {
      await rm(probe, { force: true }).catch(() => undefined)
    }
    broken = await open(level, folder)
    if (!broken) log.info({ folder }, 'The journal can be written again.')
    return broken
  }

  /** A chained batch: one of an array of operations costs several times as much. */
  function writeBatch(operations: readonly Operation[], sync: boolean): Promise<void> {
    const batch = level.batch()
    for (const operation of operations) {
      if (operation.type === 'put') batch.put(operation.key, operation.value)
      else batch.del(operation.key)
    }
    return batch.write({ sync })
  }

  async function attempt(group: readonly Waiting[]): Promise<undefined | Setback> {
    const unwritable = await mend()
    if (unwritable) {
      leftover.push(...group.filter(({ failing }) => failing === 'keep').flatMap(({ operations }) => operations))
      return unwritable
    }
    const sync = leftover.length > 0 || group.some((waiting) => waiting.sync)
    try {
      await writeBatch([...leftover, ...group.flatMap(({ operations }) => operations)], sync)
      leftover = []
      counts.batches++
      if (sync) counts.synced++
      return undefined
    } catch (error) {
      leftover.push(...group.flatMap(afterFailure))
      broken = full(folder, error)
      log.error({ folder }, broken.detail)
      return broken
    }
  }

  async function drain(): Promise<void> {
    while (due && queue.length > 0) {
      let size = 0
      const beyond = queue.findIndex(({ operations }, i) => (size += sizeOf(operations)) > BATCH && i > 0)
      const group = queue.splice(0, beyond === -1 ? queue.length : beyond)
      due = beyond !== -1
      const outcome = await attempt(group)
      for (const { resolve } of group) resolve(outcome)
    }
    writing = undefined
  }

  function start(): void {
    clearTimeout(riding)
    riding = undefined
    due = true
    // All that this turn of the event loop brings shares the batch.
    writing ??= breathe().then(drain)
  }

  const reading = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read
    } catch (error) {
      throw new SetbackError(broken ?? unusable(folder, error))
    }
  }

  return {
    counts,
    write(operations, sync, failing) {
      if (closed) return Promise.resolve({ setback: 'failed', detail: 'The journal is closed.' })
      return new Promise((resolve) => {
        queue.push({ operations, sync, failing, resolve })
        if (sync) start()
        else riding ??= setTimeout(start, RIDE_MS)
      })
    },
    get: (key) => reading(level.get(key)),
    getMany: (keys) => reading(level.getMany([...keys])),
    async *range(prefix) {
      const iterator = level.iterator(startingWith(prefix))
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
      closed = true
      start()
      await writing
      if (leftover.length > 0) await attempt([])
      await level.close()
    },
  }
}

/** @param prefix ends in ASCII */
const startingWith = (prefix: string): { gte: string; lt: string } => ({
  gte: prefix,
  lt: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
})

const sizeOf = (operations: readonly Operation[]): number =>
  operations.reduce((sum, operation) => sum + (operation.type === 'put' ? operation.value.length : 0), 0)

/** A batch that failed may be in the log all the same, and come back when that is read. */
const afterFailure = ({ operations, failing }: Waiting): readonly Operation[] =>
  failing === 'keep' ? operations : failing === 'undo' ? operations.map(({ key }) => del(key)) : []

async function open(level: ClassicLevel, folder: string): Promise<undefined | Setback> {
  try {
    await level.open()
    return undefined
  } catch (error) {
    return unusable(folder, error)
  }
}

const full = (folder: string, error: unknown): Setback => ({
  setback: 'full',
  detail: `The journal in ${folder} cannot be written: ${messageOf(error)}. Make room on its disk, or mend it.`,
})

function unusable(folder: string, error: unknown): Setback {
  const { code } = causeOf(error)
  if (code === 'LEVEL_LOCKED') {
    const detail = `The journal in ${folder} is in use by another process. Stop that one, or name another folder.`
    return { setback: 'failed', detail }
  }
  if (code === 'LEVEL_CORRUPTION') {
    const detail =
      `The journal in ${folder} is damaged: ${messageOf(error)}. Put back a copy of the folder; or move it away, which ` +
      'loses the changes that are not committed yet, and only those.'
    return { setback: 'failed', detail }
  }
  return /no space left|quota exceeded/i.test(messageOf(error))
    ? full(folder, error)
    : { setback: 'failed', detail: `The journal in ${folder} cannot be opened or read: ${messageOf(error)}.` }
}

function causeOf(error: unknown): { code?: string; message?: string } {
  const { cause } = error as { cause?: unknown }
  return (cause ?? error) as { code?: string; message?: string }
}

const messageOf = (error: unknown): string => causeOf(error).message ?? String(error)
