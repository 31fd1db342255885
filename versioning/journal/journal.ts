// The journal: changes that are begun, or done at the store, and not committed yet; durable and in order.
import { setTimeout as sleep } from 'node:timers/promises'
import type { VersionedChange } from '../change.js'
import { isFailure, type Setback } from '../failure.js'
import type { WriteBasis, NewChange, OpenEntry } from '../history.js'
import { namedGraph } from '../log/content.js'
import type { ContentName } from '../log/entry.js'
import type { WriteLog } from '../log/write-log.js'
import { differenceInSlices, documentDifference } from '../memento/difference.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'
import { excerptsOfDeleted, type ExcerptOf } from './excerpts.js'
import {
  addEntry,
  countOfDone,
  doneEntries,
  firstOpenPosition,
  isOpenEntry,
  markDone,
  noEntries,
  openEntries,
  openEntry,
  readyEntries,
  removeEntries,
  type JournalEntries,
} from './entries.js'
import { appendedHeads, headOfNothing, newestHead, type Heads } from './heads.js'
import { contentIn, entryIn, recordOf, type JournalEntry } from './record.js'
import { makeUlids } from './ulid.js'

export interface JournalLimits {
  /** The most changes that are not committed yet. */
  readonly entries: number
  /** The most UTF-16 units of their contents. */
  readonly bytes: number
}

export interface JournalOptions {
  readonly database: Database
  /** The file of a document. */
  readonly pathOf: (document: string) => string
  readonly now: () => number
  readonly limits: JournalLimits
  /** The log of the dataspace, to which several journals may append. */
  readonly writeLog: WriteLog
  /** True if these documents are access rules. */
  readonly hasRules: boolean
  readonly excerptOf?: ExcerptOf | undefined
}

export interface Journal {
  begin(changes: readonly NewChange[], decided?: WriteBasis): Promise<readonly OpenEntry[] | Setback>
  /** Marks entries as done. Those that are settled or committed already are ignored, here and in `undone`. */
  done(entries: readonly Pick<JournalEntry, 'id'>[]): void
  /** A Setback if they may be open again after a crash. */
  undone(entries: readonly Pick<JournalEntry, 'id'>[]): Promise<undefined | Setback>
  /** The position of the journal's last entry in the log. */
  position(): number
  /** The last position up to which every entry of the journal is settled or `isCounted`. */
  settledPosition(isCounted?: (position: number) => boolean): number
  /** Continues after this position, whatever came before. */
  continueAfter(position: number): Promise<undefined | Setback>
  open(document?: string): readonly OpenEntry[]
  pathOf(id: string): string | undefined
  /** The newest of the document's done entries. */
  newest(document: string): JournalEntry | undefined
  /** The number of done entries of the document, or of all documents. */
  doneCount(document?: string): number
  /** True if half of the allowed number of changes wait to be committed. */
  isHalfFull(): boolean
  /**
   * Entries that may be committed, oldest first: they are done, and no earlier entry of their document is open or
   * passed over.
   */
  ready(most: number, passOver: (document: string) => boolean): readonly JournalEntry[]
  /** Documents with any change in the journal. */
  documents(): readonly string[]
  has(document: string): boolean
  /** All done entries, in order. */
  allDone(): readonly JournalEntry[]
  /** The changes with their contents, except those whose contents have been removed. */
  changesOf(entries: readonly JournalEntry[]): Promise<readonly VersionedChange[]>
  /** The operations that remove entries from the disk; afterwards `forget` removes them from memory. */
  removal(ids: readonly string[]): readonly DatabaseOperation[]
  forget(ids: readonly string[]): void
  figures(): { depth: number; inDoubt: number; oldest: number | undefined; bytes: number }
}

/** A record (record.ts). */
const ENTRY = 'e'
const DONE = 'd'
/** The last id, stored when entries are removed, so that ids grow even if the clock is set back. */
const LAST_ID = 'j'

