// In charge of the journal: changes that are begun, done at the store and not committed yet, durable and in order.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change, Setback } from '../change.js'
import { del, put, type Database, type Operation } from './database.js'
import { differenceOf } from '../memento/difference.js'
import type { NewChange, OpenEntry } from '../history.js'
import { contentIn, entryIn, recordOf, type Entry } from './record.js'
import { makeUlids } from './ulid.js'

export interface JournalLimits {
  /** Changes that are not committed yet. */
  readonly entries: number
  /** UTF-16 units of their contents. */
  readonly bytes: number
}

export interface Journal {
  begin(changes: readonly NewChange[]): Promise<readonly OpenEntry[] | Setback>
  /** Entries that are settled or committed already are passed over, here and in `undone`. */
  done(entries: readonly Pick<Entry, 'id'>[]): Promise<void>
  undone(entries: readonly Pick<Entry, 'id'>[]): Promise<void>
  open(document?: string): readonly OpenEntry[]
  pathOf(id: string): string | undefined
  /** Of those of the document that are done. */
  newest(document: string): Entry | undefined
  /** How many of the document's, or of all, are done. */
  doneCount(document?: string): number
  /** Oldest first, those that may be committed: done, and nothing earlier of the same document is open or passed over. */
  ready(most: number, passOver: (document: string) => boolean): readonly Entry[]
  /** Those of which there is any change, done or open. */
  documents(): readonly string[]
  /** Done ones, in order. */
  allDone(): readonly Entry[]
  /** With their contents, as many as are there still. */
  changesOf(entries: readonly Entry[]): Promise<readonly Change[]>
  /** What removes entries from the disk; `forget` then removes them from memory. */
  removal(ids: readonly string[]): readonly Operation[]
  forget(ids: readonly string[]): void
  figures(): { depth: number; inDoubt: number; oldest: number | undefined; bytes: number }
}

/** A record (journal-record.ts). */
const ENTRY = 'e'
const DONE = 'd'
/** The last id when entries left: ids grow even where the clock goes back and nothing is left in the journal. */
const LAST_ID = 'j'
/** UTF-16 units of contents that are read at once. */
const AT_ONCE = 16 * 1024 * 1024
/** UTF-16 units of contents of done entries that are in memory too. */
const HELD = 32 * 1024 * 1024

/** Changes that begin while others are under way wait for each other, to be put on the disk as one: longer, the more they are. */
const [MANY_OPEN, GATHER_MS, LONGEST_GATHER_MS] = [4, 0.25, 8]

interface Kept {
  readonly entry: Entry
  /** While the entry is open, and after that while there is room; else it is on the disk only. */
  readonly content: string | undefined
  readonly done: boolean
}

/**
 * @param durableDone whether what is done is on the disk when `done` resolves; else soon after, and before any later change
 * @param pathOf the file of a document
 */
