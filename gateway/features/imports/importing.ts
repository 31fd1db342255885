// What all imports share: the folder for their sources, and how many are read, run and wait at once.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../../configuration/settings.js'
import type { Gateway } from '../../gateway.js'
import type { GuardedFetch } from '../../../policies/fetch/guarded-fetch.js'
import { part } from '../../part.js'
import { makeSharedPlaces, type TakePlaceOf } from '../../places.js'
import { makeTurns, type Turns } from '../../stores/connection-slots.js'

/** Data from other places (spec 4.3: add, transform, importer). */
export interface Importing {
  /** For sources, which may be large and slow. */
  readonly fetcher: GuardedFetch
  /** Bytes of a source. */
  readonly maxImport: number
  /** Where sources are on disk while they are read, so many at once. */
  readonly folder: string
  readonly takePlace: TakePlaceOf
  /** Work in the background, by the URL of its document. */
  readonly runs: Map<string, ImportRun>
  readonly turns: Turns
}

export interface ImportRun {
  readonly agent: string | undefined
  readonly network: string
  readonly plan: ImportedSource
  /** ms since the epoch. */
  readonly startedAt: number
  readonly progress: ImportProgress
  cancel(): void
  /** Ends it without a trace: the next process continues it. */
  stop(): void
  readonly ended: Promise<unknown>
}

export interface ImportedSource {
  readonly kind: 'csv' | 'rdf'
  /** The IRI of the source. */
  readonly base: string
  /** The document, or the container, that gets what has no graph. */
  readonly name: string | undefined
  readonly into: string | undefined
}

/** A problem with a part of a source, for people. */
export interface ImportFinding {
  readonly line?: number
  readonly column?: number
  /** The document that was refused. */
  readonly document?: string
  readonly detail: string
}

export interface ImportProgress {
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  /** Rows of a CSV, triples of RDF. */
  rows: number
  /** Bytes of the source that were read, of so many. */
  bytes: number
  readonly size: number
  /** Documents that were made of the rows, and what became of them. */
  documents: number
  written: number
  unchanged: number
  refused: number
  /** The first ones, and how many there are. */
  readonly findings: ImportFinding[]
  found: number
  reason?: string
}

export const IMPORTING = part<Importing>('imports')

/** Each source takes room on disk while it is read. */
const PLACES = { each: 4, network: 8, all: 16 } as const

/** Imports that run at once. Those that wait are bounded before (`mayStart`): this is four times as much. */
const [AT_ONCE, WAITING] = [2, 256]

/** Removes everything that an earlier process has left. */
export function openImporting(
  { data, maxImport }: Pick<Settings, 'data' | 'maxImport'>,
  fetcher: GuardedFetch,
): Importing {
  const folder = join(data, 'imports', 'arriving')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return {
    fetcher,
    maxImport,
    folder,
    takePlace: makeSharedPlaces(PLACES),
    runs: new Map(),
    turns: makeTurns(AT_ONCE, WAITING, true),
  }
}

export const hasNotEnded = ({ progress: { state } }: ImportRun): boolean => state === 'running' || state === 'waiting'

/** Imports that run or wait: each keeps its source on disk. */
const MOST = { each: 16, network: 32, all: 64 } as const

export function mayStart(gateway: Pick<Gateway, 'parts'>, agent: string | undefined, network: string): boolean {
  const all = [...IMPORTING.of(gateway).runs.values()].filter(hasNotEnded)
  const count = (isOne: (run: ImportRun) => boolean): number => all.filter(isOne).length
  return (
    all.length < MOST.all &&
    count((run) => run.network === network) < MOST.network &&
    count((run) => run.agent === agent) < MOST.each
  )
}
