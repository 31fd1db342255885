// The version index: which commits changed which file, and their positions on the branch. All of it comes from the
// repository, and can be built from it again.
import { orThrow, type Setback } from '../failure.js'
import type { Version } from '../change.js'
import type { Trailers } from '../git/commit-message.js'
import { MOST_DELETIONS, type Outline } from '../history.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'
import {
  DELETION,
  END,
  IS_DELETION,
  numbered,
  storedNumberIn,
  numberKey,
  TIP,
  tipsOf,
  VERSION,
  versionAsOf,
  versionFrom,
  versionKey,
  type StoredVersion,
  type Tip,
} from './stored-versions.js'

/** The part of a commit that the index stores. */
export interface IndexedCommit extends Pick<Trailers, 'agent' | 'method' | 'added' | 'removed' | 'restores'> {
  readonly commit: string
  /** ms since the epoch, whole seconds. */
  readonly time: number
  /** The files of documents; `blob` undefined: removed. */
  readonly files: readonly { readonly path: string; readonly blob: string | undefined }[]
}

export interface VersionIndex {
  /** The newest commit in the index; undefined when it is empty. */
  head(): string | undefined
  /** When the head was added, ms since the epoch; undefined if that is not known. */
  addedAt(): Promise<number | undefined>
  commits(): number
  /** Takes the same time for any number of versions. Throws SetbackError, as all reading does. */
  outline(path: string): Promise<Omit<Outline, 'pending'>>
  /** The versions with these numbers, as far as they exist. */
  numbered(path: string, numbers: readonly number[]): Promise<readonly Version[]>
  /** The newest version at or before a position on the branch, by binary search. */
  asOf(path: string, position: number): Promise<Version | undefined>
  /**
   * The newest version with content; for a deleted document, the version before its deletion. Takes the same time for
   * any number of versions.
   */
  lastContent(path: string): Promise<Version | undefined>
  positionOf(commit: string): Promise<number | undefined>
  /** The positions of all commits of the branch whose ids begin with these digits. */
  positionsOf(digits: string): AsyncIterable<number>
  /** Git's ids of the files at the head, in the order of the paths. */
  blobsOf(paths: readonly string[]): Promise<readonly (string | undefined)[]>
  /**
   * Adds commits that follow the head, oldest first. A small addition is one atomic batch with `alongside`. A large one
   * is several batches: the last has `alongside` and the new head, so after a failure the others can be added again.
   */
  add(commits: readonly IndexedCommit[], alongside: readonly DatabaseOperation[]): Promise<undefined | Setback>
  /** Forgets everything. */
  clear(): Promise<undefined | Setback>
}

interface IndexHead {
  readonly of: string
  readonly commit: string
  readonly position: number
  /** Absent if an earlier release wrote the index: then it lacks the deletions. */
  readonly hasDeletions?: true
  /** Absent if an earlier release wrote the index: then it may have commits of another repository. */
  readonly isOfOne?: true
}

const HEAD = 'h'
/** When the head was added. Not a part of the head, since an index that is built again is equal. */
const ADDED = 'a'
const COMMIT = 'k'
/** The most operations that are written at once, since other writes must not wait long. */
const BATCH = 4000

interface IndexState extends IndexOptions {
  readonly database: Database
  /** The tips of files that were read or added lately: each write asks for one. */
  readonly tips: Map<string, Tip | undefined>
  /** How often the index has changed. */
  changes: number
  head: IndexHead | undefined
}

export interface IndexOptions {
  /** The repository and base that the index describes: an index with another subject is not used. */
  readonly subject: string
  /** ms since the epoch. */
  readonly now: () => number
  /** Of each file only the newest version is kept, and no commit but the last. */
  readonly onlyNewest?: boolean
}