export async function openJournal(
  database: Database,
  pathOf: (document: string) => string,
  now: () => number,
  limits: JournalLimits,
  durableDone: boolean,
): Promise<Journal> {
  /** By id, which is in order. */
  const kept = new Map<string, Kept>()
  const [byDocument, openOnes]: [Ids, Ids] = [new Map(), new Map()]
  const newestDone = new Map<string, Entry>()
  const counts = { done: 0, bytes: 0, held: 0 }
  let last = await database.get(LAST_ID)
  let gathering: Promise<void> | undefined

  function keep(entry: Entry, content: string | undefined, done: boolean): void {
    kept.set(entry.id, { entry, content, done })
    addTo(byDocument, entry)
    if (!done) addTo(openOnes, entry)
    counts.bytes += entry.size ?? 0
    if (done) nowDone(entry)
  }

  function nowDone(entry: Entry): void {
    newestDone.set(entry.document, entry)
    counts.done++
  }

  function forget(ids: readonly string[]): void {
    for (const id of ids) {
      const { entry, done, content } = kept.get(id) ?? {}
      if (!entry) continue
      if (done) counts.held -= content?.length ?? 0
      kept.delete(id)
      takeFrom(byDocument, entry)
      takeFrom(openOnes, entry)
      if (newestDone.get(entry.document) === entry) newestDone.delete(entry.document)
      counts.bytes -= entry.size ?? 0
      if (done) counts.done--
    }
  }

  const removal = (ids: readonly string[]): readonly Operation[] => [
    ...ids.flatMap((id) => [del(ENTRY + id), del(DONE + id)]),
    ...(last === undefined ? [] : [put(LAST_ID, last)]),
  ]

  function* of(document: string | undefined, ids: ReadonlyMap<string, Iterable<string>> = byDocument): Iterable<Kept> {
    if (document === undefined) yield* kept.values()
    else for (const id of ids.get(document) ?? []) yield kept.get(id)!
  }

  function entryOf({ before, content, ...change }: NewChange): Entry {
    const { added, removed } = differenceOf(before ?? '', content ?? '')
    return {
      ...change,
      id: (last = nextId()),
      path: pathOf(change.document),
      added: added.length,
      removed: removed.length,
      size: content?.length,
    }
  }

  const contentsOf = async (entries: readonly Entry[]): Promise<(string | undefined)[]> =>
    (await database.getMany(entries.map(({ id }) => ENTRY + id))).map(contentIn)

  async function load(): Promise<void> {
    const done = new Set<string>()
    for await (const [key] of database.range(DONE)) done.add(key.slice(DONE.length))
    for await (const [key, value] of database.range(ENTRY)) {
      const entry = entryIn(key.slice(ENTRY.length), value, pathOf)
      const isDone = done.has(entry.id)
      keep(entry, isDone ? undefined : contentIn(value), isDone)
    }
  }
  await load()
  const newest = [...kept.keys()].at(-1)
  if (newest !== undefined && newest > (last ?? '')) last = newest
  const nextId = makeUlids(now, last)

  return {
    async begin(changes) {
      if (changes.length === 0) return []
      const size = changes.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
      if (kept.size + changes.length > limits.entries || counts.bytes + size > limits.bytes) return tooMany(limits)
      const entries = changes.map(entryOf)
      // Room is taken at once: what is begun meanwhile must not take it again.
      entries.forEach((entry, i) => keep(entry, changes[i]!.content, false))
      const operations = entries.map((entry, i) => put(ENTRY + entry.id, recordOf(entry, changes[i]!.content)))
      const open = kept.size - counts.done
      const gather = Math.min(LONGEST_GATHER_MS, open * GATHER_MS)
      if (open > MANY_OPEN) await (gathering ??= sleep(gather).finally(() => (gathering = undefined)))
      const failed = await database.write(operations, true, 'undo')
      if (failed) forget(entries.map(({ id }) => id))
      return failed ?? entries.map((entry, i) => openEntry(entry, changes[i]!.content))
    },
    async done(entries) {
      const own = entries.filter(({ id }) => kept.get(id)?.done === false)
      for (const { id } of own) {
        const { entry, content } = kept.get(id)!
        const fits = content !== undefined && counts.held + content.length <= HELD
        if (fits) counts.held += content.length
        kept.set(id, { entry, content: fits ? content : undefined, done: true })
        takeFrom(openOnes, entry)
        nowDone(entry)
      }
      if (own.length === 0) return
      const operations = own.map(({ id }) => put(DONE + id, ''))
      const written = database.write(operations, durableDone, 'keep')
      if (durableDone) await written
    },
    async undone(entries) {
      const own = entries.map(({ id }) => id).filter((id) => kept.get(id)?.done === false)
      forget(own)
      if (own.length > 0) await database.write(removal(own), true, 'keep')
    },
    open: (document) =>
      [...of(document, openOnes)].filter(({ done }) => !done).map(({ entry, content }) => openEntry(entry, content)),
    newest: (document) => newestDone.get(document),
    pathOf: (id) => kept.get(id)?.entry.path,
    documents: () => [...byDocument.keys()],
    doneCount: (document) =>
      document === undefined ? counts.done : [...of(document)].filter(({ done }) => done).length,
    ready(most, passOver) {
      const entries: Entry[] = []
      const held = new Set<string>()
      let size = 0
      for (const { entry, done } of kept.values()) {
        if (entries.length >= most || size > AT_ONCE) break
        if (!done || held.has(entry.document) || passOver(entry.document)) held.add(entry.document)
        else {
          entries.push(entry)
          size += entry.size ?? 0
        }
      }
      return entries
    },
    allDone: () => [...kept.values()].filter(({ done }) => done).map(({ entry }) => entry),
    async changesOf(entries) {
      const unheld = entries.filter(({ id, size }) => size !== undefined && kept.get(id)?.content === undefined)
      const read = unheld.length > 0 ? await contentsOf(unheld) : []
      const contents = new Map(unheld.map(({ id }, i) => [id, read[i]]))
      return entries.flatMap(({ size, ...change }) => {
        const content = kept.get(change.id)?.content ?? contents.get(change.id)
        return size !== undefined && content === undefined ? [] : [{ ...change, content }]
      })
    },
    removal,
    forget,
    figures: () => ({
      depth: kept.size,
      inDoubt: kept.size - counts.done,
      oldest: kept.values().next().value?.entry.time,
      bytes: counts.bytes,
    }),
  }
}

type Ids = Map<string, Set<string>>
const addTo = (ids: Ids, { document, id }: Entry): unknown =>
  ids.set(document, (ids.get(document) ?? new Set()).add(id))

function takeFrom(ids: Ids, { document, id }: Entry): void {
  const siblings = ids.get(document)
  siblings?.delete(id)
  if (siblings?.size === 0) ids.delete(document)
}

const openEntry = ({ size: _, ...entry }: Entry, content: string | undefined): OpenEntry => ({ ...entry, content })

const tooMany = ({ entries, bytes }: JournalLimits): Setback => ({
  setback: 'full',
  detail:
    `The journal holds all that it may: ${entries} changes, or ${bytes} characters. They wait to be committed: the ` +
    'status of the history says why.',
})
