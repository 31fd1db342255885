// The journal's entries in memory: by id and by document, open and done, with as many contents as fit.
import type { OpenEntry } from '../history.js'
import type { JournalEntry } from './record.js'

/** The most UTF-16 units of done entries' contents in memory. */
const HELD = 4 * 1024 * 1024
/** The most UTF-16 units of contents that are read at once. */
const AT_ONCE = 2 * 1024 * 1024

interface HeldEntry {
  readonly entry: JournalEntry
  /** In memory while the entry is open, and afterwards as long as there is room; always on the disk. */
  readonly content: string | undefined
  readonly done: boolean
}

type Ids = Map<string, Set<string>>

export interface JournalEntries {
  /** By id, in the order of the ids. */
  readonly all: Map<string, HeldEntry>
  readonly byDocument: Ids
  readonly openByDocument: Ids
  readonly newestDone: Map<string, JournalEntry>
  readonly counts: { done: number; bytes: number; held: number }
}

export const noEntries = (): JournalEntries => ({
  all: new Map(),
  byDocument: new Map(),
  openByDocument: new Map(),
  newestDone: new Map(),
  counts: { done: 0, bytes: 0, held: 0 },
})

export function addEntry(
  entries: JournalEntries,
  entry: JournalEntry,
  content: string | undefined,
  done: boolean,
): void {
  entries.all.set(entry.id, { entry, content, done })
  addId(entries.byDocument, entry)
  if (!done) addId(entries.openByDocument, entry)
  entries.counts.bytes += entry.size ?? 0
  if (done) countDone(entries, entry)
}

/** @param id of an open entry */
export function markDone(entries: JournalEntries, id: string): void {
  const { all, openByDocument, counts } = entries
  const { entry, content } = all.get(id)!
  const fits = content !== undefined && counts.held + content.length <= HELD
  if (fits) counts.held += content.length
  all.set(id, { entry, content: fits ? content : undefined, done: true })
  removeId(openByDocument, entry)
  countDone(entries, entry)
}

export function removeEntries(
  { all, byDocument, openByDocument, newestDone, counts }: JournalEntries,
  ids: readonly string[],
): void {
  for (const id of ids) {
    const { entry, done, content } = all.get(id) ?? {}
    if (!entry) continue
    if (done) counts.held -= content?.length ?? 0
    all.delete(id)
    removeId(byDocument, entry)
    removeId(openByDocument, entry)
    if (newestDone.get(entry.document) === entry) newestDone.delete(entry.document)
    counts.bytes -= entry.size ?? 0
    if (done) counts.done--
  }
}

export const isOpenEntry = ({ all }: JournalEntries, id: string): boolean => all.get(id)?.done === false

/** The open entries of the document, or of all documents. */
export function openEntries({ all, openByDocument }: JournalEntries, document?: string): readonly OpenEntry[] {
  const some = document === undefined ? [...all.values()] : heldOf(all, openByDocument.get(document))
  return some.filter(({ done }) => !done).map(({ entry, content }) => openEntry(entry, content))
}

/** The position of the first open entry in the log; Infinity if none is open. */
export function firstOpenPosition(
  { all, openByDocument, counts }: JournalEntries,
  isCounted: (position: number) => boolean = () => false,
): number {
  let first = Infinity
  if (all.size === counts.done) return first
  for (const ids of openByDocument.values())
    for (const {
      entry: { position = Infinity },
    } of heldOf(all, ids))
      // prettier-ignore
      if (position < first && !isCounted(position)) first = position
  return first
}

/** The number of done entries of the document, or of all documents. */
export const countOfDone = ({ all, byDocument, counts }: JournalEntries, document?: string): number =>
  document === undefined ? counts.done : heldOf(all, byDocument.get(document)).filter(({ done }) => done).length

export const doneEntries = ({ all }: JournalEntries): readonly JournalEntry[] =>
  [...all.values()].filter(({ done }) => done).map(({ entry }) => entry)

/** Done entries, oldest first; not those of documents with an earlier entry that is open or passed over. */
export function readyEntries(
  { all }: JournalEntries,
  most: number,
  passOver: (document: string) => boolean,
): readonly JournalEntry[] {
  const ready: JournalEntry[] = []
  const waiting = new Set<string>()
  let size = 0
  for (const { entry, done } of all.values()) {
    if (ready.length >= most || size > AT_ONCE) break
    if (!done || waiting.has(entry.document) || passOver(entry.document)) waiting.add(entry.document)
    else {
      ready.push(entry)
      size += entry.size ?? 0
    }
  }
  return ready
}

export const openEntry = ({ size: _, ...entry }: JournalEntry, content: string | undefined): OpenEntry => ({
  ...entry,
  content,
})

function countDone({ newestDone, counts }: JournalEntries, entry: JournalEntry): void {
  newestDone.set(entry.document, entry)
  counts.done++
}

const heldOf = (all: JournalEntries['all'], ids: Iterable<string> = []): HeldEntry[] =>
  Array.from(ids, (id) => all.get(id)!)

const addId = (ids: Ids, { document, id }: JournalEntry): unknown =>
  ids.set(document, (ids.get(document) ?? new Set()).add(id))

function removeId(ids: Ids, { document, id }: JournalEntry): void {
  const siblings = ids.get(document)
  siblings?.delete(id)
  if (siblings?.size === 0) ids.delete(document)
}
