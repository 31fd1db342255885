// The files of an application on disk (spec 4.6): stored by digest, in a folder named by their SHA-1, with their
// SHA-256 as name. A file is written, flushed and renamed before it counts. If no document describes it, it is removed
// after a day.
import { type Problem, isFailure, problem } from '../problem.js'
import { type Arriving, flushFolder, isAbsent, notStored, openArriving } from './arriving.js'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Each read of a file asks about all of them. */
export const MOST_DOCUMENTS = 200
/** The documents of one owner that may take places of others. */
const SHARE = MOST_DOCUMENTS / 10

/** Ignores the last line if a crash cut it off. Throws unless the list is complete or absent. */
async function givingDocumentsIn(path: string): Promise<string[]> {
  const text = (await readFile(path, 'utf8').catch(orThrow)) ?? ''
  return text.split('\n').slice(0, -1)
}

/** Durable when this returns. */
async function writeGivingDocuments(path: string, documents: readonly string[]): Promise<void> {
  const made = `${path}.new`
  await writeFile(made, documents.map((each) => `${each}\n`).join(''), { mode: 0o600, flush: true })
  await rename(made, path)
  await flushFolder(join(path, '..'))
}

async function removeDocument(path: string, document: string): Promise<undefined | Problem> {
  try {
    const known = await givingDocumentsIn(path)
    const left = known.filter((each) => each !== document)
    if (left.length < known.length) await writeGivingDocuments(path, left)
    return undefined
  } catch (error) {
    return notStored(error)
  }
}

/** For whom a document gives access to a file: decides which document makes room if the list of the file is full. */
export interface Claim {
  /** The owner of the document. */
  readonly owner: string | undefined
  /** The owners of those of these documents that describe the file now; '' for a document without owner. */
  ownersAmong(sha1: string, documents: readonly string[]): Promise<ReadonlyMap<string, string> | Problem>
  /** All documents of the same write. The store does not have them yet. */
  readonly together?: readonly string[]
}

/**
 * The document that makes room in a full list. First the oldest one that does not describe the file now: its entry would
 * only count if it came back. Else the newest one of the owner who has most, so that no agent uses the list up for others,
 * until the owner of the new document has a share. Beyond it, who brings the file replaces an own document; others get no
 * entry.
 */
function leaving(
  known: readonly string[],
  owners: ReadonlyMap<string, string>,
  { owner = '', brings }: { readonly owner: string | undefined; readonly brings: boolean },
): string | undefined {
  const idle = known.find((one) => !owners.has(one))
  if (idle !== undefined) return idle
  const counts = new Map<string, number>()
  for (const one of owners.values()) counts.set(one, (counts.get(one) ?? 0) + 1)
  const most = Math.max(...counts.values())
  const has = (document: string, count: number): boolean => counts.get(owners.get(document) ?? '') === count
  if ((counts.get(owner) ?? 0) < Math.min(most, SHARE)) return known.findLast((one) => has(one, most))
  return brings ? known.find((one) => owners.get(one) === owner) : undefined
}

interface Added {
  readonly sha1: string
  readonly document: string
  readonly claim: Claim
  /** True if the write brings the file. */
  readonly brings: boolean
  /** Documents whose writes bring the file now: they keep their entries, although they do not describe it yet. */
  readonly bringing?: readonly string[] | undefined
}

/** @param own the folder of the file */
async function addDocument(
  own: string,
  { sha1, document, claim, brings, bringing }: Added,
): Promise<undefined | Problem> {
  const path = join(own, DOCUMENTS)
  try {
    // Even if the document is known: it may have described the file before.
    await rm(join(own, UNDESCRIBED), { force: true })
    const known = await givingDocumentsIn(path)
    if (known.includes(document)) return undefined
    if (known.length < MOST_DOCUMENTS) {
      await writeGivingDocuments(path, [...known, document])
      return undefined
    }
    const isUnwritten = (each: string): boolean => bringing?.includes(each) || claim.together?.includes(each) || false
    const owners = await claim.ownersAmong(sha1, known.filter((each) => !isUnwritten(each))) // prettier-ignore
    if (isFailure(owners)) return owners
    // Lists of earlier releases may be longer: the first of those that described the file gave it.
    const counts = (each: string): boolean => owners.has(each) || isUnwritten(each)
    const listed = known.length > MOST_DOCUMENTS ? known.filter(counts).slice(0, MOST_DOCUMENTS) : known
    const others = listed.filter((each) => !isUnwritten(each))
    const last = listed.length < MOST_DOCUMENTS ? '' : leaving(others, owners, { owner: claim.owner, brings })
    // The document is written all the same, but does not give the file.
    if (last === undefined) return undefined
    await writeGivingDocuments(path, [...listed.filter((each) => each !== last), document])
    return undefined
  } catch (error) {
    return notStored(error)
  }
}

