// A history for tests: on a real bare repository that can be made to fail in every way.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { isFailure, SetbackError, type Setback } from '../../versioning/failure.js'
import { dumpIndex } from '../../versioning/journal/version-index.js'
import { openDatabase } from '../../versioning/journal/database.js'
import type { History, OperatorLog, NewChange, OpenEntry } from '../../versioning/history.js'
import { openLocalRepository } from '../../versioning/git/local-repository.js'
import { openHistory, type HistoryOptions } from '../../versioning/open-history.js'
import type { Committed, NewCommit, Repository } from '../../versioning/repository.js'
import { temporaryFolder } from '../support/bare-repository.js'
import { BASE, succeeded } from './repository-contract.js'

export const PREFIX = 'graphs'
/** A git with low priority is slow on a busy machine. */
export const SOON = 60_000
const PATIENCE = SOON
export const NO_LOG: OperatorLog = { info: () => undefined, warn: () => undefined, error: () => undefined }
export const QUICK = { shortest: 1, longest: 4, parked: 5, gather: 0 }

/** A fault of one call of `commit`. */
export type Fault =
  | { readonly kind: 'before'; readonly setback: Setback }
  /** All changes are committed, but the answer is lost. */
  | { readonly kind: 'after'; readonly setback: Setback }
  /** Only the first change is committed and reported. */
  | { readonly kind: 'partly'; readonly setback: Setback }
  /** Only the first change is committed, without a setback. */
  | { readonly kind: 'short' }
  | { readonly kind: 'throws' }
  /** Others commit first. */
  | { readonly kind: 'overtaken'; readonly by: () => void }
  | { readonly kind: 'none' }

export interface Faulty extends Repository {
  /** For the next calls of `commit`, in order; then it works. */
  readonly faults: Fault[]
  /** For the next readings of the log: a Setback, or the number of commits after which it stops. */
  readonly logFaults: (Setback | number)[]
  /** Documents whose changes are always refused. */
  readonly unfit: Set<string>
  /** Ids of changes that were passed to `commit` although they were on the branch. */
  readonly sentAgain: string[]
  /** While set, no commit is made. */
  down: Setback | undefined
}

export function faulty(real: Repository, batch = real.batch): Faulty {
  const faults: Fault[] = []
  const logFaults: (Setback | number)[] = []
  const unfit = new Set<string>()
  const sentAgain: string[] = []
  const onBranch = new Set<string>()

  async function fit(changes: readonly NewCommit[]): ReturnType<Repository['commit']> {
    const outcome = await unlessUnfit(changes)
    for (const { id } of isFailure(outcome) ? outcome.done : outcome) onBranch.add(id)
    return outcome
  }

  async function unlessUnfit(changes: readonly NewCommit[]): ReturnType<Repository['commit']> {
    const bad = changes.findIndex(({ document }) => unfit.has(document))
    if (bad === -1) return real.commit(changes)
    const done = bad === 0 ? [] : await real.commit(changes.slice(0, bad))
    return isFailure(done) ? done : { failure: 'unfit', detail: 'Too large for this repository.', done }
  }

  async function commit(changes: readonly NewCommit[]): ReturnType<Repository['commit']> {
    sentAgain.push(...changes.flatMap(({ id }) => (onBranch.has(id) ? [id] : [])))
    if (faultyRepository.down) return { ...faultyRepository.down, done: [] }
    const fault = faults.shift() ?? { kind: 'none' }
    switch (fault.kind) {
      case 'before':
        return { ...fault.setback, done: [] }
      case 'after':
        await fit(changes)
        return { ...fault.setback, done: [] }
      case 'partly':
        return { ...fault.setback, done: (await fit(changes.slice(0, 1))) as readonly Committed[] }
      case 'short':
        return fit(changes.slice(0, 1))
      case 'throws':
        await fit(changes)
        throw new Error('a bug')
      case 'overtaken':
        fault.by()
        return fit(changes)
      case 'none':
        return fit(changes)
    }
  }

  const faultyRepository: Faulty = {
    ...real,
    batch,
    faults,
    logFaults,
    unfit,
    sentAgain,
    down: undefined,
    commit,
    async *log(from) {
      const fault = logFaults.shift()
      if (isFailure(fault)) throw new SetbackError(fault)
      let left = fault ?? Infinity
      for await (const logged of real.log(from)) {
        if (left-- <= 0) return
        yield logged
      }
    },
  }
  return faultyRepository
}

export interface HistoryWorld {
  history: History
  readonly repository: Faulty
  /** The folders of the bare repository and of the journal. */
  readonly bare: string
  readonly journal: string
  readonly clock: { now: number }
  readonly lines: string[]
  /** Closes the history and opens it again on the same folder. */
  restart(options?: Partial<HistoryOptions>): Promise<void>
  /** Waits until all changes are committed, including all pauses between attempts. */
  settled(): Promise<boolean>
  /** A write that the store has done. */
  write(document: string, content: string | undefined, more?: Partial<NewChange>): Promise<readonly OpenEntry[]>
  /** The index of the closed history, and one that is built from the repository. */
  indexAndRebuilt(): Promise<{ index: readonly string[]; rebuilt: readonly string[] }>
}

export const TIME = Date.UTC(2026, 10, 20, 12)

export async function historyWorld(
  t: Test,
  options: Partial<HistoryOptions> & { readonly batch?: number } = {},
): Promise<HistoryWorld> {
  const folder = temporaryFolder(t)
  const [bare, journal] = [join(folder, 'repository.git'), join(folder, 'journal')]
  const clock = { now: TIME }
  const now = (): number => clock.now
  const local = { folder: bare, branch: 'main', pathPrefix: PREFIX, now }
  const repository = faulty(succeeded(await openLocalRepository(local)), options.batch)
  const lines: string[] = []
  const line = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log: OperatorLog = { info: line, warn: line, error: line }
  const contents = new Map<string, string | undefined>()
  const open = async (folder: string, more: Partial<HistoryOptions> = {}): Promise<History> =>
    succeeded(
      await openHistory({
        ...{ folder, repository, base: BASE, prefix: PREFIX, now: () => Date.now(), log, pauses: QUICK },
        ...options,
        ...more,
      }),
    )
  const dump = async (folder: string): Promise<readonly string[]> => {
    const database = succeeded(await openDatabase(folder, NO_LOG))
    const lines = await dumpIndex(database)
    await database.close()
    return lines
  }

  const world: HistoryWorld = {
    history: await open(journal),
    repository,
    bare,
    journal,
    clock,
    lines,
    async restart(more) {
      await world.history.close()
      world.history = await open(journal, more)
    },
    async settled() {
      for (const until = performance.now() + PATIENCE; performance.now() < until; await sleep(5)) {
        if (await world.history.settled(SOON)) return true
      }
      return false
    },
    async write(document, content, more = {}) {
      const method = content === undefined ? 'DELETE' : 'PUT'
      const change = { document, content, method, agent: undefined, time: clock.now, before: contents.get(document) }
      const entries = succeeded(await world.history.begin([{ ...change, ...more }]))
      contents.set(document, content)
      world.history.done(entries)
      return entries
    },
    async indexAndRebuilt() {
      await world.history.close()
      repository.logFaults.length = 0
      const other = join(folder, 'rebuilt')
      const rebuilding = await open(other)
      await rebuilding.settled(SOON)
      await rebuilding.close()
      const dumps = { index: await dump(journal), rebuilt: await dump(other) }
      world.history = await open(journal)
      return dumps
    },
  }
  t.teardown(async () => {
    await world.history.close()
    await repository.close()
  })
  return world
}
