// The versions of a document that an agent may see. The list may have any length and is read on demand. A deletion ends
// a life of the document; some lives are shown, others are not (visible-versions.ts).
import { createHash } from 'node:crypto'
import type { Version } from '../../versioning/change.js'
import { caughtSetback, orThrow, type Setback } from '../../versioning/failure.js'
import { MOST_DELETIONS, type History, type Outline } from '../../versioning/history.js'
import { closestPlace } from '../../versioning/memento/time-gate.js'
import { mementosOf, timeMapUri, type Around, type Memento, type TimeMap } from '../../versioning/memento/time-map.js'

/** Versions with successive numbers. */
export interface Life {
  readonly from: number
  /** The number after the last. */
  readonly to: number
  /** True if the last version deleted the document. */
  readonly isEnded: boolean
}

/** The known lives, oldest first. If there are more, the first starts after 0. */
export function livesOf({ count, deletions }: Pick<Outline, 'count' | 'deletions'>): readonly Life[] {
  const starts = [deletions.length < MOST_DELETIONS ? 0 : deletions[0]! + 1]
  const known = deletions.length < MOST_DELETIONS ? deletions : deletions.slice(1)
  for (const deletion of known) starts.push(deletion + 1)
  const lives = starts.map((from, i) => ({ from, to: starts[i + 1] ?? count, isEnded: i < known.length }))
  return lives.filter(({ from, to }) => from < to)
}

/** The number of the last version with content. */
export const lastContentOf = ({ to, isEnded }: Life): number => (isEnded ? to - 2 : to - 1)

/** Places count from 0, the oldest visible version. */
export interface VersionList {
  readonly count: number
  /** True if commits of the document are still pending. */
  readonly pending: boolean
  /** False if the version is hidden. `isLater`: it was added after the list was made. */
  has(version: Version): boolean
  isLater(version: Version): boolean
  /** The versions from one place up to, but not including, another. */
  read(from: number, to: number): Promise<readonly Version[] | Setback>
  /**
   * Identifies the list. A commit's id depends on all its ancestors; if some versions are hidden, the name depends only
   * on the visible ones.
   */
  name(): Promise<string | Setback>
  around(version?: Version): Promise<Around | Setback>
  closest(datetime: number | undefined): Promise<Memento | undefined | Setback>
  /** The number of TimeMaps, each with at most VERSIONS_PER_MAP versions. */
  readonly maps: number
  /** @param number from 1 for the oldest; undefined for the newest */
  timeMap(number: number | undefined): Promise<TimeMap | Setback>
}

export const VERSIONS_PER_MAP = 1000

/** The state of reading a list. */
interface Reading {
  readonly history: Pick<History, 'numbered'>
  readonly document: string
  readonly lives: readonly Life[]
  readonly count: number
}

