// The relay from the journal to the repository: each done change becomes exactly one commit, in order for each
// document. Only this loop commits the journal's changes.
import type { VersionedChange } from '../change.js'
import { type Setback, SetbackError, isFailure } from '../failure.js'
import { blobId } from '../git/fast-import.js'
import type { OperatorLog } from '../history.js'
import type { NewCommit } from '../repository.js'
import { type Branch, type Following, makeFollowing, readBranch, recordCommits } from './catch-up.js'
import type { Journal } from './journal.js'
import {
  type Pausing,
  type RelayPauses,
  type RelayState,
  makePausing,
  pauseAfter,
  relayState,
  resume,
} from './pauses.js'
import type { JournalEntry } from './record.js'
import { type Signal, makeSignal } from './signal.js'
import type { VersionIndex } from './version-index.js'
import { setImmediate as breathe } from 'node:timers/promises'

interface CommitTurns {
  readonly journal: Journal
  readonly log: OperatorLog
  /** The most changes that the repository commits at once. */
  readonly batch: number
  /** The most changes of the next batch: fewer after a failure, since a smaller batch may succeed. */
  most: number
  /** Documents whose own changes cannot be committed, with the reason. */
  readonly blocked: Map<string, string>
  /** Documents whose changes were denied at the last attempt. */
  readonly denied: Set<string>
  /** The number of next changes to commit one by one, since one of them is unfit. */
  singly: number
}

export const makeCommitTurns = (options: Pick<CommitTurns, 'journal' | 'log' | 'batch'>): CommitTurns => ({
  ...options,
  most: options.batch,
  blocked: new Map(),
  denied: new Set(),
  singly: 0,
})

/** The changes to commit next; those of denied documents only if there are no others. */
function nextInTurn(turns: CommitTurns): readonly JournalEntry[] {
  const { journal, denied, singly } = turns
  const most = singly > 0 ? 1 : turns.most
  const entries = journal.ready(most, mustWait(turns))
  if (entries.length > 0 || denied.size === 0) return entries
  denied.clear()
  return journal.ready(most, mustWait(turns))
}

/** Gives a change of another document after a denial: a rule of the branch may refuse only this document. */
function anotherInTurn(turns: CommitTurns, document: string): JournalEntry | undefined {
  turns.denied.add(document)
  return turns.journal.ready(1, mustWait(turns))[0]
}

export function learn(turns: CommitTurns, tried: number, hasFailed: boolean): void {
  turns.most = hasFailed ? Math.max(1, Math.floor(tried / 2)) : Math.min(turns.batch, Math.max(turns.most, 2 * tried))
}

/** Commits no further changes of the document. */
function block(turns: CommitTurns, document: string, reason: string): undefined {
  turns.blocked.set(document, reason)
  turns.singly = 0
  turns.log.error({ document, reason }, 'A change of a document cannot be committed; its later changes wait.')
}

const mustWait =
  ({ blocked, denied }: CommitTurns) =>
  (document: string): boolean =>
    blocked.has(document) || denied.has(document)

export interface Relay {
  /** Sent whenever commits were made or read, or could not be. */
  readonly progress: Signal
  /** Documents whose own changes cannot be committed, with the reason. */
  readonly blocked: ReadonlyMap<string, string>
  /** Call it when changes are done. */
  wake(): void
  /** Call it when the branch may have commits that the index lacks. */
  refresh(): void
  /** True if the index has every commit that is known to be on the branch. */
  isCurrent(): boolean
  /** Commits without gathering changes until `wait` resolves. */
  hurry<T>(wait: Promise<T>): Promise<T>
  state(): RelayState
  stop(patience: number): Promise<void>
}

/** Changes are gathered for this many times the duration of the last commits, to leave time for requests. */
const GATHER_FACTOR = 4
const LONGEST_GATHER_MS = 1000
/** If commits took longer (ms), the machine is so busy that a process with a low priority hardly gets any time. */
const LONG_MS = 10_000

interface Relaying {
  readonly branch: Branch
  readonly following: Following
  readonly turns: CommitTurns
  readonly pausing: Pausing
  /** Sent when changes are done, or the branch has moved. */
  readonly arrival: Signal
  /** Sent when a caller waits for commits. */
  readonly haste: Signal
  stopped: boolean
  /** Callers that wait for commits. */
  hurrying: number
  /** How long the last commits took, ms. */
  effort: number
}

