// Shared by all imports: the folder for their sources, and the limits on reading, running and waiting ones.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../../configuration/settings.js'
import type { Gateway } from '../../gateway.js'
import type { GuardedFetch } from '../../../policies/fetch/guarded-fetch.js'
import { part } from '../../part.js'
import { makeSharedPlaces, type TakePlaceOf } from '../../places.js'
import { makeTurns, type Turns } from '../../stores/connection-slots.js'

/** Fetches data from other places (spec 4.3: add, transform, importer). */
export interface Importing {
  /** For sources, which may be large and slow. */
  readonly fetcher: GuardedFetch
  /** The most bytes of a source. */
  readonly maxImport: number
  /** The folder for sources while they are read; the number at a time is limited. */
  readonly folder: string
  readonly takePlace: TakePlaceOf
  /** Imports in the background, by the URL of their document. */
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
  /** Stops the import without recording it; the next process continues it. */
  stop(): void
  readonly ended: Promise<unknown>
}

export interface ImportedSource {
  readonly kind: 'csv' | 'rdf'
  /** The IRI of the source. */
  readonly base: string
  /** The document, or the container, for triples without a graph. */
  readonly name: string | undefined
  readonly into: string | undefined
}

/** A problem in a part of a source, described for people. */
export interface ImportFinding {
  readonly line?: number
  readonly column?: number
  /** The refused document; '' for triples without one. */
  readonly document?: string
  readonly detail: string
}

export interface ImportProgress {
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  /** Rows of a CSV, or triples of RDF. */
  rows: number
  /** Bytes of the source read so far, and in all. */
  bytes: number
  readonly size: number
  /** Documents made from the rows, and their outcomes. */
  documents: number
  written: number
  unchanged: number
  refused: number
  /** The first findings, and their number. */
  readonly findings: ImportFinding[]
  found: number
  reason?: string
}

export const IMPORTING = part<Importing>('imports')

/** Limits on sources being read, since each takes disk space. */
const PLACES = { each: 4, network: 8, all: 16 } as const

/**
 * How many imports run at a time, and how many may wait. `mayStart` already refuses at a quarter of the second number.
 */
const [AT_ONCE, WAITING] = [2, 256]

/** Removes everything that an earlier process left behind. */
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
    turns: makeTurns(AT_ONCE, WAITING, { lends: true }),
  }
}

export const hasNotEnded = ({ progress: { state } }: ImportRun): boolean => state === 'running' || state === 'waiting'

/** Limits on running and waiting imports, since each keeps its source on disk. */
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
