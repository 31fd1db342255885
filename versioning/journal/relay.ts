// In charge of the way from the journal to the repository: each change that is done becomes one commit, once, and those of
// a document in their order. One loop, the only one that commits the journal's changes.
import { setImmediate as breathe } from 'node:timers/promises'
import { makeBell, type Bell } from './bell.js'
import { addTo, catchUp, indexedCommit, setbackOf, type Branch } from './catch-up.js'
import { isSetback, type Change, type Setback } from '../change.js'
import { commitMessage, readTrailers } from '../git/commit-message.js'
import { blobId } from '../git/fast-import.js'
import type { Entry } from './record.js'
import type { Committed, NewCommit } from '../repository.js'

/** All in ms. */
export interface RelayPauses {
  /** The first pause after a setback; each further one is twice as long, up to `longest`. */
  readonly shortest: number
  readonly longest: number
  /** Between attempts while somebody has to do something first. */
  readonly parked: number
  /** For which changes are gathered at least, to be committed together, unless somebody waits for them. */
  readonly gather: number
}

export interface Relay {
  /** Rings whenever commits were made or read, or could not be. */
  readonly progress: Bell
  /** Documents whose own changes cannot be committed, with the reason. */
  readonly blocked: ReadonlyMap<string, string>
  /** Something is done. */
  wake(): void
  /** There may be commits on the branch that the index does not know. */
  refresh(): void
  /** Whether the index knows all that is known to be on the branch. */
  isCurrent(): boolean
  /** Gathers nothing while `wait` is under way. */
  hurry<T>(wait: Promise<T>): Promise<T>
  /** `resumesAt`: as `performance.now()` has it; nothing is attempted before. */
  state(): { readonly lastError: string | undefined; readonly parked: string | undefined; readonly resumesAt: number }
  stop(patience: number): Promise<void>
}

const LONGEST_LIMIT_MS = 3_600_000
/** Changes are gathered for so many times as long as the last commits took: it is requests that the machine is there for. */
const GATHER_FACTOR = 4
const LONGEST_GATHER_MS = 1000
/** So many changes wait that committing them is as urgent as making more. */
const PRESSING = 10_000
/** Attempts to find on the branch what was committed to it: some repositories show it late. */
const LATE = 6