export interface StoredFile {
  /** Lower-case hexadecimal. */
  readonly sha1: string
  readonly sha256: string
  /** Bytes. */
  readonly size: number
  /** When it was stored, in ms since the epoch. */
  readonly storedAt: number
}

export interface Files {
  /** Starts receiving a file (`expected`: its size in bytes, if known). Ends with `keep` or `drop`. */
  receive(expected?: number): Promise<Arriving | Problem>
  /**
   * Stores an arrived file for this document, like `addDocument`. `files.other-content` if another file has the same
   * SHA-1. Unless it fails, `release` must be called later.
   */
  keep(arrived: Arriving, document: string, claim: Claim): Promise<StoredFile | Problem>
  /**
   * Call it when the write that brought the file is over. If that was refused, and the file is new and neither brought
   * by another write nor described, it is removed at once: clients without rights must not fill the disk.
   */
  release(sha1: string, refused?: (sha1s: readonly string[]) => Promise<ReadonlySet<string> | Problem>): Promise<void>
  /** Throws if that cannot be read. */
  find(sha1: string): Promise<StoredFile | undefined>
  /** The bytes from `start` to `end`, both included. Opens the file only when the first piece is requested. */
  read(file: StoredFile, start: number, end: number): AsyncIterable<Uint8Array>
  /** The documents whose authors had the right to give access to this file. */
  documentsOf(sha1: string): Promise<ReadonlySet<string>>
  /** Adds such a document, if there is room for it. Call it before the document is written. */
  addDocument(sha1: string, document: string, claim: Claim): Promise<undefined | Problem>
  /** The document no longer gives access to the file. */
  removeDocument(sha1: string, document: string): Promise<undefined | Problem>
  /**
   * Removes files that have not been described for a day. @param described returns those of these that are described
   */
  removeUndescribed(described: (sha1s: readonly string[]) => Promise<ReadonlySet<string> | Problem>): Promise<number>
}

const DAY_MS = 24 * 60 * 60 * 1000
const SHA1 = /^[0-9a-f]{40}$/
const SHA256 = /^[0-9a-f]{64}$/
/** Its modification time is when a sweep first found that no document describes the file. */
const UNDESCRIBED = 'undescribed'
const DOCUMENTS = 'documents'
/** How many files are checked at once. */
const BATCH = 100

export const isSha1 = (text: string): boolean => SHA1.test(text)

/** The location of an application's files. */
interface Place {
  readonly folder: string
  readonly now: () => number
}

/** The folder is created with the first file. */
export function makeFiles(folder: string, now: () => number): Files {
  const place = { folder, now }
  const arriving = join(folder, 'arriving')
  const inTurn = makeTurns()
  const underWay: UnderWay = new Map()
  let sweeping: Promise<unknown> | undefined
  /** Removes files left by a killed process. Runs before the first file of this process arrives. */
  const sweepArriving = async (): Promise<void> => {
    for (const name of await namesIn(arriving)) await rm(join(arriving, name), { force: true })
  }
  return {
    async receive(expected) {
      const made = await mkdir(arriving, { recursive: true, mode: 0o700 }).catch(notStored)
      if (typeof made === 'object') return made
      await (sweeping ??= sweepArriving().catch(() => undefined))
      return openArriving(arriving, expected)
    },
    async keep(arrived, document, claim) {
      const flushed = await arrived.finish()
      const kept = flushed ?? (await inTurn(() => keepFor(place, arrived, { document, claim }, underWay)))
      await arrived.drop()
      return kept
    },
    release: (sha1, refused) => release({ place, inTurn, underWay }, sha1, refused),
    find: (sha1) => find(place, sha1),
    async *read({ sha1, sha256, size }, start, end) {
      if (size > 0)
        yield* createReadStream(join(folderOf(place, sha1), sha256), { start, end }) as AsyncIterable<Uint8Array>
    },
    // If the list cannot be read, no document gives access.
    documentsOf: async (sha1) =>
      new Set(await givingDocumentsIn(join(folderOf(place, sha1), DOCUMENTS)).catch(() => [])),
    addDocument: (sha1, document, claim) =>
      inTurn(() => {
        const now = underWay.get(sha1)
        if (now) now.isNew = false
        return addDocument(folderOf(place, sha1), { sha1, document, claim, brings: false, bringing: now?.documents })
      }),
    removeDocument: (sha1, document) => inTurn(() => removeDocument(join(folderOf(place, sha1), DOCUMENTS), document)),
    async removeUndescribed(described) {
      let removed = 0
      const all = await allIn(folder)
      for (let at = 0; at < all.length; at += BATCH) {
        const some = all.slice(at, at + BATCH)
        // Uploads wait for this, so that no file is treated as undescribed that was stored after the query.
        const failed = await inTurn(async () => {
          const known = await described(some)
          if (isFailure(known)) return known
          for (const sha1 of some) if (await sweepOne(place, sha1, known.has(sha1))) removed++
          return undefined
        })
        if (failed) break
      }
      return removed
    },
  }
}

