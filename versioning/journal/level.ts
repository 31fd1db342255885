// Opens the LevelDB database of the journal, and gives the setbacks for its errors.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { Setback } from '../failure.js'

export type Level = ClassicLevel<string, string>

/** Bytes that must be free before a failed database is opened again, since LevelDB rewrites its log then. */
const FREE_BYTES = 256 * 1024

export const makeLevel = (folder: string): Level => new ClassicLevel(folder, { writeBufferSize: 8 * 1024 * 1024 })

/** Opens the database; undefined means success. */
export async function openLevel(level: Level, folder: string): Promise<undefined | Setback> {
  try {
    await level.open()
    return undefined
  } catch (error) {
    return unusable(folder, error)
  }
}

/** Closes the database if there is room to open it again; true if it was closed. */
export async function closeToReopen(level: Level, folder: string): Promise<boolean> {
  const probe = join(folder, 'room.probe')
  try {
    await writeFile(probe, Buffer.alloc(FREE_BYTES), { flush: true })
    await level.close()
    return true
  } catch {
    return false
  } finally {
    await rm(probe, { force: true }).catch(() => undefined)
  }
}

export const unwritable = (folder: string, error: unknown): Setback => ({
  failure: 'full',
  detail: `The journal in ${folder} cannot be written: ${messageOf(error)}. Make room on its disk, or repair it.`,
})

export function unusable(folder: string, error: unknown): Setback {
  const { code } = causeOf(error)
  if (code === 'LEVEL_LOCKED') {
    const detail = `The journal in ${folder} is in use by another process. Stop that one, or name another folder.`
    return { failure: 'failed', detail }
  }
  if (code === 'LEVEL_CORRUPTION') {
    const detail =
      `The journal in ${folder} is damaged: ${messageOf(error)}. Put back a copy of the folder; or move it away, which ` +
      'loses the changes that are not committed yet, and only those.'
    return { failure: 'failed', detail }
  }
  return /no space left|quota exceeded/i.test(messageOf(error))
    ? unwritable(folder, error)
    : { failure: 'failed', detail: `The journal in ${folder} cannot be opened or read: ${messageOf(error)}.` }
}

function causeOf(error: unknown): { code?: string; message?: string } {
  const { cause } = error as { cause?: unknown }
  return (cause ?? error) as { code?: string; message?: string }
}

const messageOf = (error: unknown): string => causeOf(error).message ?? String(error)