export function startRelay(branch: Branch, now: () => number, pauses: RelayPauses): Relay {
  const { repository, journal, log } = branch
  const [progress, arrival, haste, ending] = [makeSignal(), makeSignal(), makeSignal(), makeSignal()]
  const following = makeFollowing(branch)
  const turns = makeCommitTurns({ journal, log, batch: repository.batch })
  const pausing = makePausing({ pauses, now, repository: repository.name, log, progress, ending })
  const relaying: Relaying = {
    ...{ branch, following, turns, pausing, arrival, haste },
    ...{ stopped: false, hurrying: 0, effort: 0 },
  }
  const running = (async () => {
    while (!relaying.stopped) await step(relaying)
  })()

  return {
    progress,
    blocked: turns.blocked,
    wake: () => arrival.send(),
    refresh() {
      following.behind = true
      following.refreshes++
      arrival.send()
    },
    isCurrent: () => !following.behind,
    async hurry(wait) {
      relaying.hurrying++
      haste.send()
      return wait.finally(() => relaying.hurrying--)
    },
    state: () => ({ ...relayState(pausing), ...(relaying.stopped && { resumesAt: Infinity }) }),
    async stop(patience) {
      relaying.stopped = true
      for (const signal of [arrival, haste, ending]) signal.send()
      const over = makeSignal()
      void running.then(over.send)
      await over.received(patience)
      progress.send()
    },
  }
}

async function step(relaying: Relaying): Promise<void> {
  const { branch, following, turns, pausing, haste } = relaying
  const isFew = branch.journal.doneCount() < branch.repository.batch
  const gathers = !following.behind && relaying.hurrying === 0 && turns.singly === 0 && isFew
  const gather = Math.min(LONGEST_GATHER_MS, Math.max(pausing.pauses.gather, GATHER_FACTOR * relaying.effort))
  if (gathers && (await haste.received(gather)) && relaying.stopped) return
  const act = following.behind ? readBranch(following, () => !relaying.stopped) : commitSome(relaying)
  const failed = await act.catch((error: unknown) => unexpected(following, error))
  if (relaying.stopped) return
  if (failed) await pauseAfter(pausing, failed)
  else resume(pausing)
  await breathe()
}

/** A bug must not end the loop, or no change would be committed any more. Read the branch: it shows how far it got. */
function unexpected(following: Following, error: unknown): Setback {
  following.behind = true
  if (error instanceof SetbackError) return error.setback
  return { failure: 'in-doubt', detail: `Unexpected: ${(error as Error).stack ?? String(error)}` }
}

async function commitSome(relaying: Relaying): Promise<undefined | Setback> {
  const entries = nextInTurn(relaying.turns)
  if (entries.length === 0) {
    await relaying.arrival.received()
    return undefined
  }
  const outcome = await commitThese(relaying, entries)
  if (outcome?.failure !== 'denied' || entries.length > 1) return outcome
  const other = anotherInTurn(relaying.turns, entries[0]!.document)
  return other ? commitThese(relaying, [other]) : outcome
}

async function commitThese(relaying: Relaying, entries: readonly JournalEntry[]): Promise<undefined | Setback> {
  const { following, turns } = relaying
  const { repository, journal, index } = relaying.branch
  turns.singly = Math.max(0, turns.singly - 1)
  const began = performance.now()
  const changes = await journal.changesOf(entries)
  const lost = entries.find(({ id }, i) => changes[i]?.id !== id)
  if (lost) return block(turns, lost.document, 'Its content is missing from the journal, which was damaged.')
  // Slow commits run at normal priority: they are as urgent as new requests.
  const isSlow = relaying.effort > LONG_MS || turns.most < turns.batch
  const presses = relaying.hurrying > 0 || journal.isHalfFull() || isSlow
  const outcome = await repository.commit(await onTheirFiles(index, changes), presses)
  const committed = isFailure(outcome) ? outcome.done : outcome
  const failed = committed.length > 0 ? await recordCommits(following, changes, committed) : undefined
  relaying.effort = performance.now() - began
  if (failed) return failed
  if (!isFailure(outcome) || outcome.failure === 'failed') learn(turns, changes.length, isFailure(outcome))
  if (!isFailure(outcome)) {
    return committed.length > 0 ? undefined : { failure: 'failed', detail: `${repository.name} committed nothing.` }
  }
  if (outcome.failure === 'in-doubt' || outcome.failure === 'conflict') following.behind = true
  if (outcome.failure !== 'unfit') return outcome
  if (changes.length === 1) return block(turns, changes[0]!.document, outcome.detail)
  turns.singly = changes.length
  return undefined
}

/** Adds the blob that each change replaces: the content of an earlier change, or the file at the head. */
async function onTheirFiles(index: VersionIndex, changes: readonly VersionedChange[]): Promise<readonly NewCommit[]> {
  const atHead = await index.blobsOf(changes.map(({ path }) => path))
  const blobs = new Map(changes.map(({ path }, i) => [path, atHead[i]]))
  return changes.map((change, i) => {
    const previousBlob = blobs.get(change.path)
    if (changes.some(({ path }, j) => j > i && path === change.path)) {
      blobs.set(change.path, change.content === undefined ? undefined : blobId(change.content))
    }
    return { ...change, previousBlob }
  })
}
