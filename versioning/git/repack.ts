// Merging the packs of a bare repository: between commits, when they have grown.
import { sizeOfPacks } from './bare-repository.js'
import type { ObjectReader } from './cat-file.js'
import { startGit, watchIdle } from './git.js'

/** Packs are merged when there are so many, */
const PACKS = 64
/**
 * or when they have grown by so many bytes and by a quarter: each commit to a large folder writes the whole list of its
 * files.
 */
const GROWTH = 64 * 1024 * 1024
const GROWTH_SHARE = 1 / 4

export interface Repacking {
  /** Counts a new pack; where merging is due, queues it. */
  packAdded(): Promise<void>
  /** Interrupts a merge that is under way, and starts none any longer. */
  stop(): void
}

interface RepackOptions {
  readonly folder: string
  /** It is restarted, to let go of the packs that were merged. */
  readonly reader: ObjectReader
  /** The queue of the commits: a running fast-import keeps its packs from being merged. */
  readonly inTurn: <R>(task: () => Promise<R>) => Promise<R>
}

export function makeRepacking({ folder, reader, inTurn }: RepackOptions): Repacking {
  /** As the last merge has left them. */
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
        // Many commits wait behind a merge of much.
        await repack(!isLarge).finally(() => (isQueued = false))
        merged = await sizeOfPacks(folder)
      }
      // No caller waits for the merge. One that fails is tried again with later packs.
      inTurn(merge).catch(() => undefined)
    },
    stop() {
      stopped = true
      kill()
    },
  }
}
