// Merging the packs of a bare repository between commits, when there are many or they have grown.
import { sizeOfPacks } from './bare-repository.js'
import type { ObjectReader } from './cat-file.js'
import { startGit, watchIdle } from './git.js'

/** Packs are merged when there are this many more than after the last merge, */
const PACKS = 64
/**
 * or when they have grown by this many bytes and by a quarter: each commit to a large folder writes the whole list of
 * its files.
 */
const GROWTH = 64 * 1024 * 1024
const GROWTH_SHARE = 1 / 4

export interface Repacking {
  /** Counts a new pack, and queues a merge if one is due. */
  packAdded(): Promise<void>
  /** Interrupts a running merge, and starts no more. */
  stop(): void
}

interface RepackOptions {
  readonly folder: string
  /** Restarted after a merge, to close the packs that were merged. */
  readonly reader: ObjectReader
  /** The queue of the commits: packs must not be merged while a fast-import writes one. */
  readonly inTurn: <R>(task: () => Promise<R>) => Promise<R>
}

export function makeRepacking({ folder, reader, inTurn }: RepackOptions): Repacking {
  /** The packs after the last merge. */
  let merged: { readonly count: number; readonly bytes: number } | undefined
  let isQueued = false
  let stopped = false
  let kill = (): void => undefined

  async function repack(yields: boolean): Promise<void> {
    if (stopped) return
    const git = startGit(folder, ['repack', '--geometric=2', '-d', '--write-midx', '--quiet'], yields)
    git.child.stdin.end()
    git.child.stdout.resume()
    const idle = watchIdle(git.child)
    kill = () => git.child.kill('SIGTERM')
    await git.ended
    idle.stop()
    reader.restart()
  }

  return {
    async packAdded() {
      if (isQueued) return
      const packs = await sizeOfPacks(folder)
      merged ??= { count: 0, bytes: packs.bytes }
      const growth = packs.bytes - merged.bytes
      const isLarge = growth > Math.max(GROWTH, GROWTH_SHARE * merged.bytes)
      if (!isLarge && packs.count - merged.count < PACKS) return
      isQueued = true
      const merge = async (): Promise<void> => {
        // A large merge runs at normal priority, since many commits wait for it.
        await repack(!isLarge).finally(() => (isQueued = false))
        merged = await sizeOfPacks(folder)
      }
      // No caller waits for the merge. If it fails, a later pack starts another.
      inTurn(merge).catch(() => undefined)
    },
    stop() {
      stopped = true
      kill()
    },
  }
}
