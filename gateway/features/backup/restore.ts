// Restores an archive into an empty data folder and empty stores. If it is interrupted, no gateway starts on the folder
// until the restore has been repeated and has ended.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { DescribedApplication, DescribedDataspace } from '../../configuration/dataspace.js'
import { isInMemory } from '../../configuration/dataspace.js'
import { historyPlaceOf } from '../../configuration/history-place.js'
import type { Settings } from '../../configuration/settings.js'
import { pathBelow } from '../../files/path-below.js'
import { makeLog } from '../../log.js'
import { filledMark, makeStores, untilReady, type Stores } from '../../start/open-stores.js'
import { ownData, RESTORE_FOLDER, type OwnData } from '../../start/own-data.js'
import type { GraphStore } from '../../stores/store.js'
import { beginFilling, checkFilled, fillFrom, isEmptyStore, removeMark } from './fill-store.js'
import { CONFIGURATION_FOLDER } from './freeze.js'
import { layOutData, layOutFiles, layOutHistory, readJournals, type Archive } from './lay-out.js'
import { CONFIGURATION, storeParts, type ArchivedApplication, type Manifest } from './manifest.js'
import { inLines } from './pieces.js'
import { archivedContent } from './read-archive.js'
import { Unable } from './unable.js'

export interface RestoreSettings {
  readonly archive: Archive
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  /** Receives a description of the current step. */
  readonly report: (what: string) => void
}

/** An application of the settings, and the same application in the archive. */
interface Target {
  readonly application: DescribedApplication
  readonly archived: ArchivedApplication
}

/** A restore that has the data folder. */
interface Restoring extends RestoreSettings, Pick<OwnData, 'me'> {
  readonly targets: readonly Target[]
  /** The data folder, and the folder below it that only a restore has. */
  readonly data: string
  readonly work: string
  readonly stores: Stores
}

/** Below the folder of the restore: stores and data folder have everything of the backup of this time. */
const COMPLETE = 'complete'

/** Throws Unable and StartFailure. */
export async function restore(given: RestoreSettings): Promise<void> {
  const targets = targetsOf(given)
  const data = resolve(given.settings.data)
  const { me, release } = await ownData(data, undefined, 'restores')
  const stores = makeStores(given.settings, undefined, makeLog('silent'))
  try {
    const work = join(data, RESTORE_FOLDER)
    const restoring = { ...given, me, targets, data, work, stores }
    const complete = join(work, COMPLETE)
    const { time } = given.archive.manifest
    if (!existsSync(complete) || readFileSync(complete, 'utf8') !== time) {
      await layOutAndFill(restoring)
      await writeFile(complete, time, { mode: 0o600, flush: true })
    }
    // Last: without its mark, a store with quads does not belong to a restore that is repeated.
    for await (const { store, quads } of heldStores(restoring)) {
      if (quads > 0 && (await isEmptyStore(store))) {
        await rm(complete)
        throw new Unable(`${store.name} has lost what was restored. Run the same command again.`)
      }
      await removeMark(store)
    }
    rmSync(work, { recursive: true })
  } finally {
    await stores.close()
    await release()
  }
}

async function layOutAndFill(restoring: Restoring): Promise<void> {
  const { archive, settings, report, targets, data, work } = restoring
  const id = await beginFolder(data, work)
  refuseFull(data, archive.manifest)
  report('writing the data folder')
  const stage = join(work, 'data')
  const histories = targets.flatMap(({ application, archived: { history } }) =>
    history ? [{ application, history, repository: repositoryOf(application, settings, stage) }] : [],
  )
  await layOutData(archive, stage, histories.map(({ repository }) => repository)) // prettier-ignore
  await layOutFiles(archive, CONFIGURATION, join(stage, CONFIGURATION_FOLDER))
  await readJournals(join(stage, 'history'))
  for (const { application, history, repository } of histories) {
    report(`writing the history of ${application.base}`)
    await layOutHistory(archive, history, repository)
  }
  await fillStores(restoring, id)
  for (const name of await readdir(stage)) await rename(join(stage, name), join(data, name))
}

/** The names that a data folder without data may have: its lock, an installed Oxigraph, and a folder of its disk. */
const OF_THE_PLACE: ReadonlySet<string> = new Set(['gateway.json', 'triplegate-data', 'store', 'lost+found'])

