// In charge of changing documents in the store so that the history can answer for every change: journal → store →
// settled (design 6).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Setback } from '../../versioning/failure.js'
import type { Change } from '../../versioning/change.js'
import type { History, NewChange, OpenEntry } from '../../versioning/history.js'
import type { Locks } from '../documents/lock.js'
import { MAX_DOCUMENT } from '../documents/document.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { canonicalNTriples, makeSettlement, stateOf, type Author, type Settlement } from './settlement.js'
import type { SettlementSettings } from './settlement.js'
import type { GraphChange, GraphStore } from '../stores/store.js'

/** A SPARQL update, as it is to be executed. */
export interface Update extends Pick<Change, 'agent' | 'time'> {
  readonly text: string
  /** What it may change, under its locks; undefined: any document, and no other write is under way. */
  readonly documents: readonly string[] | undefined
}

export interface JournalledStore extends Pick<Settlement, 'settle' | 'close'> {
  /** Makes the document what the change says. To be called under its lock, when nothing of it is in doubt. */
  carryOut(change: NewChange): Promise<undefined | Problem>
  /**
   * Each document that it changes becomes a commit of its own.
   * @param others the applications that share the store, with those of their documents that it may change
   */
  update(update: Update, others?: readonly Part[]): Promise<undefined | Problem>
  /** Journals that an update is going to be asked for. To be called with what the store has said to it. */
  prepare(asked: Omit<Update, 'text'>): Promise<((failed: undefined | Problem) => Promise<void>) | Problem>
}

export interface Part extends Pick<Update, 'documents'> {
  readonly journalled: Pick<JournalledStore, 'prepare'>
}

export interface JournalledStoreSettings {
  readonly store: GraphStore
  /** Undefined where the application is not versioned. */
  readonly history: History | undefined
  /** Of the application. */
  readonly base: string
  readonly isDocument: (graph: string) => boolean
  /** Goes with the history. */
  readonly sweep: SettlementSettings['sweep'] | undefined
  readonly locks: Locks
  readonly log: Log
  readonly now: () => number
}

/** How long the answer to an update of any document waits for the history to have all of it. */
const FIND_MS = 2_000

/** The store has not done it, and will not; one that broke off or fell silent may have. Without a journal it is not asked. */
export const isUndone = ({ failure }: Problem): boolean =>
  failure === 'store.unreachable' ||
  failure === 'store.overloaded' ||
  failure === 'store.refused' ||
  failure === 'update.form' ||
  failure === 'history.full' ||
  failure === 'history.failed'

/** The store has said no: nothing of it happens later. Some of an update may have happened before. */
export const isRefused = ({ failure }: Problem): boolean =>
  failure === 'update.syntax' || failure === 'update.failed' || failure === 'store.refused'

export const makeJournalledStore = ({ history, sweep, ...settings }: JournalledStoreSettings): JournalledStore =>
  history && sweep ? journalledStore({ history, sweep, ...settings }) : unversioned(settings.store)

const unversioned = (store: GraphStore): JournalledStore => ({
  carryOut: (change) => apply(store, change),
  update: ({ text, ...asked }, others = []) => updateTogether(store, text, asked, others),
  prepare: () => Promise.resolve(() => Promise.resolve()),
  settle: () => Promise.resolve(undefined),
  close: () => undefined,
})

/** All parts are journalled before the store is asked, and all hear what it has said. */
async function updateTogether(
  store: GraphStore,
  text: string,
  { agent, time }: Omit<Update, 'text' | 'documents'>,
  parts: readonly Part[],
): Promise<undefined | Problem> {
  const prepared: ((failed: undefined | Problem) => Promise<void>)[] = []
  const tell = (failed: undefined | Problem) => Promise.all(prepared.map((part) => part(failed)))
  for (const { journalled, documents } of parts) {
    const part = await journalled.prepare({ documents, agent, time })
    if (isFailure(part)) return tell(NOT_ASKED).then(() => part)
    prepared.push(part)
  }
  const failed = await store.update(text)
  await tell(failed)
  return failed
}

const NOT_ASKED = problem('store.unreachable', 'The store was not asked.')

const apply = (store: GraphStore, { document, content }: NewChange): Promise<undefined | Problem> =>
  content === undefined ? store.remove(document) : store.replace(document, content)

