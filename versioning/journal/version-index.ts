// In charge of the version index: which commits changed which file, and their positions on the branch. It repeats the
// repository's own information, and can be built from it again.
import type { Setback } from '../failure.js'
import type { Version } from '../change.js'
import type { Trailers } from '../git/commit-message.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'

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
  commits(): number
  /** Oldest first. Throws SetbackError, as all reading does. */
  versions(path: string): Promise<readonly Version[]>
  /** The newest version with content: of a deleted document the one before its deletion. Costs the same for any number. */
  lastContent(path: string): Promise<Version | undefined>
  positionOf(commit: string): Promise<number | undefined>
  /** Git's ids of the files at the head, in the order of the paths. */
  blobsOf(paths: readonly string[]): Promise<readonly (string | undefined)[]>
  /**
   * Adds commits that follow the head, oldest first. A small addition is one atomic batch with `alongside`. A large one
   * is several, of which the last has `alongside` and the new head: after a failure the others may be added again.
   */
  add(commits: readonly IndexedCommit[], alongside: readonly DatabaseOperation[]): Promise<undefined | Setback>
  /** Forgets everything. */
  clear(): Promise<undefined | Setback>
}

/** The newest version of a file. */
type Tip = readonly [seq: number, position: number, time: number, blob: string | null]
type StoredVersion = readonly [
  commit: string,
  position: number,
  blob: string | null,
  time: number,
  agent: string | null,
  method: string | null,
  added: number | null,
  removed: number | null,
  restores?: string,
]
interface IndexHead {
  readonly of: string
  readonly commit: string
  readonly position: number
}

const HEAD = 'h'
const COMMIT = 'k'
const TIP = 't'
const VERSION = 'v'
/** Git has no path with NUL in it, so that the range of a path has no keys of another. */
const END = '\0'
const versionKey = (path: string, seq: number): string => VERSION + path + END + seq.toString(16).padStart(8, '0')
const SLICE = 1000
/** The most operations that are written at once: other writes must not wait long. */
const BATCH = 4000

interface IndexState {
  readonly database: Database
  readonly subject: string
  head: IndexHead | undefined
}

/** @param subject the repository and the base that the index is about: an index of another subject is not used */
export async function openVersionIndex(database: Database, subject: string): Promise<VersionIndex> {
  const stored = await database.get(HEAD)
  const head = stored === undefined ? undefined : (JSON.parse(stored) as IndexHead)
  const state: IndexState = { database, subject, head: head?.of === subject ? head : undefined }

  return {
    head: () => state.head?.commit,
    commits: () => (state.head ? state.head.position + 1 : 0),
    async versions(path) {
      const versions: Version[] = []
      for await (const [key, value] of database.range(VERSION + path + END)) {
        versions.push(versionFrom(Number.parseInt(key.slice(-8), 16), JSON.parse(value) as StoredVersion))
      }
      return versions
    },
    async lastContent(path) {
      const tip = (await tipsOf(database, [path])).get(path)
      if (!tip) return undefined
      const seq = tip[3] === null ? tip[0] - 1 : tip[0]
      const value = await database.get(versionKey(path, seq))
      return value === undefined ? undefined : versionFrom(seq, JSON.parse(value) as StoredVersion)
    },
    async positionOf(commit) {
      const position = await database.get(COMMIT + commit)
      return position === undefined ? undefined : Number(position)
    },
    async blobsOf(paths) {
      const tips = await tipsOf(database, paths)
      return paths.map((path) => tips.get(path)?.[3] ?? undefined)
    },
    add: (commits, alongside) => addCommits(state, commits, alongside),
    async clear() {
      state.head = undefined
      const failed = await database.write([del(HEAD)], false, 'drop')
      if (failed) return failed
      for (const kind of [COMMIT, TIP, VERSION]) await database.clear(kind)
      return undefined
    },
  }
}

async function tipsOf(database: Database, paths: readonly string[]): Promise<Map<string, Tip | undefined>> {
  const tips = new Map<string, Tip | undefined>()
  for (let i = 0; i < paths.length; i += SLICE) {
    const slice = paths.slice(i, i + SLICE)
    const found = await database.getMany(slice.map((path) => TIP + path))
    slice.forEach((path, j) => tips.set(path, found[j] === undefined ? undefined : (JSON.parse(found[j]) as Tip)))
  }
  return tips
}

async function addCommits(
  state: IndexState,
  commits: readonly IndexedCommit[],
  alongside: readonly DatabaseOperation[],
): Promise<undefined | Setback> {
  const { database, subject } = state
  const tips = await tipsOf(database, [...new Set(commits.flatMap(({ files }) => files.map(({ path }) => path)))])
  let position = state.head?.position ?? -1
  let operations: DatabaseOperation[] = []
  /** Paths whose newest version is among the operations: one tip each, however many versions. */
  const changed = new Set<string>()
  const gathered = (): DatabaseOperation[] => {
    const all = [...operations, ...Array.from(changed, (path) => put(TIP + path, JSON.stringify(tips.get(path))))]
    operations = []
    changed.clear()
    return all
  }
  for (const commit of commits) {
    position++
    operations.push(put(COMMIT + commit.commit, String(position)))
    for (const { path, blob } of commit.files) {
      const tip = nextTip(tips.get(path), commit, position, blob)
      if (!tip) continue
      tips.set(path, tip)
      changed.add(path)
      operations.push(put(versionKey(path, tip[0]), JSON.stringify(storedFrom(commit, tip))))
      if (operations.length + changed.size < BATCH) continue
      const failed = await database.write(gathered(), false, 'drop')
      if (failed) return failed
    }
  }
  const next = commits.length > 0 ? { of: subject, commit: commits.at(-1)!.commit, position } : state.head
  if (next) operations.push(put(HEAD, JSON.stringify(next)))
  const failed = await database.write([...gathered(), ...alongside], false, 'drop')
  if (!failed) state.head = next
  return failed
}

/** The version of a file that a commit makes; undefined where it changes nothing, or was added before. */
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

function versionFrom(seq: number, stored: StoredVersion): Version {
  const [commit, position, blob, time, agent, method, added, removed, restores] = stored
  return {
    seq,
    commit,
    position,
    blob: blob ?? undefined,
    time,
    agent: agent ?? undefined,
    method: method ?? undefined,
    added: added ?? undefined,
    removed: removed ?? undefined,
    ...(restores !== undefined && { restores }),
  }
}

/** The whole index, for comparisons. */
export async function dumpIndex(database: Database): Promise<readonly string[]> {
  const lines: string[] = []
  for (const kind of [HEAD, COMMIT, TIP, VERSION]) {
    for await (const [key, value] of database.range(kind)) lines.push(`${key} ${value}`)
  }
  return lines
}
