// In charge of merging the packs of a bare repository: between commits, and for a small share of the time.
import { countPacks } from './bare-repository.js'
import type { ObjectReader } from './cat-file.js'
import { startGit, watchIdle } from './git.js'

/**
 * Packs are merged from so many on, as long as that takes a small share of the time; from as many as MANY in any case.
 */
const PACKS = 64
const MANY_PACKS = 200
const REPACK_SHARE = 1 / 20
const REPACK_LIMIT_MS = 1_800_000

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
  let packs: number | undefined
  /** ms, both. */
  let took = 0
  let ended = 0
  let stopped = false
  let kill = (): void => undefined

  async function repack(): Promise<void> {
    if (stopped) return
    const began = performance.now()
    const git = startGit(folder, ['repack', '--geometric=2', '-d', '--write-midx', '--quiet'], true)
    git.child.stdin.end()
    git.child.stdout.resume()
    const idle = watchIdle(git.child, REPACK_LIMIT_MS)
    kill = () => git.child.kill('SIGTERM')
    await git.ended
    idle.stop()
    reader.restart()
    ended = performance.now()
    took = ended - began
  }

  return {
    async packAdded() {
      packs = packs === undefined ? await countPacks(folder) : packs + 1
      const isDue = packs >= PACKS && took <= REPACK_SHARE * (performance.now() - ended)
      if (!isDue && packs < MANY_PACKS) return
      packs = 0
      // No caller waits for the merge. One that fails is tried again with later packs.
      inTurn(repack).catch(() => undefined)
    },
    stop() {
      stopped = true
      kill()
    },
  }
}
