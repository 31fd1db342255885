// Opening an application's history: journal and version index in one database, and the relay between them
// and the repository.
import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import type { Version } from './change.js'
import { caughtSetback, isFailure, orThrow, type Setback } from './failure.js'
import { documentOfPath, documentPath, graphOfPath, graphPath, LONGEST_PATH } from './git/document-path.js'
import { blobId } from './git/fast-import.js'
import type { WriteBasis, History, HistoryLog, NewChange, OpenEntry, OperatorLog } from './history.js'
import { openDatabase, put, type Database } from './journal/database.js'
import { changedSince, changesSince } from './journal/heads.js'
import { remembering, rememberedExcerpt, type ExcerptOf } from './journal/excerpts.js'
import { openJournal, type Journal, type JournalLimits } from './journal/journal.js'
import type { RelayPauses } from './journal/pauses.js'
import { openNewestContents } from './journal/newest-contents.js'
import { openResumed } from './journal/resumed.js'
import { startRelay, type Relay } from './journal/relay.js'
import { openVersionIndex, type VersionIndex } from './journal/version-index.js'
import { makeWriteLog, type WriteLog } from './log/write-log.js'
import type { Repository } from './repository.js'
import type { Resumed } from './starts.js'

export interface HistoryOptions {
  /** The folder of journal and index: created if absent, and used by one process at a time. */
  readonly folder: string
  /** `newest`: no history, only the newest content of each document, in this folder. */
  readonly repository: Repository | 'newest'
  /** The base URL of the application, with a slash at the end. */
  readonly base: string
  /** Folders in the repository, without slashes at the ends; may be empty. */
  readonly prefix: string
  /**
   * True if the history has graphs with any name, not only documents of this base. Then the names do not show whether
   * the folder belongs to another application.
   */
  readonly takesOthers?: boolean
  /** ms since the epoch. */
  readonly now: () => number
  readonly log: OperatorLog
  readonly limits?: Partial<JournalLimits>
  /** The log of the dataspace. Default: a log of its own. */
  readonly writeLog?: WriteLog
  /** True if these documents are access rules. */
  readonly hasRules?: boolean
  readonly pauses?: Partial<RelayPauses>
  /** The part of a deleted document that `lastExcerpt` gives. Default: all of it, read from the repository. */
  readonly excerptOf?: ExcerptOf
}

const LIMITS: JournalLimits = { entries: 200_000, bytes: 2 ** 30 }
const PAUSES: RelayPauses = { shortest: 1000, longest: 60_000, parked: 60_000, gather: 50 }
const STOP_MS = 2000

interface HistoryParts {
  readonly database: Database
  readonly excerptOf: ExcerptOf | undefined
  readonly journal: Journal
  readonly index: VersionIndex
  readonly resumed: Resumed
  readonly relay: Relay
  readonly repository: Repository
  /** The file of a document. */
  readonly pathOf: (document: string) => string
  readonly log: HistoryLog
  readonly close: () => Promise<void>
}

/** A Setback if the folder cannot be used. An unusable repository shows in `status`: changes wait for it. */
export async function openHistory(options: HistoryOptions): Promise<History | Setback> {
  const { folder, base, prefix, takesOthers, now, log, hasRules = false, excerptOf } = options
  const database = await openDatabase(folder, log)
  if (isFailure(database)) return database
  const pathOf = (document: string): string => (takesOthers ? graphPath : documentPath)(document, base, prefix)
  try {
    const onlyNewest = options.repository === 'newest'
    // Named after its real path, as a repository on this disk: an operator's command may spell the folder otherwise.
    const repository =
      options.repository === 'newest' ? await openNewestContents(database, await realpath(folder)) : options.repository
    const limits = { ...LIMITS, ...options.limits }
    const iri = await logIriOf(database)
    const { writeLog = makeWriteLog(iri) } = options
    const journal = await openJournal({ database, pathOf, now, limits, writeLog, hasRules, excerptOf })
    const subject = JSON.stringify([1, onlyNewest ? 'newest' : repository.name, base, prefix])
    const index = await openVersionIndex(database, { subject, now, onlyNewest })
    const isDocument = (path: string): boolean =>
      (takesOthers ? graphOfPath : documentOfPath)(path, base, prefix) !== undefined
    const pauses = { ...PAUSES, ...options.pauses }
    const resumed = await openResumed(database)
    await tellHead(repository, index, now)
    const relay = startRelay({ repository, journal, index, base, isDocument, log }, now, pauses)
    const close = async (): Promise<void> => {
      await relay.stop(STOP_MS)
      await database.close()
    }
    const own = { database, excerptOf, journal, index, resumed, relay, repository, pathOf, close }
    return historyOf({ ...own, log: await historyLogOf(database, { iri, writeLog, journal }) })
  } catch (error) {
    await database.close()
    return caughtSetback(error)
  }
}