/** Returns the id of the restore. A restore that was killed keeps its id when it is repeated. */
async function beginFolder(data: string, work: string): Promise<string> {
  const names = await readdir(data)
  const file = join(work, 'id')
  const isBegun = names.includes(RESTORE_FOLDER)
  const others = names.filter((name) => !OF_THE_PLACE.has(name) && name !== RESTORE_FOLDER)
  const stored = existsSync(join(data, 'store')) ? (await readdir(join(data, 'store'))).filter((name) => name !== 'bin') : [] // prettier-ignore
  if (!isBegun && others.length + stored.length > 0)
    throw new Unable(`${data} is not empty: it has ${[...others, ...stored.map((name) => `store/${name}`)][0]}. Give another folder with --data.`) // prettier-ignore
  const id = existsSync(file) ? readFileSync(file, 'utf8') : randomUUID()
  const left = [COMPLETE, 'data'].map((name) => join(RESTORE_FOLDER, name))
  for (const name of [...left, ...others, ...stored.map((one) => join('store', one))])
    await rm(join(data, name), { recursive: true, force: true })
  await mkdir(work, { recursive: true, mode: 0o700 })
  await writeFile(file, id, { mode: 0o600, flush: true })
  return id
}

/** A lower bound: a pack takes more room once it is unpacked. The disks of stores are not checked. */
function refuseFull(data: string, { parts }: Manifest): void {
  const needed = parts.filter(({ name }) => !name.startsWith('stores/')).reduce((sum, { size }) => sum + size, 0)
  const { bavail, bsize } = statfsSync(data)
  if (bavail * bsize >= needed) return
  throw new Unable(`${data}: the backup needs ${Math.ceil(needed / 2 ** 20)} MiB. Make room on its disk.`)
}

function targetsOf({ archive, dataspaces }: Pick<RestoreSettings, 'archive' | 'dataspaces'>): readonly Target[] {
  const { applications } = archive.manifest
  const given = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  return applications.map((archived) => {
    const application = given.find(({ base }) => base === archived.base)
    if (application) return { archived, application }
    throw new Unable(`The backup has ${archived.base}, but the settings do not. Give --base, or its --config.`)
  })
}

/** The place of the history by the settings; if that is in the data folder, its place in the folder being prepared. */
function repositoryOf(application: DescribedApplication, settings: Settings, stage: string): string {
  const folder = historyPlaceOf(application, settings)?.folder
  const below = folder === undefined ? undefined : pathBelow(settings.data, folder)
  if (below !== undefined) return join(stage, below)
  if (folder !== undefined) return folder
  const flag = application.kind === 'admin' ? '--admin-history local' : '--history local'
  throw new Unable(`${application.base}: the backup has its history. Give ${flag}.`)
}

async function fillStores(restoring: Restoring, id: string): Promise<void> {
  const { archive, settings, report } = restoring
  const { file, manifest } = archive
  for await (const { store, number, quads: all, sharing } of heldStores(restoring)) {
    await beginFilling(store, id)
    const parts = inLines(archivedContent(file, manifest, storeParts(number)))
    const progress = (quads: number): void =>
      report(`filling ${store.name}: ${quads.toLocaleString('en')} of ${all.toLocaleString('en')} quads`)
    await checkFilled(store, await fillFrom(store, parts, progress))
    for (const { service, kind } of sharing)
      if (service.onDisk) await writeFile(filledMark(settings.data, kind), '', { mode: 0o600 })
  }
}

interface HeldStore {
  readonly store: GraphStore
  /** In the archive. */
  readonly number: number
  readonly quads: number
  readonly sharing: readonly DescribedApplication[]
}

/** The stores of the archive; no other gateway writes to them from now on. */
async function* heldStores({ archive, report: lost, targets, me, stores }: Restoring): AsyncGenerator<HeldStore> {
  const log = makeLog('silent')
  const found = new Set<GraphStore>()
  for (const [number, { quads }] of archive.manifest.stores.entries()) {
    const sharing = targets.filter(({ archived }) => archived.store === number).map(({ application }) => application)
    const store = await storeOf(sharing, stores)
    if (!store) continue
    if (found.has(store)) throw new Unable(`${store.name}: the backup has two stores for it. Give a dataset for each.`)
    found.add(store)
    await untilReady([store], log)
    await stores.hold([store], { me, log, lost })
    yield { store, number, quads, sharing }
  }
}

/** The only store of applications that shared one. */
async function storeOf(
  applications: readonly DescribedApplication[],
  { open }: Stores,
): Promise<GraphStore | undefined> {
  let found: GraphStore | undefined
  for (const application of applications) {
    const { base, service } = application
    if (isInMemory(service)) throw new Unable(`${base}: the backup has its store. Give --backend, or --store oxigraph.`)
    const store = await open(application)
    if ((found ??= store) !== store) throw new Unable(`${base}: ${SHARED}`)
  }
  return found
}

const SHARED = 'the backup has one store of several applications. Give them the same dataset.'

/** The applications whose stores are still empty: their content is in their histories. */
export const toRebuild = (restored: Pick<RestoreSettings, 'archive' | 'dataspaces'>): readonly string[] =>
  targetsOf(restored)
    .filter(({ archived, application }) => archived.store === undefined && !application.service.embedded)
    .map(({ application }) => application.base)
