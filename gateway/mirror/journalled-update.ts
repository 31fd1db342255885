// SPARQL updates that the history records: finds out which documents an update has changed, and makes each change a
// separate commit (design 6).
import { setTimeout as sleep } from 'node:timers/promises'
import type { VersionedChange } from '../../versioning/change.js'
import type { NewChange, OpenEntry } from '../../versioning/history.js'
import { MAX_DOCUMENT } from '../documents/document.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import type { GraphChange, GraphStore } from '../stores/store.js'
import { begin, keepBefore, withdraw, type Journalled } from './journalled-write.js'
import type { Author } from './settlement.js'
import { DOUBT_FIELDS, hadNoEffect, hasNoLaterEffect, isUnreadable } from './write-failures.js'

/** An update that is about to be sent to the store. */
export interface AnnouncedUpdate extends Pick<VersionedChange, 'agent' | 'time'> {
  /** As the commit records it; `UPDATE` if absent. */
  readonly method?: string
  /** The documents that it may change, under their locks; undefined: any document, and no other write is under way. */
  readonly documents: readonly string[] | undefined
  /** Called with the size of these documents before anything is journalled: their versions take as many bytes. */
  readonly admit?: (bytes: number) => Promise<undefined | Problem>
}

/** An update that is journalled. */
export interface JournalledUpdate {
  /** Call it with the store's response to the update. A problem: the effects of the update may be lost. */
  conclude(failed: undefined | Problem): Promise<undefined | Problem>
  /** Operations to append to the update: it may have removed the position from the store. */
  readonly end?: string | undefined
}

/** One of the applications that share the store, with its documents that the update may change. */
export interface UpdatePart extends Pick<AnnouncedUpdate, 'documents'> {
  readonly journalled: { prepare(update: AnnouncedUpdate): Promise<JournalledUpdate | Problem> }
}

/** Sends the update when every part has journalled it, and then lets every part conclude. */
export async function updateTogether(
  store: GraphStore,
  text: string,
  { agent, time }: Pick<VersionedChange, 'agent' | 'time'>,
  parts: readonly UpdatePart[],
): Promise<undefined | Problem> {
  const prepared: JournalledUpdate[] = []
  let failed: undefined | Problem = NOT_ASKED
  let lost: undefined | Problem
  try {
    for (const { journalled, documents } of parts) {
      const part = await journalled.prepare({ documents, agent, time })
      if (isFailure(part)) return part
      prepared.push(part)
    }
    failed = UNKNOWN
    failed = await store.update([withoutEnd(text), ...prepared.flatMap(({ end }) => end ?? [])].join(' ;\n'))
  } finally {
    lost = (await Promise.all(prepared.map(({ conclude }) => conclude(failed)))).find(Boolean)
  }
  return failed ?? lost
}

/** The update without trailing semicolons and white space. */
export function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && /[;\s]/.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

const UNKNOWN = problem('store.failed', 'It is unknown how much of the update the triplestore has done.')
const NOT_ASKED = problem('store.unreachable', 'The store was not asked.')

/** Updates a store that announces the changes: they are journalled before the store commits them. */
export async function updateAnnounced(
  application: Journalled,
  text: string,
  author: Author,
): Promise<undefined | Problem> {
  const { store, history } = application
  let entries: readonly OpenEntry[] = []
  const announce = async (graphs: readonly GraphChange[]): Promise<undefined | Problem> => {
    const changes = await announcedChanges(application, graphs, author)
    if (isFailure(changes)) return changes
    const begun = await begin(application, changes)
    if (isFailure(begun)) return begun
    entries = begun
    return undefined
  }
  const failed = await store.update(text, { announce })
  if (failed) return withdraw(application, entries, failed)
  history.done(entries)
  return undefined
}

/** Spec 4.1: the root document cannot be deleted, not even by an update. */
export const rootKept = (base: string): Problem =>
  problem(
    'document.root',
    `The update would remove the root document <${base}>, which cannot be deleted. Leave at least one triple in it.`,
  )

export const removedRoot = (base: string, graphs: readonly GraphChange[]): undefined | Problem =>
  graphs.some(([graph, nTriples]) => graph === base && nTriples.trim() === '') ? rootKept(base) : undefined

async function announcedChanges(
  { store, base, isDocument, states }: Journalled,
  graphs: readonly GraphChange[],
  author: Author,
): Promise<NewChange[] | Problem> {
  const changes: NewChange[] = []
  const removed = removedRoot(base, graphs)
  if (removed) return removed
  for (const [document, nTriples] of graphs) {
    // The store is in memory: a graph that the history does not record would be lost at the end of the process.
    if (!isDocument(document)) return notRecorded(document, base)
    const before = await states.stored(store, document)
    const content = await states.canonical(nTriples)
    if (isFailure(before)) return before
    if (isFailure(content)) return content
    if ((content?.length ?? 0) > MAX_DOCUMENT) return wouldBeTooLarge(document)
    if (content !== before) changes.push({ document, before, content, ...author })
  }
  return changes
}