/** Tells the repository which head it had at the end of the last run, if it has just got it. */
async function tellHead(repository: Repository, index: VersionIndex, now: () => number): Promise<void> {
  const [head, at] = [index.head(), await index.addedAt()]
  // The clock may have been set back since.
  if (head !== undefined && at !== undefined) repository.had?.(head, Math.abs(now() - at))
}

/** The IRI of the log. */
const IRI = 'u'

async function logIriOf(database: Database): Promise<string> {
  const known = await database.get(IRI)
  if (known !== undefined) return known
  const iri = `urn:uuid:${randomUUID()}`
  orThrow((await database.write([put(IRI, iri)], true, 'drop')) ?? iri)
  return iri
}

/** The position when a position was first written into the store. */
const SINCE = 'p'

async function historyLogOf(
  database: Database,
  { iri, writeLog, journal }: { readonly iri: string; readonly writeLog: WriteLog; readonly journal: Journal },
): Promise<HistoryLog> {
  const stored = await database.get(SINCE)
  let since = stored === undefined ? undefined : Number(stored)
  return {
    iri,
    position: journal.position,
    newest: writeLog.position,
    settledPosition: journal.settledPosition,
    keptSince: () => since,
    async keepSince(position) {
      const failed = await database.write([put(SINCE, String(position))], true, 'drop')
      if (!failed) since = position
      return failed
    },
    continueAfter: journal.continueAfter,
    changedSince: (position) => changedSince(database, position).catch(caughtSetback),
    changesSince: (position, documents) => changesSince(database, position, documents).catch(caughtSetback),
  }
}

function historyOf(parts: HistoryParts): History {
  const { journal, index, resumed, relay, repository, pathOf, close } = parts
  return {
    repository,
    resumed,
    begin: (changes, decided) => begin(parts, changes, decided),
    done(entries) {
      journal.done(entries)
      relay.wake()
    },
    undone: async (entries) => {
      const written = journal.undone(entries)
      relay.wake()
      return written
    },
    open: journal.open,
    log: parts.log,
    journalled: journal.documents,
    isJournalled: journal.has,
    async *uncommitted() {
      const last = new Map(journal.allDone().map((entry) => [entry.document, entry]))
      for (const entry of last.values()) yield* await journal.changesOf([entry])
    },
    latest: (document, patience) => latest(parts, document, patience).catch(caughtSetback),
    isLatest: (document, nTriples) => isLatest(parts, document, nTriples).catch(() => undefined),
    async outline(document, patience) {
      const pending = !(await settled(parts, patience, document))
      const outline = await index.outline(pathOf(document)).catch(caughtSetback)
      return isFailure(outline) ? outline : { ...outline, pending }
    },
    numbered: (document, numbers) => index.numbered(pathOf(document), numbers).catch(caughtSetback),
    lastExcerpt: (document, patience) => lastExcerpt(parts, document, patience).catch(caughtSetback),
    async resolve(document, commit, patience, counts = () => true) {
      if (!/^[0-9a-f]{4,40}$/i.test(commit)) return undefined
      const id = commit.toLowerCase()
      const found = await find(parts, document, id, counts).catch(caughtSetback)
      if (found !== undefined || !isPending(parts, document)) return found
      await settled(parts, patience, document)
      return find(parts, document, id, counts).catch(caughtSetback)
    },
    content: (document, version) => contentOf(parts, document, version),
    refresh: relay.refresh,
    status() {
      const { lastError, parked } = relay.state()
      const blocked = Array.from(relay.blocked, ([document, reason]) => ({ document, reason }))
      return { repository: repository.name, ...journal.figures(), lastError, parked, blocked, commits: index.commits() }
    },
    settled: (patience) => settled(parts, patience),
    close,
  }
}

async function begin(
  { journal, pathOf }: HistoryParts,
  changes: readonly NewChange[],
  decided: WriteBasis | undefined,
): Promise<readonly OpenEntry[] | Setback> {
  const unfit = changes.find(({ document }) => Buffer.byteLength(pathOf(document)) > LONGEST_PATH)
  if (!unfit) return journal.begin(changes, decided)
  const detail = `The URL of the document is too long for the repository of its history: ${unfit.document.slice(0, 200)}…`
  return { failure: 'unfit', detail }
}