/**
 * Changes that begin at the same time wait for each other, to be written to the disk together: the more there are, the
 * longer.
 */
const [MANY_OPEN, GATHER_MS, LONGEST_GATHER_MS] = [4, 0.25, 8]

interface JournalState extends JournalOptions {
  readonly entries: JournalEntries
  readonly nextId: () => string
  /** Changes that are about to be added, and their UTF-16 units: they count towards the limits before any wait. */
  readonly coming: { entries: number; bytes: number }
  last: string | undefined
  /** The position of the journal's last entry in the log. */
  position: number
  gathering: Promise<void> | undefined
}

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { database, writeLog } = options
  const entries = noEntries()
  const stored = await database.get(LAST_ID)
  const head = await newestHead(database)
  if (head) writeLog.continueAfter(head)
  await load(options, entries)
  const newest = [...entries.all.keys()].at(-1)
  const last = newest !== undefined && newest > (stored ?? '') ? newest : stored
  const coming = { entries: 0, bytes: 0 }
  const nextId = makeUlids(options.now, last)
  const position = head?.position ?? 0
  const state: JournalState = { ...options, entries, coming, nextId, last, position, gathering: undefined }
  const { all, byDocument, newestDone, counts } = entries

  return {
    begin: (changes, decided) => begin(state, changes, decided),
    done: (settled) => done(state, settled),
    undone: (settled) => undone(state, settled),
    position: () => state.position,
    settledPosition: (isCounted) => Math.min(state.position, firstOpenPosition(entries, isCounted) - 1),
    async continueAfter(position) {
      const head = headOfNothing(position)
      const failed = await database.write([head.operation], true, 'drop')
      if (failed) return failed
      writeLog.continueAfter(head)
      state.position = Math.max(state.position, position)
      return undefined
    },
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

async function begin(
  state: JournalState,
  changes: readonly NewChange[],
  decided?: WriteBasis,
): Promise<readonly OpenEntry[] | Setback> {
  const { entries, limits, coming } = state
  if (changes.length === 0) return []
  const size = changes.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  const isFull =
    entries.all.size + coming.entries + changes.length > limits.entries ||
    entries.counts.bytes + coming.bytes + size > limits.bytes
  if (isFull) return tooMany(limits)
  const leave = enter(coming, changes.length, size)
  try {
    const prepared: Prepared[] = []
    for (const change of changes) prepared.push(await preparedOf(change))
    const gathering = gather(state)
    if (gathering) await gathering
    leave()
    return await write(state, prepared, decided)
  } finally {
    leave()
  }
}

/** Reserves room; the returned function frees it, once. */
function enter(coming: JournalState['coming'], entries: number, bytes: number): () => void {
  coming.entries += entries
  coming.bytes += bytes
  let isHere = true
  return () => {
    if (isHere) coming.entries -= entries
    if (isHere) coming.bytes -= bytes
    isHere = false
  }
}

/** A change with everything that takes time to compute: it is computed before the change gets its position. */
interface Prepared extends Counts {
  readonly change: NewChange
  readonly named: ContentName | undefined
}

async function preparedOf(change: NewChange): Promise<Prepared> {
  const { content, unread } = change
  return {
    ...(await countsOf(change)),
    change,
    named: content === undefined || unread ? undefined : (await namedGraph(content)).name,
  }
}

/** Writes without waiting first, so that the entries are on the disk in the order of their positions. */
async function write(
  state: JournalState,
  prepared: readonly Prepared[],
  decided: WriteBasis | undefined,
): Promise<readonly OpenEntry[] | Setback> {
  const { database, entries, excerptOf } = state
  const named = prepared.map((one) => ({ ...one, id: (state.last = state.nextId()) }))
  const heads = headsOf(state, named, decided)
  if (isFailure(heads)) return heads
  const begun = named.map(({ change, named: _, ...more }, i) =>
    entryOf(state, change, { ...more, position: heads.positions[i] }),
  )
  const contents = prepared.map(({ change }) => change.content)
  begun.forEach((entry, i) => addEntry(entries, entry, contents[i], false))
  const operations = [
    ...heads.operations,
    ...begun.map((entry, i) => put(ENTRY + entry.id, recordOf(entry, contents[i]))),
  ]
  if (excerptOf) operations.push(...excerptsOfDeleted(prepared.map(({ change }) => change), excerptOf)) // prettier-ignore
  const failed = await database.write(operations, true, 'undo')
  // Do not count positions that were not written.
  if (!failed) state.position = Math.max(state.position, heads.positions.at(-1) ?? 0)
  if (failed) removeEntries(entries, begun.map(({ id }) => id)) // prettier-ignore
  return failed ?? begun.map((entry, i) => openEntry(entry, contents[i]))
}

/** An update whose effects are not known yet gets no entry: each of its effects gets one. */
function headsOf(
  state: JournalState,
  prepared: readonly (Prepared & Pick<JournalEntry, 'id'>)[],
  decided: WriteBasis | undefined,
): Heads | Setback {
  const { writeLog, hasRules } = state
  const isLogged = prepared.map(({ change }) => !change.unread)
  const parts = prepared.flatMap(({ id, change, named: content }) => (change.unread ? [] : [{ id, change, content }]))
  const heads = appendedHeads(writeLog, parts, { hasRules, decided, last: state.position })
  if (isFailure(heads)) return heads
  let next = 0
  return { ...heads, positions: isLogged.map((is) => (is ? heads.positions[next++] : undefined)) }
}

/** The numbers of triples added and removed. */
type Counts = Pick<VersionedChange, 'added' | 'removed'>

/** Contents with more characters are compared in slices. */
const QUICKLY_COMPARED = 128 * 1024

async function countsOf({ before = '', content = '' }: NewChange): Promise<Counts> {
  const isQuick = before.length + content.length <= QUICKLY_COMPARED
  const { added, removed } = isQuick ? documentDifference(before, content) : await differenceInSlices(before, content)
  return { added: added.length, removed: removed.length }
}

function entryOf(
  { pathOf }: JournalState,
  { before: _before, container: _container, content, ...change }: NewChange,
  { position, ...more }: Counts & Pick<JournalEntry, 'id'> & { readonly position: number | undefined },
): JournalEntry {
  const path = pathOf(change.document)
  return { ...change, ...more, path, size: content?.length, ...(position !== undefined && { position }) }
}

/** Waits for other changes; undefined if none are expected: then the write must start at once. */
function gather(state: JournalState): Promise<void> | undefined {
  const open = state.entries.all.size - state.entries.counts.done + state.coming.entries
  if (open <= MANY_OPEN) return undefined
  const pause = Math.min(LONGEST_GATHER_MS, open * GATHER_MS)
  return (state.gathering ??= sleep(pause).finally(() => (state.gathering = undefined)))
}

/** Marks entries as done, on the disk before any later change. A crash before that leaves them open. */
function done({ database, entries }: JournalState, settled: readonly Pick<JournalEntry, 'id'>[]): void {
  const open = settled.filter(({ id }) => isOpenEntry(entries, id))
  for (const { id } of open) markDone(entries, id)
  if (open.length > 0) void database.write(open.map(({ id }) => put(DONE + id, '')), false, 'keep') // prettier-ignore
}

async function undone(state: JournalState, settled: readonly Pick<JournalEntry, 'id'>[]): Promise<undefined | Setback> {
  const { database, entries } = state
  const open = settled.map(({ id }) => id).filter((id) => isOpenEntry(entries, id))
  removeEntries(entries, open)
  return open.length > 0 ? database.write(removal(state, open), true, 'keep') : undefined
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
    `The journal is full: ${entries} changes, or ${bytes} characters, wait to be committed. The ` +
    'status of the history says why.',
})