/** @param lives the visible lives */
export function makeVersionList(
  history: Pick<History, 'numbered'>,
  document: string,
  outline: Outline,
  lives: readonly Life[],
): VersionList {
  const count = lives.reduce((sum, { from, to }) => sum + to - from, 0)
  const reading: Reading = { history, document, lives, count }
  const caught =
    <A extends unknown[], T>(read: (reading: Reading, ...given: A) => Promise<T>) =>
    (...given: A): Promise<T | Setback> =>
      read(reading, ...given).catch(caughtSetback)
  return {
    count,
    pending: outline.pending,
    has: ({ seq }) => placeOf(reading, seq) !== undefined,
    isLater: ({ seq }) => seq >= outline.count,
    read: caught((of, from: number, to: number) => read(of, range(from, to))),
    name: caught((of) => nameOf(of, count === outline.count)),
    around: caught(aroundOf),
    closest: caught(closest),
    maps: mapsOf(reading),
    timeMap: caught(timeMap),
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)

function numberAt({ lives }: Reading, place: number): number {
  let before = 0
  for (const { from, to } of lives) {
    if (place < before + to - from) return from + place - before
    before += to - from
  }
  return -1
}

function placeOf({ lives }: Reading, number: number): number | undefined {
  let before = 0
  for (const { from, to } of lives) {
    if (number >= from && number < to) return before + number - from
    before += to - from
  }
  return undefined
}

function isMemento(of: Reading, place: number): boolean {
  const number = numberAt(of, place)
  return !of.lives.some(({ to, isEnded }) => isEnded && to - 1 === number)
}

/** The nearest place of a memento. A deletion always has mementos on both sides. */
const mementoFrom = (of: Reading, place: number, step: 1 | -1): number => (isMemento(of, place) ? place : place + step)

/** Throws SetbackError, as the functions below do. */
const read = async (of: Reading, places: readonly number[]): Promise<readonly Version[]> =>
  orThrow(
    await of.history.numbered(
      of.document,
      places.filter((place) => place >= 0 && place < of.count).map((place) => numberAt(of, place)),
    ),
  )

async function mementosAt(of: Reading, places: readonly number[]): Promise<(Memento | undefined)[]> {
  const found = new Map(mementosOf(await read(of, [...new Set(places)])).map((memento) => [memento.seq, memento]))
  return places.map((place) => (place < 0 ? undefined : found.get(numberAt(of, place))))
}

async function nameOf(of: Reading, isAll: boolean): Promise<string> {
  if (isAll) return (await read(of, [of.count - 1]))[0]?.commit ?? 'none'
  const ends = of.lives.flatMap(({ from, to }) => [from, to - 1])
  const commits = orThrow(await of.history.numbered(of.document, ends)).map(({ commit }) => commit)
  return createHash('sha256').update(commits.join(' ')).digest('base64url')
}

async function aroundOf(of: Reading, version?: Version): Promise<Around> {
  const place = version && placeOf(of, version.seq)
  const [first, last, firstInMap, prev, next] = await mementosAt(of, [
    0,
    mementoFrom(of, of.count - 1, -1),
    mementoFrom(of, firstOf(mapsOf(of)), 1),
    ...(place === undefined ? [] : [mementoFrom(of, place - 1, -1), mementoFrom(of, place + 1, 1)]),
  ])
  return { first, last, firstInMap, prev, next }
}

async function closest(of: Reading, datetime: number | undefined): Promise<Memento | undefined> {
  const timeAt = async (place: number): Promise<number> => (await read(of, [place]))[0]?.time ?? Infinity
  const timeline = { count: of.count, timeAt, isMemento: (place: number) => isMemento(of, place) }
  const place = await closestPlace(timeline, datetime)
  return place === undefined ? undefined : (await mementosAt(of, [place]))[0]
}

const mapsOf = ({ count }: Reading): number => Math.max(1, Math.ceil(count / VERSIONS_PER_MAP))
const firstOf = (number: number): number => (number - 1) * VERSIONS_PER_MAP

async function timeMap(of: Reading, wanted: number | undefined): Promise<TimeMap> {
  const { document, count } = of
  const maps = mapsOf(of)
  const uriOf = (number: number): string => timeMapUri(document, number === maps ? undefined : number)
  // The times of the first and last memento in each TimeMap; one that has none covers the times of its deletions.
  const ends = range(1, maps + 1).flatMap((number) => {
    const [first, last] = [firstOf(number), Math.min(firstOf(number + 1), count) - 1]
    return [Math.min(mementoFrom(of, first, 1), last), Math.max(mementoFrom(of, last, -1), first)]
  })
  const found = new Map((await read(of, [...new Set(ends)])).map(({ seq, time }) => [seq, time]))
  const times = ends.map((place) => (place < 0 ? 0 : (found.get(numberAt(of, place)) ?? 0)))
  const rangeOf = (number: number) => ({ from: times[2 * number - 2]!, until: times[2 * number - 1]! })
  const number = wanted ?? maps
  const from = firstOf(number)
  const [before] = await mementosAt(of, [mementoFrom(of, from - 1, -1)])
  return {
    ...{ document, uri: timeMapUri(document, wanted), ...rangeOf(number) },
    versions: await read(of, range(from, Math.min(firstOf(number + 1), count))),
    before,
    others: range(1, maps + 1).flatMap((other) => (other === number ? [] : [{ uri: uriOf(other), ...rangeOf(other) }])),
    isOldest: number === 1,
    isNewest: number === maps,
  }
}
