// The journal: changes that are begun, done at the store and not committed yet, durable and in order.
import { setTimeout as sleep } from 'node:timers/promises'
import type { VersionedChange } from '../change.js'
import type { Setback } from '../failure.js'
import type { NewChange, OpenEntry } from '../history.js'
import { differenceInSlices, documentDifference } from '../memento/difference.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'
import { excerptsOfDeleted, type ExcerptOf } from './excerpts.js'
import {
  addEntry,
  countOfDone,
  doneEntries,
  isOpenEntry,
  markDone,
  noEntries,
  openEntries,
  openEntry,
  readyEntries,
  removeEntries,
  type JournalEntries,
} from './entries.js'
import { contentIn, entryIn, recordOf, type JournalEntry } from './record.js'
import { makeUlids } from './ulid.js'

export interface JournalLimits {
  /** Changes that are not committed yet. */
  readonly entries: number
  /** UTF-16 units of their contents. */
  readonly bytes: number
}

export interface JournalOptions {
  readonly database: Database
  /** The file of a document. */
  readonly pathOf: (document: string) => string
  readonly now: () => number
  readonly limits: JournalLimits
  /**
   * True where `done` resolves only when the entries are on the disk; otherwise they are soon, and before any later
   * change.
   */
  readonly durableDone: boolean
  readonly excerptOf?: ExcerptOf | undefined
}

export interface Journal {
  begin(changes: readonly NewChange[]): Promise<readonly OpenEntry[] | Setback>
  /** JournalEntries that are settled or committed already are ignored, here and in `undone`. */
  done(entries: readonly Pick<JournalEntry, 'id'>[]): Promise<void>
  undone(entries: readonly Pick<JournalEntry, 'id'>[]): Promise<void>
  open(document?: string): readonly OpenEntry[]
  pathOf(id: string): string | undefined
  /** The newest of the document's done entries. */
  newest(document: string): JournalEntry | undefined
  /** The number of done entries of the document, or of all documents. */
  doneCount(document?: string): number
  /** True where half of the changes that it may hold wait to be committed. */
  isHalfFull(): boolean
  /**
   * JournalEntries that may be committed, oldest first: done, and no earlier one of the same document is open or passed
   * over.
   */
  ready(most: number, passOver: (document: string) => boolean): readonly JournalEntry[]
  /** Documents with any change in the journal. */
  documents(): readonly string[]
  has(document: string): boolean
  /** All done entries, in order. */
  allDone(): readonly JournalEntry[]
  /** The changes with their contents; without those whose contents are gone. */
  changesOf(entries: readonly JournalEntry[]): Promise<readonly VersionedChange[]>
  /** The operations that remove entries from the disk; afterwards `forget` removes them from memory. */
  removal(ids: readonly string[]): readonly DatabaseOperation[]
  forget(ids: readonly string[]): void
  figures(): { depth: number; inDoubt: number; oldest: number | undefined; bytes: number }
}

/** A record (record.ts). */
const ENTRY = 'e'
const DONE = 'd'
/** The last id, stored when entries are removed: ids grow even if the clock goes back and the journal is empty. */
const LAST_ID = 'j'

/**
 * Changes that begin at the same time wait for each other, to be written to the disk together: the more, the longer.
 */
const [MANY_OPEN, GATHER_MS, LONGEST_GATHER_MS] = [4, 0.25, 8]

interface JournalState extends JournalOptions {
  readonly entries: JournalEntries
  readonly nextId: () => string
  last: string | undefined
  gathering: Promise<void> | undefined
}

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { database } = options
  const entries = noEntries()
  const stored = await database.get(LAST_ID)
  await load(options, entries)
  const newest = [...entries.all.keys()].at(-1)
  const last = newest !== undefined && newest > (stored ?? '') ? newest : stored
  const state: JournalState = { ...options, entries, nextId: makeUlids(options.now, last), last, gathering: undefined }
  const { all, byDocument, newestDone, counts } = entries

  return {
    begin: (changes) => begin(state, changes),
    done: (settled) => done(state, settled),
    undone: (settled) => undone(state, settled),
    open: (document) => openEntries(entries, document),
    newest: (document) => newestDone.get(document),
    pathOf: (id) => all.get(id)?.entry.path,
    documents: () => [...byDocument.keys()],
    has: (document) => byDocument.has(document),
    doneCount: (document) => countOfDone(entries, document),
    isHalfFull: () => counts.done > options.limits.entries / 2,
    ready: (most, passOver) => readyEntries(entries, most, passOver),
    allDone: () => doneEntries(entries),
    changesOf: (some) => changesOf(state, some),
    removal: (ids) => removal(state, ids),
    forget: (ids) => removeEntries(entries, ids),
    figures: () => ({
      depth: all.size,
      inDoubt: all.size - counts.done,
      oldest: all.values().next().value?.entry.time,
      bytes: counts.bytes,
    }),
  }
}

