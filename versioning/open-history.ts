// In charge of opening an application's history: journal and version index in one database, and the relay between them
// and the repository.
import { isSetback, type Setback, type Version } from './change.js'
import { setbackOf } from './journal/catch-up.js'
import { openDatabase } from './journal/database.js'
import { documentOfPath, documentPath, LONGEST_PATH } from './git/document-path.js'
import { blobId } from './git/fast-import.js'
import type { History, Log } from './history.js'
import { openJournal, type Journal, type JournalLimits } from './journal/journal.js'
import { startRelay, type Relay, type RelayPauses } from './journal/relay.js'
import type { Repository } from './repository.js'
import { openVersionIndex, type VersionIndex } from './journal/version-index.js'

export interface HistoryOptions {
  /** Of journal and index: made where there is none, and held by one process at a time. */
  readonly folder: string
  readonly repository: Repository
  /** Of the application, with its slash. */
  readonly base: string
  /** Folders in the repository, without slashes at the ends; may be empty. */
  readonly prefix: string
  /** ms since the epoch. */
  readonly now: () => number
  readonly log: Log
  readonly limits?: Partial<JournalLimits>
  /**
   * Whether what is done is on the disk when `done` resolves. Without it a crash may leave the last change of a document
   * open, to be held against the store again.
   */
  readonly durableDone?: boolean
  readonly pauses?: Partial<RelayPauses>
}

const LIMITS: JournalLimits = { entries: 100_000, bytes: 2 ** 30 }
const PAUSES: RelayPauses = { shortest: 1000, longest: 60_000, parked: 60_000, gather: 50 }
const STOP_MS = 2000

/** A Setback where the folder cannot be used. Whether the repository can be shows in `status`: what is begun waits for it. */
export async function openHistory(options: HistoryOptions): Promise<History | Setback> {
  const { folder, repository, base, prefix, now, log, durableDone = false } = options
  const database = await openDatabase(folder, log)
  if (isSetback(database)) return database
  const pathOf = (document: string): string => documentPath(document, base, prefix)
  try {
    const limits = { ...LIMITS, ...options.limits }
    const journal = await openJournal(database, pathOf, now, limits, durableDone)
    const index = await openVersionIndex(database, JSON.stringify([1, repository.name, base, prefix]))
    const isDocument = (path: string): boolean => documentOfPath(path, base, prefix) !== undefined
    const pauses = { ...PAUSES, ...options.pauses }
    const relay = startRelay({ repository, journal, index, base, isDocument, log }, now, pauses)
    const close = async (): Promise<void> => {
      await relay.stop(STOP_MS)
      await database.close()
    }
    return history(journal, index, relay, repository, pathOf, close)
  } catch (error) {
    await database.close()
    return setbackOf(error)
  }
}

function history(
  journal: Journal,
  index: VersionIndex,
  relay: Relay,
  repository: Repository,
  pathOf: (document: string) => string,
  close: () => Promise<void>,
): History {
  const isPending = (document?: string): boolean => !relay.isCurrent() || journal.doneCount(document) > 0

  /** Whether nothing is pending (any more). Where nothing can happen within `patience`, it says so at once. */
  async function settled(patience: number, document?: string): Promise<boolean> {
    const until = performance.now() + patience
    const isHopeless = (): boolean => {
      const { parked, resumesAt } = relay.state()
      return parked !== undefined || resumesAt > until || (document !== undefined && relay.blocked.has(document))
    }
    while (isPending(document) && !isHopeless()) {
      const left = until - performance.now()
      if (left <= 0 || !(await relay.hurry(relay.progress.heard(left)))) break
    }
    return !isPending(document)
  }

  async function find(document: string, commit: string): Promise<Version | undefined | 'ambiguous'> {
    const versions = await index.versions(pathOf(document))
    const [own, another] = versions.filter((version) => version.commit.startsWith(commit))
    if (own) return another ? 'ambiguous' : own
    const position = commit.length === 40 ? await index.positionOf(commit) : undefined
    return position === undefined ? undefined : versions.findLast((version) => version.position <= position)
  }

  async function latest(document: string, patience: number): Promise<string | undefined | Setback> {
    if (!relay.isCurrent()) await settled(patience, document)
    if (!relay.isCurrent()) {
      const detail = relay.state().lastError ?? `${repository.name} has not been read yet.`
      return { setback: 'unreachable', detail }
    }
    const entry = journal.newest(document)
    const [change] = entry ? await journal.changesOf([entry]) : []
    if (change) return change.content
    const [blob] = await index.blobsOf([pathOf(document)])
    return contentOf(document, { commit: index.head()!, blob })
  }

  async function isLatest(document: string, nTriples: string | undefined): Promise<boolean | undefined> {
    const entry = journal.newest(document)
    const [change] = entry ? await journal.changesOf([entry]) : []
    if (change) return change.content === nTriples
    if (!relay.isCurrent()) return undefined
    const [blob] = await index.blobsOf([pathOf(document)])
    return blob === (nTriples === undefined ? undefined : blobId(nTriples))
  }

  async function contentOf(
    document: string,
    { commit, blob }: Pick<Version, 'commit' | 'blob'>,
  ): Promise<string | undefined | Setback> {
    if (blob === undefined) return undefined
    const content = await repository.read({ commit, path: pathOf(document), blob })
    const detail = `${repository.name} has lost ${pathOf(document)} as at commit ${commit}.`
    return content ?? { setback: 'failed', detail }
  }

  return {
    async begin(changes) {
      const unfit = changes.find(({ document }) => Buffer.byteLength(pathOf(document)) > LONGEST_PATH)
      if (!unfit) return journal.begin(changes)
      const detail = `The URL of the document is too long for the repository of its history: ${unfit.document.slice(0, 200)}…`
      return { setback: 'unfit', detail }
    },
    async done(entries) {
      const written = journal.done(entries)
      relay.wake()
      await written
    },
    undone: async (entries) => {
      const written = journal.undone(entries)
      relay.wake()
      await written
    },
    open: journal.open,
    journalled: journal.documents,
    async *uncommitted() {
      const last = new Map(journal.allDone().map((entry) => [entry.document, entry]))
      for (const entry of last.values()) yield* await journal.changesOf([entry])
    },
    latest: (document, patience) => latest(document, patience).catch(setbackOf),
    isLatest: (document, nTriples) => isLatest(document, nTriples).catch(() => undefined),
    async versions(document, patience) {
      const pending = !(await settled(patience, document))
      const versions = await index.versions(pathOf(document)).catch(setbackOf)
      return isSetback(versions) ? versions : { versions, pending }
    },
    async resolve(document, commit, patience) {
      if (!/^[0-9a-f]{4,40}$/i.test(commit)) return undefined
      const id = commit.toLowerCase()
      const found = await find(document, id).catch(setbackOf)
      if (found !== undefined || !isPending(document)) return found
      await settled(patience, document)
      return find(document, id).catch(setbackOf)
    },
    content: contentOf,
    refresh: relay.refresh,
    status() {
      const { lastError, parked } = relay.state()
      const blocked = Array.from(relay.blocked, ([document, reason]) => ({ document, reason }))
      return { repository: repository.name, ...journal.figures(), lastError, parked, blocked, commits: index.commits() }
    },
    settled: (patience) => settled(patience),
    close,
  }
}
