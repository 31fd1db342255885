// One file on its way to the disk: its bytes go to a temporary file, its digests are computed while they arrive.
import { createHash, randomUUID } from 'node:crypto'
import { open, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { problem, type Problem } from '../problem.js'
import type { Awaitable } from '../maybe-async.js'

export interface Arriving {
  readonly path: string
  write(piece: Uint8Array): Promise<undefined | Problem>
  /** Flushes and closes what was written: nothing more can be, and thousands may wait. Once more does nothing. */
  finish(): Promise<undefined | Problem>
  bytes(): number
  /** Of all that was written, after `finish`. */
  digests(): { readonly sha1: string; readonly sha256: string }
  /** Closes and removes the temporary file. */
  drop(): Promise<void>
}

/** @param expected its bytes, where they are told before */
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
 * A part of the disk stays free for the journal and the stores: a twentieth, 1 GiB at most.
 * @param needed bytes that are still to be written
 */
export const isFull = (disk: Disk, needed = 0): boolean => roomOf(disk) < needed

/** The bytes above that part; Infinity where the system does not say how large the disk is. */
export const roomOf = ({ bavail, blocks, bsize }: Disk): number =>
  blocks > 0 ? bavail * bsize - Math.min((blocks * bsize) / 20, KEPT_FREE) : Infinity

type Disk = Record<'bavail' | 'blocks' | 'bsize', number>

/**
 * Bytes that files under way may write before they look at the disk again: others leave them that room. Of this thread:
 * those of imports have their own, within what of the disk stays free.
 */
let promised = 0

export interface DiskRoom {
  /** To be asked before so many bytes are written. */
  take(bytes: number): Awaitable<undefined | Problem>
  /** Nothing more is written. */
  end(): void
}

/**
 * @param expected the bytes of this file, where they are told: more is not promised to it, and less room is refused at
 * once
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
      // Before the look: others that look meanwhile count it.
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

const FULL = problem('files.full', 'The disk of the gateway is almost full: files and sources of imports are refused. Ask its operator for room.') // prettier-ignore

/** A disk that is full, or of no use. */
export const notStored = (error: unknown): Problem =>
  problem('files.failed', `The file cannot be stored (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`, {
    fields: [['Retry-After', '60']],
  })

/** True where it is one of a disk, which the system names by a code. */
export const isOfDisk = (error: unknown): boolean =>
  typeof (error as NodeJS.ErrnoException).code === 'string' && (error as NodeJS.ErrnoException).syscall !== undefined

/** A renamed file is durable once its folder is. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const opened = await open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