export function startRelay(branch: Branch, now: () => number, pauses: RelayPauses): Relay {
  const { repository, journal, index, log } = branch
  const [progress, arrival, haste, ending] = [makeBell(), makeBell(), makeBell(), makeBell()]
  const blocked = new Map<string, string>()
  /** Documents whose changes were denied when they were tried last. */
  const denied = new Set<string>()
  let stopped = false
  let hurrying = 0
  let behind = true
  let refreshes = 0
  /** Commits of ours that are to be found on the branch, and how often they were not. */
  let landed: readonly Committed[] = []
  let late = 0
  /** So many changes are committed one by one: one of them is unfit. */
  let singly = 0
  /** What the last commits took, ms. */
  let effort = 0
  let failures = 0
  let setback: Setback | undefined
  let resumesAt = 0

  async function readBranch(): Promise<undefined | Setback> {
    const asked = refreshes
    const failed = await catchUp(branch, () => !stopped)
    if (failed) return failed
    const last = landed.at(-1)
    const isShown = last === undefined || (await index.positionOf(last.commit)) !== undefined
    if (!isShown && ++late < LATE) {
      return { setback: 'unreachable', detail: `${repository.name} does not show commit ${last.commit} yet.` }
    }
    // What had become a commit long ago, and is none of those that were new.
    const ids = isShown ? landed.map(({ id }) => id).filter((id) => journal.pathOf(id) !== undefined) : []
    const unremoved = ids.length > 0 ? await addTo(index, journal, [], ids) : undefined
    if (unremoved) return unremoved
    landed = []
    late = 0
    behind = asked !== refreshes
    return undefined
  }

  async function commitSome(): Promise<undefined | Setback> {
    const entries = inTurn()
    if (entries.length === 0) {
      await arrival.heard()
      return undefined
    }
    const outcome = await commitThese(entries)
    if (outcome?.setback !== 'denied' || entries.length > 1) return outcome
    // A rule may refuse this document only: another is tried before all of them wait.
    denied.add(entries[0]!.document)
    const [other] = journal.ready(1, isPassedOver)
    return other ? commitThese([other]) : outcome
  }

  const isPassedOver = (document: string): boolean => blocked.has(document) || denied.has(document)

  /** Those whose document was denied come when there are no others. */
  function inTurn(): readonly Entry[] {
    const most = singly > 0 ? 1 : repository.batch
    const entries = journal.ready(most, isPassedOver)
    if (entries.length > 0 || denied.size === 0) return entries
    denied.clear()
    return journal.ready(most, isPassedOver)
  }

  async function commitThese(entries: readonly Entry[]): Promise<undefined | Setback> {
    singly = Math.max(0, singly - 1)
    const began = performance.now()
    const changes = await journal.changesOf(entries)
    const lost = entries.find(({ id }, i) => changes[i]?.id !== id)
    if (lost) return block(lost.document, 'Its content is missing from the journal, which was damaged.')
    const presses = hurrying > 0 || journal.doneCount() > PRESSING
    const outcome = await repository.commit(await onTheirFiles(changes), presses)
    const committed = isSetback(outcome) ? outcome.done : outcome
    const failed = committed.length > 0 ? await record(changes, committed) : undefined
    effort = performance.now() - began
    if (failed) return failed
    if (!isSetback(outcome)) {
      return committed.length > 0 ? undefined : { setback: 'failed', detail: `${repository.name} committed nothing.` }
    }
    if (outcome.setback === 'in-doubt' || outcome.setback === 'conflict') behind = true
    if (outcome.setback !== 'unfit') return outcome
    if (changes.length === 1) return block(changes[0]!.document, outcome.detail)
    singly = changes.length
    return undefined
  }

  /** The file that each is to replace is that of the change before it, or the one at the head. */
  async function onTheirFiles(changes: readonly Change[]): Promise<readonly NewCommit[]> {
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

  async function record(changes: readonly Change[], committed: readonly Committed[]): Promise<undefined | Setback> {
    const parents = [index.head(), ...committed.map(({ commit }) => commit)]
    const follows = committed.every(({ parent }, i) => parent === parents[i])
    const byId = new Map(changes.map((change) => [change.id, change]))
    const commits = committed.map(({ id, commit, time, blob }) => {
      const change = byId.get(id)!
      return indexedCommit({ commit, time, files: [{ path: change.path, blob }] }, readTrailers(commitMessage(change)))
    })
    const ids = committed.map(({ id }) => id)
    const failed = follows ? await addTo(index, journal, commits, ids) : undefined
    if (!follows || failed) {
      behind = true
      landed = committed
    }
    return failed
  }

  function block(document: string, reason: string): undefined {
    blocked.set(document, reason)
    singly = 0
    log.error({ document, reason }, 'A change of a document cannot be committed; its later ones wait.')
  }

  function pauseAfter({ setback, retryAt }: Setback): number {
    if (setback === 'denied' || setback === 'missing') return pauses.parked
    const backoff = Math.min(pauses.longest, pauses.shortest * 2 ** Math.min(failures, 30)) * (0.75 + Math.random() / 2)
    if (setback !== 'limited' || retryAt === undefined) return backoff
    return Math.min(Math.max(retryAt - now(), pauses.shortest), LONGEST_LIMIT_MS)
  }

  async function rest(after: Setback): Promise<void> {
    const pause = Math.round(pauseAfter(after))
    if (setback?.detail !== after.detail) {
      const level = isParked(after) ? 'error' : 'warn'
      log[level]({ repository: repository.name, setback: after.setback, retryInMs: pause }, after.detail)
    }
    failures++
    setback = after
    resumesAt = performance.now() + pause
    progress.ring()
    await ending.heard(pause)
  }

  function recover(): void {
    if (setback) log.info({ repository: repository.name }, 'Changes are committed again.')
    failures = 0
    setback = undefined
    resumesAt = 0
    progress.ring()
  }

  async function step(): Promise<void> {
    const gathers = !behind && hurrying === 0 && singly === 0 && journal.doneCount() < repository.batch
    const gather = Math.min(LONGEST_GATHER_MS, Math.max(pauses.gather, GATHER_FACTOR * effort))
    if (gathers && (await haste.heard(gather)) && stopped) return
    const failed = await (behind ? readBranch() : commitSome()).catch(unexpected)
    if (stopped) return
    if (failed) await rest(failed)
    else recover()
    await breathe()
  }

  /** A bug must not end the loop: nothing would be committed any more. What it has done is looked up. */
  function unexpected(error: unknown): Setback {
    behind = true
    try {
      return setbackOf(error)
    } catch {
      return { setback: 'in-doubt', detail: `Unexpected: ${(error as Error).stack ?? String(error)}` }
    }
  }

  const running = (async () => {
    while (!stopped) await step()
  })()

  return {
    progress,
    blocked,
    wake: () => arrival.ring(),
    refresh() {
      behind = true
      refreshes++
      arrival.ring()
    },
    isCurrent: () => !behind,
    async hurry(wait) {
      hurrying++
      haste.ring()
      return wait.finally(() => hurrying--)
    },
    state: () => ({
      lastError: setback?.detail,
      parked: setback && isParked(setback) ? setback.detail : undefined,
      resumesAt: stopped ? Infinity : resumesAt,
    }),
    async stop(patience) {
      stopped = true
      for (const bell of [arrival, haste, ending]) bell.ring()
      const over = makeBell()
      void running.then(over.ring)
      await over.heard(patience)
      progress.ring()
    },
  }
}

const isParked = ({ setback }: Setback): boolean => setback === 'denied' || setback === 'missing'