const folderOf = ({ folder }: Place, sha1: string): string => join(folder, sha1.slice(0, 2), sha1)

async function find(place: Place, sha1: string): Promise<StoredFile | undefined> {
  if (!isSha1(sha1)) return undefined
  const own = folderOf(place, sha1)
  const sha256 = (await namesIn(own)).find((name) => SHA256.test(name))
  const found = sha256 === undefined ? undefined : await stat(join(own, sha256)).catch(orThrow)
  return found && { sha1, sha256: sha256!, size: found.size, storedAt: found.mtimeMs }
}

async function store(place: Place, arrived: Arriving): Promise<StoredFile | Problem> {
  const { sha1, sha256 } = arrived.digests()
  const own = folderOf(place, sha1)
  try {
    await mkdir(own, { recursive: true, mode: 0o700 })
    const known = (await namesIn(own)).filter((name) => SHA256.test(name))
    if (known.some((name) => name !== sha256)) return OTHER_CONTENT
    if (known.length === 0) {
      await rename(arrived.path, join(own, sha256))
      await setTime(place, join(own, sha256))
      for (const each of [own, join(own, '..'), place.folder]) await flushFolder(each)
    }
    return (await find(place, sha1))!
  } catch (error) {
    return notStored(error)
  }
}

/**
 * The writes bringing a file now, by its SHA-1, and the last of their documents. `isNew`: the file came with them, and none has
 * succeeded yet.
 */
type UnderWay = Map<string, { writes: number; isNew: boolean; documents: readonly string[] }>

async function keepFor(
  place: Place,
  arrived: Arriving,
  { document, claim }: Pick<Added, 'document' | 'claim'>,
  underWay: UnderWay,
): Promise<StoredFile | Problem> {
  const { sha1 } = arrived.digests()
  const before = await find(place, sha1).catch(notStored)
  if (before && isFailure(before)) return before
  const isNew = !before
  const kept = await store(place, arrived)
  const bringing = underWay.get(sha1)
  const added = { sha1, document, claim, brings: true, bringing: bringing?.documents }
  const failed = isFailure(kept) ? kept : await addDocument(folderOf(place, sha1), added)
  if (failed && isNew) await rm(folderOf(place, sha1), { recursive: true, force: true })
  if (failed) return failed
  const documents = [...(bringing?.documents ?? []), document].slice(-SHARE)
  if (bringing) Object.assign(bringing, { writes: bringing.writes + 1, documents })
  else underWay.set(sha1, { writes: 1, isNew, documents })
  return kept
}

async function release(
  { place, inTurn, underWay }: { place: Place; inTurn: ReturnType<typeof makeTurns>; underWay: UnderWay },
  sha1: string,
  refused: Parameters<Files['release']>[1],
): Promise<void> {
  const bringing = underWay.get(sha1)
  if (!bringing) return
  if (!refused) bringing.isNew = false
  // Asked before `inTurn`, since other uploads must not wait for the store. Until the answer, this write counts as
  // unfinished.
  const described = bringing.isNew ? await refused!([sha1]) : undefined
  await inTurn(async () => {
    bringing.writes--
    if (bringing.writes > 0) return
    underWay.delete(sha1)
    const isUndescribed = described && !isFailure(described) && !described.has(sha1)
    if (bringing.isNew && isUndescribed) await rm(folderOf(place, sha1), { recursive: true, force: true })
  })
}

/** By the gateway's clock. */
function setTime({ now }: Place, path: string): Promise<void> {
  const time = new Date(now())
  return utimes(path, time, time)
}

async function sweepOne(place: Place, sha1: string, isDescribed: boolean): Promise<boolean> {
  const mark = join(folderOf(place, sha1), UNDESCRIBED)
  const since = await stat(mark).catch(orThrow)
  if (isDescribed) {
    if (since) await rm(mark, { force: true })
    return false
  }
  if (!since) {
    await (await open(mark, 'w', 0o600)).close()
    await setTime(place, mark)
    return false
  }
  if (place.now() - since.mtimeMs < DAY_MS) return false
  await rm(folderOf(place, sha1), { recursive: true, force: true })
  return true
}

const OTHER_CONTENT = problem('files.other-content', 'Another file with the same SHA-1 is stored here already.')

/** One task at a time. */
function makeTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const done = last.then(task)
    last = done.catch(() => undefined)
    return done
  }
}

/** Throws any error except that there is no such file: a file that cannot be read must not count as missing. */
function orThrow(error: unknown): undefined {
  if (!isAbsent(error)) throw error
  return undefined
}

/** Throws if the folder cannot be read. */
const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(orThrow)) ?? []

async function allIn(folder: string): Promise<string[]> {
  const all: string[] = []
  for (const start of await namesIn(folder)) {
    if (/^[0-9a-f]{2}$/.test(start)) all.push(...(await namesIn(join(folder, start))).filter(isSha1))
  }
  return all
}