export async function openVersionIndex(database: Database, options: IndexOptions): Promise<VersionIndex> {
  const { subject, onlyNewest } = options
  const stored = await database.get(HEAD)
  const head = stored === undefined ? undefined : (JSON.parse(stored) as IndexHead)
  const recent = { tips: new Map<string, Tip | undefined>(), changes: 0 }
  const isUsed = head?.of === subject && (head.isOfOne ?? (onlyNewest === true || (await isOfOne(database, head))))
  const state: IndexState = { ...options, ...recent, database, head: isUsed ? head : undefined }
  // An empty repository has no first commit with which the versions of another repository would be cleared.
  if (!state.head) orThrow((await clear(state)) ?? 'cleared')
  else if (!state.head.hasDeletions || !state.head.isOfOne) await completeHead(state, state.head)

  return {
    head: () => state.head?.commit,
    async addedAt() {
      const stored = await database.get(ADDED)
      return stored === undefined ? undefined : Number(stored)
    },
    commits: () => (state.head ? state.head.position + 1 : 0),
    async outline(path) {
      const tip = (await tipsIn(state, [path])).get(path)
      const deletions: number[] = []
      if (tip)
        for await (const [key] of database.range(DELETION + path + END, { newest: MOST_DELETIONS }))
          deletions.unshift(storedNumberIn(key))
      return { count: tip ? tip[0] + 1 : 0, deletions }
    },
    numbered: (path, numbers) => numbered(database, path, numbers),
    asOf: (path, position) => versionAsOf(database, path, position),
    async lastContent(path) {
      const tip = (await tipsIn(state, [path])).get(path)
      if (!tip) return undefined
      const seq = tip[3] === null ? tip[0] - 1 : tip[0]
      const value = await database.get(versionKey(path, seq))
      return value === undefined ? undefined : versionFrom(seq, JSON.parse(value) as StoredVersion)
    },
    async positionOf(commit) {
      if (onlyNewest) return commit === state.head?.commit ? state.head.position : undefined
      const position = await database.get(COMMIT + commit)
      return position === undefined ? undefined : Number(position)
    },
    async *positionsOf(digits) {
      for await (const [, position] of database.range(COMMIT + digits)) yield Number(position)
    },
    async blobsOf(paths) {
      const tips = await tipsIn(state, paths)
      return paths.map((path) => tips.get(path)?.[3] ?? undefined)
    },
    add: (commits, alongside) => addCommits(state, commits, alongside),
    clear: () => clear(state),
  }
}

async function clear(state: IndexState): Promise<undefined | Setback> {
  const { database } = state
  state.head = undefined
  noteChange(state, undefined)
  const failed = await database.write([del(HEAD), del(ADDED)], false, 'drop')
  if (failed) return failed
  for (const kind of [COMMIT, TIP, VERSION, DELETION]) await database.clear(kind)
  return undefined
}

/** False if the index has more commits than its head is the last of: others are from another repository. */
async function isOfOne(database: Database, { position }: IndexHead): Promise<boolean> {
  let left = position + 1
  for await (const [commit] of database.range(COMMIT)) if (commit.length > 0 && left-- === 0) return false
  return true
}

/** Adds to an index of an earlier release what it lacks. Throws SetbackError. */
async function completeHead(state: IndexState, head: IndexHead): Promise<void> {
  const { database } = state
  let operations: DatabaseOperation[] = []
  const write = async (): Promise<void> => {
    orThrow((await database.write(operations, false, 'drop')) ?? 'written')
    operations = []
  }
  const versions = head.hasDeletions ? [] : database.range(VERSION)
  for await (const [key, value] of versions) {
    if (IS_DELETION.test(value)) operations.push(put(DELETION + key.slice(VERSION.length), ''))
    if (operations.length >= BATCH) await write()
  }
  const { of, commit, position } = head
  state.head = { of, commit, position, hasDeletions: true, isOfOne: true }
  operations.push(put(HEAD, JSON.stringify(state.head)))
  await write()
}