async function load({ database, pathOf }: JournalOptions, entries: JournalEntries): Promise<void> {
  const done = new Set<string>()
  for await (const [key] of database.range(DONE)) done.add(key.slice(DONE.length))
  for await (const [key, value] of database.range(ENTRY)) {
    const entry = entryIn(key.slice(ENTRY.length), value, pathOf)
    const isDone = done.has(entry.id)
    addEntry(entries, entry, isDone ? undefined : contentIn(value), isDone)
  }
}

async function begin(state: JournalState, changes: readonly NewChange[]): Promise<readonly OpenEntry[] | Setback> {
  const { database, entries, limits, excerptOf } = state
  if (changes.length === 0) return []
  const counts: Counts[] = []
  for (const change of changes) counts.push(await countsOf(change))
  const size = changes.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  if (entries.all.size + changes.length > limits.entries || entries.counts.bytes + size > limits.bytes) {
    return tooMany(limits)
  }
  const begun = changes.map((change, i) => entryOf(state, change, counts[i]!))
  // The room is taken before any wait: changes that begin meanwhile must not take it again.
  begun.forEach((entry, i) => addEntry(entries, entry, changes[i]!.content, false))
  const operations = begun.map((entry, i) => put(ENTRY + entry.id, recordOf(entry, changes[i]!.content)))
  if (excerptOf) operations.push(...excerptsOfDeleted(changes, excerptOf))
  const gathering = gather(state)
  if (gathering) await gathering
  const failed = await database.write(operations, true, 'undo')
  const ids = begun.map(({ id }) => id)
  if (failed) removeEntries(entries, ids)
  return failed ?? begun.map((entry, i) => openEntry(entry, changes[i]!.content))
}

/** Of triples. */
type Counts = Pick<VersionedChange, 'added' | 'removed'>

/** In characters: longer contents are compared in slices. */
const QUICKLY_COMPARED = 128 * 1024

async function countsOf({ before = '', content = '' }: NewChange): Promise<Counts> {
  const isQuick = before.length + content.length <= QUICKLY_COMPARED
  const { added, removed } = isQuick ? documentDifference(before, content) : await differenceInSlices(before, content)
  return { added: added.length, removed: removed.length }
}

function entryOf(state: JournalState, { before: _, content, ...change }: NewChange, counts: Counts): JournalEntry {
  state.last = state.nextId()
  return { ...change, id: state.last, path: state.pathOf(change.document), ...counts, size: content?.length }
}

/** Undefined where no other changes are expected: then the write must start at once. */
function gather(state: JournalState): Promise<void> | undefined {
  const open = state.entries.all.size - state.entries.counts.done
  if (open <= MANY_OPEN) return undefined
  const pause = Math.min(LONGEST_GATHER_MS, open * GATHER_MS)
  return (state.gathering ??= sleep(pause).finally(() => (state.gathering = undefined)))
}

async function done(
  { database, entries, durableDone }: JournalState,
  settled: readonly Pick<JournalEntry, 'id'>[],
): Promise<void> {
  const open = settled.filter(({ id }) => isOpenEntry(entries, id))
  for (const { id } of open) markDone(entries, id)
  if (open.length === 0) return
  const operations = open.map(({ id }) => put(DONE + id, ''))
  const written = database.write(operations, durableDone, 'keep')
  if (durableDone) await written
}

async function undone(state: JournalState, settled: readonly Pick<JournalEntry, 'id'>[]): Promise<void> {
  const { database, entries } = state
  const open = settled.map(({ id }) => id).filter((id) => isOpenEntry(entries, id))
  removeEntries(entries, open)
  if (open.length > 0) await database.write(removal(state, open), true, 'keep')
}

const removal = ({ last }: JournalState, ids: readonly string[]): readonly DatabaseOperation[] => [
  ...ids.flatMap((id) => [del(ENTRY + id), del(DONE + id)]),
  ...(last === undefined ? [] : [put(LAST_ID, last)]),
]

async function changesOf(
  { database, entries: { all } }: JournalState,
  entries: readonly JournalEntry[],
): Promise<readonly VersionedChange[]> {
  const unheld = entries.filter(({ id, size }) => size !== undefined && all.get(id)?.content === undefined)
  const read = unheld.length > 0 ? await database.getMany(unheld.map(({ id }) => ENTRY + id)) : []
  const contents = new Map(unheld.map(({ id }, i) => [id, contentIn(read[i])]))
  return entries.flatMap(({ size, ...change }) => {
    const content = all.get(change.id)?.content ?? contents.get(change.id)
    return size !== undefined && content === undefined ? [] : [{ ...change, content }]
  })
}

const tooMany = ({ entries, bytes }: JournalLimits): Setback => ({
  failure: 'full',
  detail:
    `The journal holds all that it may: ${entries} changes, or ${bytes} characters. They wait to be committed: the ` +
    'status of the history says why.',
})
