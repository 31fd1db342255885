// Tracks the head of a local branch: reads it again when others have moved it, knows the newest commits by their
// Journal-Id, and repeats an operation on the head until it succeeds.
import { setTimeout as sleep } from 'node:timers/promises'
import { isFailure, orThrow, SetbackError } from '../failure.js'
import type { BranchHead, LoggedCommit } from '../repository.js'
import { recover } from './bare-repository.js'
import type { ObjectReader } from './cat-file.js'
import { readTrailers } from './commit-message.js'
import { importSetback, type ImportFailure } from './fast-import.js'
import { logOf, readHead } from './log.js'

/**
 * The number of newest commits that are known by their Journal-Id, so that a change that has become a commit is not
 * committed again.
 */
const KNOWN = 1000
const ATTEMPTS = 20
const ATTEMPT_PAUSE_MS = 250

export type KnownCommit = Pick<LoggedCommit, 'commit' | 'parent' | 'time'>

export interface TrackedHead {
  /** The newest commits, by their Journal-Id. */
  readonly known: Map<string, KnownCommit>
  /** The writer itself has moved the branch to this commit. */
  moved(commit: string): void
  /**
   * Runs `act` on the head; repeats it if others have moved the head meanwhile, or while the lock of a killed git is in
   * the way. Throws SetbackError.
   */
  act<R extends object>(act: (head: BranchHead | undefined) => Promise<R | ImportFailure>): Promise<R>
}

interface HeadOptions {
  readonly folder: string
  readonly branch: string
  readonly reader: ObjectReader
  readonly now: () => number
}

export function trackHead({ folder, branch, reader, now }: HeadOptions): TrackedHead {
  const known = new Map<string, KnownCommit>()
  let last: string | undefined
  let recovered = false

  /** Reads the head; if others have moved it, also the commits that lead up to it. */
  async function current(): Promise<BranchHead | undefined> {
    const head = orThrow(await readHead(folder, reader, branch))
    for (const id of known.keys()) if (known.size > KNOWN) known.delete(id)
    if (head?.commit === last) return head
    known.clear()
    if (head) {
      for await (const commit of logOf(folder, [head.commit], { newest: KNOWN, files: false })) {
        const { journalId } = readTrailers(commit.message)
        if (journalId !== undefined && !known.has(journalId)) known.set(journalId, commit)
      }
    }
    last = head?.commit
    return head
  }

  return {
    known,
    moved: (commit) => void (last = commit),
    async act<R extends object>(act: (head: BranchHead | undefined) => Promise<R | ImportFailure>): Promise<R> {
      for (let attempt = 1; ; attempt++) {
        if (!recovered) await recover(folder, branch, now())
        const head = await current()
        const outcome = await act(head)
        recovered = !isFailure(outcome)
        if (!isFailure(outcome)) return outcome
        const isMoved = (await current())?.commit !== head?.commit
        const { isLocked } = outcome as ImportFailure
        if (attempt >= ATTEMPTS || !(isMoved || isLocked)) {
          const failed = importSetback(outcome as ImportFailure)
          throw new SetbackError(isMoved ? { ...failed, failure: 'conflict' } : failed)
        }
        if (isLocked) await sleep(ATTEMPT_PAUSE_MS)
      }
    },
  }
}