function journalledStore(settings: Required<JournalledStoreSettings> & SettlementSettings): JournalledStore {
  const { store, history, base, isDocument, sweep, log } = settings
  const { doubt, find, found, settle, close } = makeSettlement(settings)

  async function begin(changes: readonly NewChange[]): Promise<readonly OpenEntry[] | Problem> {
    const entries = await history.begin(changes)
    return isFailure(entries) ? problemOf(entries) : entries
  }

  /**
   * A state that came to be behind the gateway, or while versioning was off, is a version of its own before it is changed: it
   * would be nowhere else.
   */
  async function keepBefore({ document, before, time }: NewChange): Promise<void> {
    if ((await history.isLatest(document, before)) !== false) return
    const failed = await sweep.document(document, { method: 'SWEEP', agent: undefined, time })
    if (failed) log.warn({ document, problem: failed.detail }, 'what was there before a write may be no version')
  }

  async function carryOut(change: NewChange): Promise<undefined | Problem> {
    await keepBefore(change)
    const entries = await begin([change])
    if (isFailure(entries)) return entries
    const failed = await apply(store, change)
    if (!failed) await history.done(entries)
    else if (isUndone(failed)) await history.undone(entries)
    else doubt(entries)
    return failed
  }

  const update: JournalledStore['update'] = ({ text, documents, agent, time }, others = []) =>
    store.announces
      ? announced(text, { method: 'UPDATE', agent, time })
      : updateTogether(store, text, { agent, time }, [{ journalled: { prepare }, documents }, ...others])

  const prepare: JournalledStore['prepare'] = ({ documents, agent, time }) => {
    const author = { method: 'UPDATE', agent, time }
    return documents ? prepareOf(documents, author) : prepareAny(author)
  }

  /** What a store announces is journalled before it is in force. */
  async function announced(text: string, author: Author): Promise<undefined | Problem> {
    let entries: readonly OpenEntry[] = []
    const announce = async (graphs: readonly GraphChange[]): Promise<undefined | Problem> => {
      const changes: NewChange[] = []
      for (const [document, nTriples] of graphs) {
        // The store is in memory: what the history does not have would be gone with the process.
        if (!isDocument(document)) return notKept(document, base)
        const before = await stateOf(store, document)
        const content = canonicalNTriples(nTriples)
        if (isFailure(before)) return before
        if (isFailure(content)) return content
        if ((content?.length ?? 0) > MAX_DOCUMENT) return wouldBeTooLarge(document)
        if (content !== before) changes.push({ document, before, content, ...author })
      }
      const begun = await begin(changes)
      if (isFailure(begun)) return begun
      entries = begun
      return undefined
    }
    const failed = await store.update(text, { announce })
    if (failed) await history.undone(entries)
    else await history.done(entries)
    return failed
  }

  /** What became of each of these is read afterwards; that they were asked for is in the journal before. */
  async function prepareOf(documents: readonly string[], author: Author): ReturnType<JournalledStore['prepare']> {
    const asked: NewChange[] = []
    for (const document of documents) {
      const state = (await settle(document)) ?? (await stateOf(store, document))
      const isLarge = isFailure(state) && state.failure === 'store.too-large'
      if (isFailure(state) && !isLarge) return state
      const before = isLarge ? UNREADABLE : (state as string | undefined)
      const change = { document, before, content: undefined, unread: 'document' as const, ...author }
      asked.push(change)
      if (!isLarge) await keepBefore(change)
    }
    const entries = await begin(asked)
    if (isFailure(entries)) return entries
    return async (failed) => {
      if (failed && isUndone(failed)) await history.undone(entries)
      else if ((failed && !isRefused(failed)) || isFailure(await journalChanges(asked, author))) doubt(entries)
      else await history.undone(entries)
    }
  }

  async function journalChanges(asked: readonly NewChange[], author: Author): Promise<undefined | Problem> {
    const changes: NewChange[] = []
    for (const { document, before } of asked) {
      if (before === UNREADABLE) {
        const failed = await sweep.document(document, author)
        if (failed) return failed
        continue
      }
      const content = await stateOf(store, document)
      if (isFailure(content) && content.failure === 'store.too-large') tooLarge(document)
      else if (isFailure(content)) return content
      else if (content !== before) changes.push({ document, before, content, ...author })
    }
    const entries = await begin(changes)
    if (isFailure(entries)) return entries
    await history.done(entries)
    return undefined
  }

  const tooLarge = (document: string): void =>
    log.error({ document }, 'a document has become too large to be read whole: its versions end before that')

  /** All documents are held against the history then: of a small dataset before the answer, of a large one after it. */
  async function prepareAny(author: Author): ReturnType<JournalledStore['prepare']> {
    const earlier = await found(FIND_MS)
    if (earlier) return earlier
    const change = { document: base, before: undefined, content: undefined }
    const entries = await begin([{ ...change, unread: 'dataset', ...author }])
    if (isFailure(entries)) return entries
    return async (failed) => {
      if (failed && isUndone(failed)) return history.undone(entries)
      if (failed && !isRefused(failed)) return doubt(entries)
      const enough = new AbortController()
      const patience = sleep(FIND_MS, undefined, { signal: enough.signal }).catch(() => undefined)
      await Promise.race([find(entries[0]!), patience])
      enough.abort()
    }
  }

  return { carryOut, update, prepare, settle, close }
}

/** Stands for what a document was before, where that is more than can be read. */
const UNREADABLE = '# too large'

const wouldBeTooLarge = (document: string): Problem =>
  problem('content.too-large', `<${document}> would be larger than ${MAX_DOCUMENT} bytes of N-Triples.`)

const notKept = (graph: string, base: string): Problem =>
  problem(
    'update.form',
    `The store within keeps documents: graphs whose names are URLs under ${base} that end with a slash, not ` +
      (graph === '' ? 'the default graph.' : `<${graph}>.`),
  )

const RETRY_S = '10'

export const problemOf = ({ failure, detail }: Setback): Problem =>
  failure === 'unfit'
    ? problem('update.form', detail)
    : problem(failure === 'full' ? 'history.full' : 'history.failed', detail, { fields: [['Retry-After', RETRY_S]] })