const isPending = ({ journal, relay }: HistoryParts, document?: string): boolean =>
  !relay.isCurrent() || journal.doneCount(document) > 0

/** True if nothing is pending. Returns at once if nothing can happen within `patience`. */
async function settled(parts: HistoryParts, patience: number, document?: string): Promise<boolean> {
  const { relay } = parts
  const until = performance.now() + patience
  const isHopeless = (): boolean => {
    const { parked, resumesAt } = relay.state()
    return parked !== undefined || resumesAt > until || (document !== undefined && relay.blocked.has(document))
  }
  while (isPending(parts, document) && !isHopeless()) {
    const left = until - performance.now()
    if (left <= 0 || !(await relay.hurry(relay.progress.received(left)))) break
  }
  return !isPending(parts, document)
}

async function find(
  { index, pathOf }: HistoryParts,
  document: string,
  commit: string,
  counts: (version: Version) => boolean,
): Promise<Version | undefined | 'ambiguous'> {
  const path = pathOf(document)
  if (commit.length === 40) {
    const position = await index.positionOf(commit)
    const version = position === undefined ? undefined : await index.asOf(path, position)
    return version && counts(version) ? version : undefined
  }
  let own: Version | undefined
  for await (const position of index.positionsOf(commit)) {
    const version = await index.asOf(path, position)
    if (version?.position !== position || !counts(version)) continue
    if (own) return 'ambiguous'
    own = version
  }
  return own
}

async function latest(parts: HistoryParts, document: string, patience: number): Promise<string | undefined | Setback> {
  const { journal, index, relay, repository, pathOf } = parts
  const entry = journal.newest(document)
  const [change] = entry ? await journal.changesOf([entry]) : []
  if (change) return change.content
  if (!relay.isCurrent()) await settled(parts, patience, document)
  if (!relay.isCurrent()) {
    const detail = relay.state().lastError ?? `${repository.name} has not been read yet.`
    return { failure: 'unreachable', detail }
  }
  const [blob] = await index.blobsOf([pathOf(document)])
  return contentOf(parts, document, { commit: index.head()!, blob })
}

async function lastExcerpt(
  parts: HistoryParts,
  document: string,
  patience: number,
): Promise<{ excerpt: string | undefined; pending: boolean } | Setback> {
  const { database, excerptOf, journal, index, pathOf } = parts
  const newest = journal.newest(document)
  // The document was just deleted: the change stored its excerpt, so there is nothing to wait for.
  const atHand = newest && newest.size === undefined && journal.open(document).length === 0
  const fresh = atHand ? await rememberedExcerpt(database, document, undefined) : undefined
  if (fresh !== undefined) return { excerpt: fresh, pending: false }
  const pending = !(await settled(parts, patience, document))
  const last = await index.lastContent(pathOf(document))
  if (pending || last?.blob === undefined) return { excerpt: undefined, pending }
  const known = await rememberedExcerpt(database, document, last.blob)
  if (known !== undefined) return { excerpt: known, pending }
  const content = await contentOf(parts, document, last)
  if (content === undefined || isFailure(content)) return content ?? { excerpt: undefined, pending }
  const excerpt = excerptOf ? excerptOf(document, content) : content
  if (excerptOf) await database.write([remembering(document, last.blob, excerpt)], false, 'drop')
  return { excerpt, pending }
}

/** How long a write waits for the branch to be read. */
const READ_MS = 3_000

async function isLatest(
  parts: HistoryParts,
  document: string,
  nTriples: string | undefined,
): Promise<boolean | undefined> {
  const { journal, index, relay, pathOf } = parts
  const entry = journal.newest(document)
  const [change] = entry ? await journal.changesOf([entry]) : []
  if (change) return change.content === nTriples
  if (!relay.isCurrent() && relay.state().lastError === undefined) await settled(parts, READ_MS, document)
  if (!relay.isCurrent()) return undefined
  const [blob] = await index.blobsOf([pathOf(document)])
  return blob === (nTriples === undefined ? undefined : blobId(nTriples))
}

async function contentOf(
  { repository, pathOf }: HistoryParts,
  document: string,
  { commit, blob }: Pick<Version, 'commit' | 'blob'>,
): Promise<string | undefined | Setback> {
  if (blob === undefined) return undefined
  const content = await repository.read({ commit, path: pathOf(document), blob })
  const detail = `${repository.name} has lost ${pathOf(document)} at commit ${commit}.`
  return content ?? { failure: 'failed', detail }
}