/** Stands for the content of a document that cannot be read. */
const UNREADABLE = '# unreadable'

/** Journals that an update of these documents is about to be sent; its effects are read when it is done. */
export async function prepareDocuments(
  application: Journalled,
  documents: readonly string[],
  author: Author,
  admit?: AnnouncedUpdate['admit'],
): Promise<JournalledUpdate | Problem> {
  const { store, history, settlement, states, applier } = application
  const asked: NewChange[] = []
  for (const document of documents) {
    const state = (await settlement.settle(document)) ?? (await states.stored(store, document))
    if (isFailure(state) && !isUnreadable(state)) return state
    const before = isFailure(state) ? UNREADABLE : state
    const change = { document, before, content: undefined, unread: 'document' as const, ...author }
    asked.push(change)
    const putBack = before === UNREADABLE ? undefined : await keepBefore(application, change)
    if (putBack) return putBack
  }
  const behind = await applier?.level()
  if (behind) return behind
  const refused = await admit?.(asked.reduce((sum, { before = '' }) => sum + Buffer.byteLength(before), 0))
  if (refused) return refused
  const entries = await begin(application, asked)
  if (isFailure(entries)) return entries
  const conclude: JournalledUpdate['conclude'] = async (failed) => {
    const isOver = !failed || hasNoLaterEffect(failed)
    const unread = isOver ? await journalEffects(application, asked, author) : failed
    if (!unread || (failed && hadNoEffect(failed))) await history.undone(entries)
    else settlement.doubt(entries)
    return !failed && unread?.failure.startsWith('store.') ? PUT_BACK : undefined
  }
  return { conclude }
}

const PUT_BACK = problem(
  'store.in-doubt',
  'The triplestore may have been restored to an earlier state, so the update may have no effect. Check its effect, and send it again if needed.',
  DOUBT_FIELDS,
)

/** Journals the changes that the update has made. */
async function journalEffects(
  application: Journalled,
  asked: readonly NewChange[],
  author: Author,
): Promise<undefined | Problem> {
  const { store, history, sweep, states, applier, log } = application
  const changes: NewChange[] = []
  for (const { document, before } of asked) {
    if (before === UNREADABLE) {
      const failed = await sweep.document(document, author)
      if (failed) return failed
      continue
    }
    const content = await states.stored(store, document)
    if (isFailure(content) && isUnreadable(content)) {
      log.error(
        { document, problem: content.detail },
        'a document can no longer be read: its versions stop before this update',
      )
    } else if (isFailure(content)) return content
    else if (content !== before) changes.push({ document, before, content, ...author })
  }
  if (await applier?.confirm()) return PUT_BACK
  const entries = await begin(application, changes)
  if (isFailure(entries)) return entries
  history.done(entries)
  return undefined
}

/** How long the response to an update of any document waits until all of its changes are in the journal, ms. */
const SWEEP_MS = 2_000

/**
 * Journals that an update of any document is about to be sent; when it is done, all documents are compared with the
 * history: those of a small dataset before the response, those of a large one after it.
 */
export async function prepareDataset(application: Journalled, author: Author): Promise<JournalledUpdate | Problem> {
  const { base, history, settlement, applier } = application
  const notSwept = (await settlement.whenSwept(SWEEP_MS)) ?? (await applier?.level())
  if (notSwept) return notSwept
  const change = { document: base, before: undefined, content: undefined }
  const entries = await begin(application, [{ ...change, unread: 'dataset', ...author }])
  if (isFailure(entries)) return entries
  const held = applier?.hold()
  const conclude: JournalledUpdate['conclude'] = async (failed) => {
    held?.over()
    if (failed && hadNoEffect(failed)) return history.undone(entries).then(() => undefined)
    if (failed && !hasNoLaterEffect(failed)) return void settlement.doubt(entries)
    const putBack = await applier?.confirm()
    const enough = new AbortController()
    const patience = sleep(SWEEP_MS, undefined, { signal: enough.signal }).catch(() => undefined)
    await Promise.race([settlement.sweepAfter(entries[0]!), patience])
    enough.abort()
    return putBack && PUT_BACK
  }
  return { conclude, end: held?.end }
}

const wouldBeTooLarge = (document: string): Problem =>
  problem('content.too-large', `<${document}> would be larger than ${MAX_DOCUMENT} bytes of N-Triples.`)

export const notRecorded = (graph: string, base: string): Problem =>
  problem(
    'update.form',
    `The embedded store has documents only: graphs whose names are URLs under ${base} that end with a slash, not ` +
      (graph === '' || graph === DEFAULT_GRAPH ? 'the default graph.' : `<${graph}>.`),
  )
