// The version index's entries about one file: their keys, their form, and reading them.
import type { Version } from '../change.js'
import { lastWhere } from '../memento/halving.js'
import type { Database } from './database.js'

/** The newest version of a file. */
export type Tip = readonly [seq: number, position: number, time: number, blob: string | null]
export const TIP = 't'
export const VERSION = 'v'
/** The numbers of the versions that deleted a file. */
export const DELETION = 'r'
/** Ends the path in a key. Git has no path with NUL in it, so the range of a path has no keys of another. */
export const END = '\0'
export const numberKey = (kind: string, path: string, seq: number): string =>
  kind + path + END + seq.toString(16).padStart(8, '0')
export const versionKey = (path: string, seq: number): string => numberKey(VERSION, path, seq)
export const storedNumberIn = (key: string): number => Number.parseInt(key.slice(-8), 16)
/** Keys that are read at once. */
const SLICE = 1000

export type StoredVersion = readonly [
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
export async function numbered(database: Database, path: string, numbers: readonly number[]): Promise<Version[]> {
  const found = await database.getMany(numbers.map((seq) => versionKey(path, seq)))
  return numbers.flatMap((seq, i) =>
    found[i] === undefined ? [] : [versionFrom(seq, JSON.parse(found[i]) as StoredVersion)],
  )
}

/** The newest version at or before a position on the branch. */
export async function versionAsOf(database: Database, path: string, position: number): Promise<Version | undefined> {
  const tip = (await tipsOf(database, [path])).get(path)
  if (!tip) return undefined
  const at = await lastWhere(tip[0] + 1, async (seq) => {
    const [version] = await numbered(database, path, [seq])
    return version !== undefined && version.position <= position
  })
  return at < 0 ? undefined : (await numbered(database, path, [at]))[0]
}

/** The entry of a version that deleted the file. */
export const IS_DELETION = /^\["\w+",\d+,null,/

export async function tipsOf(database: Database, paths: readonly string[]): Promise<Map<string, Tip | undefined>> {
  const tips = new Map<string, Tip | undefined>()
  for (let i = 0; i < paths.length; i += SLICE) {
    const slice = paths.slice(i, i + SLICE)
    const found = await database.getMany(slice.map((path) => TIP + path))
    slice.forEach((path, j) => tips.set(path, found[j] === undefined ? undefined : (JSON.parse(found[j]) as Tip)))
  }
  return tips
}

export function versionFrom(seq: number, stored: StoredVersion): Version {
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
