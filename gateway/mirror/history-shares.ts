// Limits on what each agent and each network may add to the history: per day, and of the room left on its disk. One
// writer, under however many names, must not stop the writes of all others. Uploads have the same limits
// (features/files/read-upload.ts).
import { statfs } from 'node:fs/promises'
import type { Asker } from '../evaluation/job-queue.js'
import { roomOf } from '../files/arriving.js'
import { makeSharedDaily } from '../places.js'
import { problem, type Problem } from '../problem.js'

/** The writer: the agent of the write, and the client for which the gateway works. */
export interface Adding {
  readonly agent: string | undefined
  readonly asker: Asker
}

export interface HistoryShares {
  /** Call it before this many bytes for this many changes are journalled. Allowed bytes are counted. */
  take(who: Adding, bytes: number, changes: number): Promise<undefined | Problem>
}

interface SharesOptions {
  /** Folders on the disks of journal and repository. */
  readonly folders: readonly string[]
  /** Bytes per day; one agent has a tenth, one network half. */
  readonly daily: number
  /** Owner and secretary have no limits, since they make room. */
  readonly exempt: readonly string[]
  readonly now: () => number
  /** Bytes that may still be written to the disk of a folder. Tests replace it. */
  readonly room?: (folder: string) => Promise<number>
}

/** Bytes of commit, trees and journal for each change. */
const OVERHEAD = 1024
/** The disk is checked again after this many bytes, and after this many ms. */
const [CHECKED_EACH, CHECKED_MS] = [2 ** 24, 5_000]

export function makeHistoryShares({ folders, daily, exempt, now, room = roomIn }: SharesOptions): HistoryShares {
  const own = new Set<string | undefined>(exempt)
  const [share, half] = [Math.ceil(daily / 10), Math.ceil(daily / 2)]
  let [left, written, checked] = [Infinity, Infinity, -Infinity]
  // A writer who has written more today than is left may not take the rest.
  const most = (bytes: number) => () => Math.min(bytes, left - written)
  const take = makeSharedDaily({ each: most(share), network: most(half), all: daily }, now)
  const look = async (): Promise<void> => {
    left = Math.min(...(await Promise.all(folders.map(room))))
    ;[written, checked] = [0, performance.now()]
  }
  return {
    async take({ agent, asker }, content, changes) {
      // A removal makes room.
      if (changes === 0 || own.has(agent)) return undefined
      const bytes = content + changes * OVERHEAD
      if (written + bytes > CHECKED_EACH || performance.now() - checked > CHECKED_MS) await look()
      const network = typeof asker === 'string' ? asker : asker.network
      const wait = take(agent ?? '', network, bytes)
      if (typeof wait === 'number') return left - written < share ? NO_ROOM : tooMuchToday(wait)
      written += bytes
      return undefined
    },
  }
}

const NO_ROOM = problem(
  'history.no-room',
  'The disk of the history is almost full, and your share of it is used up. Ask the operator for more space.',
)

const tooMuchToday = (wait: number): Problem =>
  problem('share.daily', 'Your share of the history is used up for today (--daily-history). Retry tomorrow.', {
    fields: [['Retry-After', String(Math.ceil(wait / 1000))]],
  })

const roomIn = (folder: string): Promise<number> =>
  statfs(folder).then(
    roomOf,
    () =>
      // If the disk cannot be used, the history itself reports it.
      Infinity,
  )
