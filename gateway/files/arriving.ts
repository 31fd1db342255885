// An arriving file: writes its bytes to a temporary file and computes its digests on the way.
import { createHash, randomUUID } from 'node:crypto'
import { open, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { problem, type Problem } from '../problem.js'
import type { Awaitable } from '../maybe-async.js'

export interface Arriving {
  readonly path: string
  write(piece: Uint8Array): Promise<undefined | Problem>
  /** Flushes and closes the file, since thousands may wait. Nothing more can be written; repeated calls do nothing. */
  finish(): Promise<undefined | Problem>
  bytes(): number
  /** The digests of everything written. Call it after `finish`. */
  digests(): { readonly sha1: string; readonly sha256: string }
  /** Closes and removes the temporary file. */
  drop(): Promise<void>
}

/** @param expected its size in bytes, if known */
export async function openArriving(folder: string, expected?: number): Promise<Arriving | Problem> {
  const path = join(folder, randomUUID())
  const [sha1, sha256] = [createHash('sha1'), createHash('sha256')]
  const file = await open(path, 'wx', 0o600).catch(notStored)
  if (!('write' in file)) return file
  const room = makeRoom(path, expected)
  let [isOpen, bytes] = [true, 0]
  let made: ReturnType<Arriving['digests']> | undefined
  const close = async (): Promise<void> => {
    room.end()
    if (isOpen) await file.close()
    isOpen = false
  }
  return {
    path,
    async write(piece) {
      const full = await room.take(piece.length)
      if (full) return full
      bytes += piece.length
      sha1.update(piece)
      sha256.update(piece)
      try {
        for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten
        return undefined
      } catch (error) {
        return notStored(error)
      }
    },
    async finish() {
      if (!isOpen) return undefined
      try {
        await file.sync()
        await close()
        return undefined
      } catch (error) {
        return notStored(error)
      }
    },
    bytes: () => bytes,
    digests: () => (made ??= { sha1: sha1.digest('hex'), sha256: sha256.digest('hex') }),
    async drop() {
      await close()
      await rm(path, { force: true })
    },
  }
}

const KEPT_FREE = 2 ** 30
const CHECKED_EACH = 2 ** 24

/**
 * True if the disk lacks room. Reserves a twentieth of it, at most 1 GiB, for the journal and the stores.
 * @param needed bytes that are still to be written
 */
export const isFull = (disk: Disk, needed = 0): boolean => roomOf(disk) < needed

/** The free bytes beyond that reserve; Infinity if the system does not report the size of the disk. */
export const roomOf = ({ bavail, blocks, bsize }: Disk): number =>
  blocks > 0 ? bavail * bsize - Math.min((blocks * bsize) / 20, KEPT_FREE) : Infinity

type Disk = Record<'bavail' | 'blocks' | 'bsize', number>

/**
 * Bytes that unfinished files may write before they check the disk again; other files leave them that room. Counts only
 * this thread: imports count their own within the free space.
 */
let promised = 0

export interface DiskRoom {
  /** Call it before writing this many bytes. */
  take(bytes: number): Awaitable<undefined | Problem>
  /** Call it when nothing more is written. */
  end(): void
}

/**
 * @param expected the size of this file, if known: no more is reserved for it, and it is refused at once if there is
 * too little room
 */
export function makeRoom(path: string, expected = 0): DiskRoom {
  let [own, written, isOver] = [0, 0, false]
  const promise = (bytes: number): void => {
    own += bytes
    promised += bytes
  }
  const spend = (bytes: number): undefined => {
    promise(-bytes)
    written += bytes
  }
  return {
    take(bytes) {
      if (bytes <= own) return spend(bytes)
      const left = expected - written
      const more = Math.max(bytes, left > 0 ? Math.min(left, CHECKED_EACH) : CHECKED_EACH) - own
      // Before the check, so that concurrent checks count it.
      promise(more)
      const refused = (failed: Problem): Problem => {
        if (!isOver) promise(-more)
        return failed
      }
      return statfs(dirname(path)).then(
        (disk) => (isOver || isFull(disk, promised + Math.max(left - own, 0)) ? refused(FULL) : spend(bytes)),
        (error: unknown) => refused(notStored(error)),
      )
    },
    end() {
      isOver = true
      promise(-own)
    },
  }
}

const FULL = problem('files.full', 'The disk of the gateway is almost full, so files are refused. Ask its operator for more space.') // prettier-ignore

/** A disk that is full or failing. */
export const notStored = (error: unknown): Problem =>
  problem('files.failed', `The file cannot be stored (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`, {
    fields: [['Retry-After', '60']],
  })

/** True for errors of the disk, for which the system reports a code. */
export const isOfDisk = (error: unknown): boolean =>
  typeof (error as NodeJS.ErrnoException).code === 'string' && (error as NodeJS.ErrnoException).syscall !== undefined

/** True if there is no such file or folder. After any other error there may be one. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** A renamed file is durable only after its folder has been flushed. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const opened = await open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
