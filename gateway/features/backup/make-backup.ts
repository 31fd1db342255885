// Makes a backup of stores, data folder and histories: fixes their state at one moment while writes wait, then writes
// it to the archive while writes continue.
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { startGit, runGit, gitSetback } from '../../../versioning/git/git.js'
import type { DescribedApplication } from '../../configuration/dataspace.js'
import { historyPlaceOf, type HistoryPlace } from '../../configuration/history-place.js'
import { effectiveLines, type Settings } from '../../configuration/settings.js'
import { version } from '../../version.js'
import type { Problem } from '../../problem.js'
import type { GraphStore } from '../../stores/store.js'
import type { Traits } from '../../stores/traits.js'
import { beginDump, type Dump } from './dump-store.js'
import { BACKUP_FOLDER, freeze } from './freeze.js'
import {
  CONFIGURATION,
  DATA,
  FORMAT,
  historyParts,
  storeParts,
  type ArchivedApplication,
  type Manifest,
} from './manifest.js'
import { cutToParts } from './pieces.js'
import { orUnable, Unable } from './unable.js'
import { makeArchive, type ArchiveWriter } from './write-archive.js'

export interface BackedUp extends Pick<DescribedApplication, 'base' | 'kind' | 'service' | 'versioning'> {
  /** Undefined for a store in memory: its history has everything. */
  readonly stored?: { readonly store: GraphStore; readonly traits: Traits }
}

export interface BackupSettings {
  readonly settings: Settings
  readonly applications: readonly BackedUp[]
  /** Acts while nothing writes. */
  readonly hold: <T>(act: () => Promise<T>) => Promise<T | Problem>
  readonly signal: AbortSignal
  readonly now: () => number
  /** Called when the backup has removed its temporary files. */
  readonly ended?: () => void
}

interface FrozenHistory {
  readonly application: BackedUp
  readonly folder: string
  readonly branch: string
  readonly head: string
}

/** The state that the backup records. */
interface Frozen {
  readonly folder: string
  readonly dumps: ReadonlyMap<GraphStore, Dump>
  readonly histories: readonly FrozenHistory[]
  readonly time: string
}

/** The bytes of the archive. They begin once the state of everything in it has been recorded. Throws Unable. */
export async function makeBackup(of: BackupSettings): Promise<ReadableStream<Uint8Array>> {
  const { settings, now, signal } = of
  const folder = join(settings.data, BACKUP_FOLDER)
  const leaving = new AbortController()
  const ended = AbortSignal.any([signal, leaving.signal])
  const clean = async (): Promise<void> => {
    leaving.abort()
    await rm(folder, { recursive: true, force: true })
    of.ended?.()
  }
  try {
    const frozen = orUnable(await of.hold(() => freezeAll(of, folder, ended)), 'writes could not be held')
    const archive = makeArchive(now)
    signal.addEventListener('abort', () => archive.fail(signal.reason), { once: true })
    void writeOut(of, frozen, archive, ended)
      .catch((error: unknown) => archive.fail(error))
      .finally(clean)
    return archive.bytes
  } catch (error) {
    await clean()
    throw error
  }
}

/**
 * The journal is copied before the histories: a history newer than its journal is what a crash leaves, and a start
 * corrects it.
 */
async function freezeAll(
  { settings, applications, now }: BackupSettings,
  folder: string,
  signal: AbortSignal,
): Promise<Frozen> {
  const time = new Date(now()).toISOString()
  const dumps = new Map<GraphStore, Dump>()
  for (const { stored } of applications)
    if (stored && !dumps.has(stored.store)) {
      const dump = await beginDump(stored, signal)
      dumps.set(stored.store, orUnable(dump, `the triplestore ${stored.store.name}`))
    }
  const places = applications.map((application) => ({ application, place: historyPlaceOf(application, settings) }))
  const repositories = places.map(({ place }) => place?.folder).filter((path) => path !== undefined)
  await freeze(settings.data, folder, repositories)
  const histories: FrozenHistory[] = []
  for (const { application, place } of places) {
    const history = place && (await headOf(place))
    if (history) histories.push({ application, ...history })
  }
  return { folder, dumps, histories, time }
}

/** Undefined for a history that is not on this disk, or has no commit yet. */
async function headOf({ folder, repository }: HistoryPlace): Promise<Omit<FrozenHistory, 'application'> | undefined> {
  if (folder === undefined) return undefined
  const { branch } = repository
  const found = await runGit(folder, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`])
  const head = orUnable(found, `the history in ${folder}`).trim()
  return head === '' ? undefined : { folder, branch, head }
}

async function writeOut(
  of: BackupSettings,
  frozen: Frozen,
  archive: ArchiveWriter,
  signal: AbortSignal,
): Promise<void> {
  const { dumps, histories, folder, time } = frozen
  // All stores at the same time: a store gives up an answer that is not read for long.
  await Promise.all([...dumps.values()].map(({ parts }, number) => archive.addParts(storeParts(number), '.nq', parts)))
  for (const [number, history] of histories.entries())
    await archive.addParts(historyParts(number), '.pack', cutToParts(packOf(history, signal)))
  await addFolder(archive, DATA, folder, signal)
  await addConfiguration(archive, of.settings)
  await rm(folder, { recursive: true, force: true })
  await archive.finish(manifestOf(of, frozen, time))
}

/** All objects that the head leads to (git-pack-objects(1)). Throws Unable. */
async function* packOf({ folder, head }: FrozenHistory, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { child, ended } = startGit(folder, ['pack-objects', '--revs', '--stdout', '--quiet'], true)
  const stop = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  try {
    child.stdin.end(`${head}\n`)
    const packed: AsyncIterable<Uint8Array> = child.stdout
    yield* packed
    const ending = await ended
    if (ending.code !== 0) throw new Unable(gitSetback(ending, `packing the history in ${folder}`).detail)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

async function addFolder(archive: ArchiveWriter, name: string, folder: string, signal: AbortSignal): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    signal.throwIfAborted()
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await addFolder(archive, `${name}${entry.name}/`, path, signal)
    else await archive.addFile(`${name}${entry.name}`, path)
  }
}

/** For people to read: a restore takes its settings from the command line, as a start does. */
async function addConfiguration(archive: ArchiveWriter, settings: Settings): Promise<void> {
  const lines = effectiveLines(settings, new Map()).map((line) =>
    line.endsWith(' default') ? line.slice(0, -7).trimEnd() : line,
  )
  await archive.add(`${CONFIGURATION}settings.txt`, Buffer.from(`${lines.join('\n')}\n`))
  for (const [index, file] of settings.config.entries())
    await archive.add(`${CONFIGURATION}${index + 1}-${basename(file)}`, await readFile(file))
}

function manifestOf(
  { settings, applications }: BackupSettings,
  { dumps, histories }: Frozen,
  time: string,
): Omit<Manifest, 'parts'> {
  const stores = [...dumps.keys()]
  return {
    format: FORMAT,
    release: version(),
    time,
    applications: applications.map((application): ArchivedApplication => {
      const { base, kind, stored } = application
      const store = stored ? stores.indexOf(stored.store) : -1
      const number = histories.findIndex((history) => history.application === application)
      const { branch, head } = histories[number] ?? {}
      const place = historyPlaceOf(application, settings)
      return {
        ...{ base, kind },
        ...(store >= 0 && { store }),
        ...(branch !== undefined && head !== undefined && { history: { number, branch, head } }),
        ...(place && !place.isLog && place.folder === undefined && { historyElsewhere: place.repository.location }),
      }
    }),
    stores: [...dumps.values()].map((dump) => ({ quads: dump.quads() })),
  }
}