async function addCommits(
  state: IndexState,
  commits: readonly IndexedCommit[],
  alongside: readonly DatabaseOperation[],
): Promise<undefined | Setback> {
  const { database, subject, onlyNewest, now } = state
  const tips = await tipsIn(state, [...new Set(commits.flatMap(({ files }) => files.map(({ path }) => path)))])
  let position = state.head?.position ?? -1
  let operations: DatabaseOperation[] = []
  /** Paths with new versions: the newest of each is written once, however many there are. */
  const changed = new Set<string>()
  const gathered = (): DatabaseOperation[] => {
    const all = [...operations, ...Array.from(changed, (path) => put(TIP + path, JSON.stringify(tips.get(path))))]
    operations = []
    changed.clear()
    return all
  }
  for (const commit of commits) {
    position++
    if (!onlyNewest) operations.push(put(COMMIT + commit.commit, String(position)))
    for (const { path, blob } of commit.files) {
      const tip = nextTip(tips.get(path), commit, position, blob)
      if (!tip) continue
      tips.set(path, tip)
      changed.add(path)
      operations.push(put(versionKey(path, tip[0]), JSON.stringify(storedFrom(commit, tip))))
      if (onlyNewest) operations.push(del(versionKey(path, tip[0] - 1)))
      else if (tip[3] === null) operations.push(put(numberKey(DELETION, path, tip[0]), ''))
      if (operations.length + changed.size < BATCH) continue
      const failed = await database.write(gathered(), false, 'drop')
      if (failed) noteChange(state, undefined)
      if (failed) return failed
    }
  }
  const newest = commits.at(-1)
  const next = newest
    ? ({ of: subject, commit: newest.commit, position, hasDeletions: true, isOfOne: true } as const)
    : state.head
  if (next) operations.push(put(HEAD, JSON.stringify(next)))
  if (newest) operations.push(put(ADDED, String(now())))
  const failed = await database.write([...gathered(), ...alongside], false, 'drop')
  if (!failed) state.head = next
  noteChange(state, failed ? undefined : tips)
  return failed
}

const MOST_TIPS = 10_000

/** @param tips the newest of the changed files; undefined if they are not known */
function noteChange(state: IndexState, tips: ReadonlyMap<string, Tip | undefined> | undefined): void {
  state.changes++
  if (tips) remember(state, tips)
  else state.tips.clear()
}

function remember({ tips }: IndexState, read: ReadonlyMap<string, Tip | undefined>): void {
  if (tips.size + read.size > MOST_TIPS) tips.clear()
  if (read.size <= MOST_TIPS) for (const [path, tip] of read) tips.set(path, tip)
}

async function tipsIn(state: IndexState, paths: readonly string[]): Promise<Map<string, Tip | undefined>> {
  const { database, tips, changes } = state
  const missing = paths.filter((path) => !tips.has(path))
  const found = new Map(paths.map((path) => [path, tips.get(path)]))
  if (missing.length === 0) return found
  const read = await tipsOf(database, missing)
  for (const [path, tip] of read) found.set(path, tip)
  // The paths may have changed while they were read.
  if (changes === state.changes) remember(state, read)
  return found
}

/** The version of a file that a commit makes; undefined if the commit leaves it unchanged, or was added before. */
function nextTip(
  tip: Tip | undefined,
  { time }: IndexedCommit,
  position: number,
  blob: string | undefined,
): Tip | undefined {
  const [seq, known, since, current] = tip ?? [-1, -1, 0, null]
  if (known >= position || current === (blob ?? null)) return undefined
  return [seq + 1, position, Math.max(time, since), blob ?? null]
}

function storedFrom(commit: IndexedCommit, [, position, time, blob]: Tip): StoredVersion {
  const { agent = null, method = null, added = null, removed = null, restores } = commit
  const stored = [commit.commit, position, blob, time, agent, method, added, removed] as const
  return restores === undefined ? stored : [...stored, restores]
}

/** The whole index, for comparisons. */
export async function dumpIndex(database: Database): Promise<readonly string[]> {
  const lines: string[] = []
  for (const kind of [HEAD, COMMIT, TIP, VERSION, DELETION]) {
    for await (const [key, value] of database.range(kind)) lines.push(`${key} ${value}`)
  }
  return lines
}
