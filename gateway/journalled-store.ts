// In charge of changing documents in the store so that the history can answer for every change: journal → store →
// settled (design 6).
import { setTimeout as sleep } from 'node:timers/promises'
import { isSetback, type Change, type Setback } from '../versioning/change.js'
import type { History, NewChange, OpenEntry } from '../versioning/history.js'
import type { Locks } from './lock.js'
import type { Log } from './log.js'
import { isProblem, problem, type Problem } from './problem.js'
import { canonicalNTriples, makeSettlement, stateOf, type Author, type Settlement } from './settlement.js'
import type { SettlementSettings } from './settlement.js'
import type { GraphChange, GraphStore } from './store.js'

/** A SPARQL update, as it is to be executed. */
export interface Update extends Pick<Change, 'agent' | 'time'> {
  readonly text: string
  /** What it may change, under its locks; undefined: any document, and no other write is under way. */
  readonly documents: readonly string[] | undefined
}

export interface JournalledStore extends Pick<Settlement, 'settle' | 'close'> {
  /** Makes the document what the change says. To be called under its lock, when nothing of it is in doubt. */
  carryOut(change: NewChange): Promise<undefined | Problem>
  /** Each document that it changes becomes a commit of its own. */
  update(update: Update): Promise<undefined | Problem>
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
export const isUndone = ({ code }: Problem): boolean =>
  code === 'store.unreachable' ||
  code === 'store.overloaded' ||
  code === 'store.refused' ||
  code === 'history.full' ||
  code === 'history.failed'

/** The store has said no: nothing of it happens later. Some of an update may have happened before. */
export const isRefused = ({ code }: Problem): boolean =>
  code === 'update.syntax' || code === 'update.failed' || code === 'store.refused'

export const makeJournalledStore = ({ history, sweep, ...settings }: JournalledStoreSettings): JournalledStore =>
  history && sweep ? journalledStore({ history, sweep, ...settings }) : unversioned(settings.store)

const unversioned = (store: GraphStore): JournalledStore => ({
  carryOut: (change) => apply(store, change),
  update: ({ text }) => store.update(text),
  settle: () => Promise.resolve(undefined),
  close: () => undefined,
})

const apply = (store: GraphStore, { document, content }: NewChange): Promise<undefined | Problem> =>
  content === undefined ? store.remove(document) : store.replace(document, content)

function journalledStore(settings: Required<JournalledStoreSettings> & SettlementSettings): JournalledStore {
  const { store, history, base, isDocument } = settings
  const { doubt, find, settle, close } = makeSettlement(settings)

  async function begin(changes: readonly NewChange[]): Promise<readonly OpenEntry[] | Problem> {
    const entries = await history.begin(changes)
    return isSetback(entries) ? problemOf(entries) : entries
  }

  async function carryOut(change: NewChange): Promise<undefined | Problem> {
    const entries = await begin([change])
    if (isProblem(entries)) return entries
    const failed = await apply(store, change)
    if (!failed) await history.done(entries)
    else if (isUndone(failed)) await history.undone(entries)
    else doubt(entries)
    return failed
  }

  async function update({ text, documents, agent, time }: Update): Promise<undefined | Problem> {
    const author = { method: 'UPDATE', agent, time }
    if (store.announces) return announced(text, author)
    return documents ? updateOf(documents, text, author) : updateOfAny(text, author)
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
        if (isProblem(before)) return before
        if (isProblem(content)) return content
        if (content !== before) changes.push({ document, before, content, ...author })
      }
      const begun = await begin(changes)
      if (isProblem(begun)) return begun
      entries = begun
      return undefined
    }
    const failed = await store.update(text, { announce })
    if (failed) await history.undone(entries)
    else await history.done(entries)
    return failed
  }

  /** What became of each of these is read afterwards; that they were asked for is in the journal before. */
  async function updateOf(documents: readonly string[], text: string, author: Author): Promise<undefined | Problem> {
    const asked: NewChange[] = []
    for (const document of documents) {
      const before = (await settle(document)) ?? (await stateOf(store, document))
      if (isProblem(before)) return before
      asked.push({ document, before, content: before, unread: 'document', ...author })
    }
    const entries = await begin(asked)
    if (isProblem(entries)) return entries
    const failed = await store.update(text)
    if (failed && isUndone(failed)) await history.undone(entries)
    else if ((failed && !isRefused(failed)) || isProblem(await journalChanges(asked, author))) doubt(entries)
    else await history.undone(entries)
    return failed
  }

  async function journalChanges(asked: readonly NewChange[], author: Author): Promise<undefined | Problem> {
    const changes: NewChange[] = []
    for (const { document, before } of asked) {
      const content = await stateOf(store, document)
      if (isProblem(content)) return content
      if (content !== before) changes.push({ document, before, content, ...author })
    }
    const entries = await begin(changes)
    if (isProblem(entries)) return entries
    await history.done(entries)
    return undefined
  }

  /** All documents are held against the history then: of a small dataset before the answer, of a large one after it. */
  async function updateOfAny(text: string, author: Author): Promise<undefined | Problem> {
    const change = { document: base, before: undefined, content: undefined }
    const entries = await begin([{ ...change, unread: 'dataset', ...author }])
    if (isProblem(entries)) return entries
    const failed = await store.update(text)
    if (failed && isUndone(failed)) await history.undone(entries)
    else if (failed && !isRefused(failed)) doubt(entries)
    else {
      const enough = new AbortController()
      const patience = sleep(FIND_MS, undefined, { signal: enough.signal }).catch(() => undefined)
      await Promise.race([find(entries[0]!), patience])
      enough.abort()
    }
    return failed
  }

  return { carryOut, update, settle, close }
}

const notKept = (graph: string, base: string): Problem =>
  problem(
    'update.form',
    `The store within keeps documents: graphs whose names are URLs under ${base} that end with a slash, not ` +
      (graph === '' ? 'the default graph.' : `<${graph}>.`),
  )

const RETRY_S = '10'

export const problemOf = ({ setback, detail }: Setback): Problem =>
  problem(setback === 'full' ? 'history.full' : 'history.failed', detail, { fields: [['Retry-After', RETRY_S]] })
