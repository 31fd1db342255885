// Opens an application's history: its repository, and the state of its store before the first request.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { caughtSetback, type Setback } from '../../versioning/failure.js'
import { graphOfPath, graphPath } from '../../versioning/git/document-path.js'
import { openGitHubRepository } from '../../versioning/github/github-repository.js'
import { openLocalRepository } from '../../versioning/git/local-repository.js'
import type { WriteLog } from '../../versioning/log/write-log.js'
import { openHistory } from '../../versioning/open-history.js'
import type { Repository } from '../../versioning/repository.js'
import { type DescribedApplication, type DescribedDataspace, isInMemory } from '../configuration/dataspace.js'
import { isDocumentOf } from '../documents/document.js'
import { endpointNamesOf } from '../documents/endpoint-names.js'
import type { Names } from '../documents/iri-spelling.js'
import { openStates } from '../documents/stored-state.js'
import { historyPlaceOf, type Existing, type HistoryPlace } from '../configuration/history-place.js'
import { makeJournalledStore, type JournalledStore } from '../mirror/journalled-store.js'
import type { Locks } from '../documents/locks.js'
import type { Log } from '../log.js'
import type { Applier } from '../mirror/applier.js'
import { checkDocuments } from '../mirror/alignment.js'
import { bringUp } from '../mirror/bring-up.js'
import { sweepsOf } from '../mirror/mirror.js'
import type { Mirrored } from '../mirror/all-documents.js'
import { fillStore } from '../mirror/rebuild.js'
import type { Report } from '../mirror/report.js'
import { learnNames, type KnownNames } from './known-names.js'
import { makeRulesSnapshot, type RulesSnapshot } from '../rules/rules-snapshot.js'
import { rulesSnapshot, storeFolder, untilReady, type Stores } from './open-stores.js'
import { reportShared } from './private-folder.js'
import { StartFailure } from '../configuration/start-failure.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Settings } from '../configuration/settings.js'
import { excerptOf } from '../stores/document-facts-query.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { isNameOfStores } from '../../policies/authorizations/reach.js'
import type { GraphStore } from '../stores/store.js'
import { makeTraits, type Traits } from '../stores/traits.js'

export interface OpenVersioned {
  /** Absent if the application is not versioned. */
  readonly mirrored?: Mirrored
  readonly journalled: JournalledStore
  /** Only for the rules in a store on disk, which nobody else changes. */
  readonly snapshot?: RulesSnapshot
  readonly traits: Traits
  readonly names: Names
  /** See KnownNames. */
  readonly checkNames?: KnownNames['check']
  isDocument(graph: string): boolean
  isRecorded(graph: string): boolean
  close(): Promise<void>
}

interface Surroundings {
  /** The paths of the endpoints of all features. */
  readonly endpointNames: readonly string[]
  readonly settings: Settings
  /** From the whole configuration: several applications may share a store. */
  readonly dataspaces: readonly DescribedDataspace[]
  readonly locks: Locks
  readonly log: Log
  readonly now: () => number
  /** Set for parts that must exist already. */
  readonly existing?: Existing
  /** True if the names of documents are checked only after the start. */
  readonly namesMayBeOld?: boolean
  /** `left`: writes nothing to the store before the first change. `taken over`: accepts a store ahead of its log. */
  readonly position?: 'left' | 'taken over'
  /** The log of the dataspace, whose positions order the writes of both its applications. */
  readonly writeLog?: WriteLog
}

/** The application's store with its history, if it has one, ready for the first write. Throws StartFailure. */
export async function openVersioned(
  application: DescribedApplication,
  dataspace: Pick<DescribedDataspace, 'admin'>,
  store: GraphStore,
  surroundings: Surroundings,
): Promise<OpenVersioned> {
  const { locks, log, now } = surroundings
  const { base, service } = application
  const [states, isUrl] = [openStates(), documentsOf(application, dataspace)]
  const sharers = sharersOf(application, surroundings)
  // A store in memory accepts documents only.
  const isAlone = sharers.bases.every((other) => other === base)
  const takesOthers = isAlone && application.kind === 'end-user' && !store.announces
  const opened = await openHistoryOf(application, surroundings, takesOthers)
  const mark = service.onDisk && join(storeFolder(surroundings.settings.data, application.kind), 'filled')
  // Design 2: a store in memory is filled from Git and the journal, which are its durable copy; one on disk once.
  const { rebuild } = surroundings.settings
  const isEmpty = isInMemory(service) || (mark !== undefined && opened !== undefined && (rebuild || !existsSync(mark)))
  const named = { base, isEmpty, mayBeOld: surroundings.namesMayBeOld === true }
  const { names, check } = await learnNames(named, isUrl, { store, history: opened }, surroundings)
  const { isDocument } = names
  const settle = (document: string): Promise<undefined | Problem> => journalled.settle(document)
  const confirm = async (): Promise<undefined | Problem> => (applier ? applier.confirm() : undefined)
  const traits = makeTraits(store, log)
  await traits.findLiterals()
  const recordsOthers = opened !== undefined && takesOthers
  const isRecorded = (graph: string): boolean =>
    isDocument(graph) ||
    (recordsOthers && (graph === DEFAULT_GRAPH ? traits.known()?.defaultGraph === 'own' : !isNameOfStores(graph)))
  const mirrored = opened && { ...opened, base, store, isDocument, isRecorded, sharers, settle, confirm, states, now }
  const sweep = mirrored && sweepsOf(mirrored, locks)
  const closeParts = (): Promise<unknown> => states.close().then(() => opened?.close())
  const applier = mirrored && (await broughtUp(mirrored, { service, isEmpty, mark }, surroundings, closeParts))
  const snapshot = snapshotOf(application, opened, surroundings)
  const journalled = makeJournalledStore({
    ...{ store, history: opened?.history, base, isDocument: isRecorded, sweep, applier, locks, states, log },
    literals: () => traits.literals(),
    unnamed: snapshot?.forget,
  })
  return {
    ...(mirrored && { mirrored }),
    ...(snapshot && { snapshot }),
    journalled,
    traits,
    names,
    ...(check && { checkNames: check }),
    isDocument,
    isRecorded,
    async close() {
      await journalled.close()
      await closeParts()
    },
  }
}

function snapshotOf(
  { kind, service }: DescribedApplication,
  opened: OpenHistory | undefined,
  { settings }: Surroundings,
): RulesSnapshot | undefined {
  if (!service.onDisk || kind !== 'admin') return undefined
  const file = rulesSnapshot(settings.data)
  if (opened) return makeRulesSnapshot(file, opened.history)
  // Without a log, no later start would know what changes now.
  rmSync(file, { force: true })
  return undefined
}

interface StartingStore extends Pick<DescribedApplication, 'service'> {
  /** True if the store is filled from its history. */
  readonly isEmpty: boolean
  /** The file that shows that the store has been filled. */
  readonly mark: string | false | undefined
}

/** Throws StartFailure. */
async function broughtUp(
  mirrored: Mirrored,
  { service, isEmpty, mark }: StartingStore,
  { locks, log, position }: Surroundings,
  closeParts: () => Promise<unknown>,
): Promise<Applier | undefined> {
  try {
    const filled = isEmpty ? await fillCounted(mirrored, log) : undefined
    if (isFailure(filled)) throw new StartFailure(`the history of ${mirrored.base}: ${filled.detail}`)
    if (typeof mark === 'string') writeFileSync(mark, '')
    // If the store does not have the documents of the history, the start fails before the store gets a position.
    if (position === undefined && !isInMemory(service)) await checkDocuments(mirrored)
    // A store in memory has just been filled with everything in the log.
    const isLeft = position === 'left' || mirrored.store.announces
    return isLeft ? undefined : await bringUp({ ...mirrored, locks, log, takesOver: position === 'taken over' })
  } catch (error) {
    await closeParts()
    throw error
  }
}

const FILL = 'fill'

/** Counts the starts: if a store does not fit into memory, the process must not die silently at each start. */
async function fillCounted(mirrored: Mirrored, log: Log): Promise<number | Problem> {
  const { resumed } = mirrored.history
  if (!(await resumed.begin(FILL))) {
    // Filling failed without ending the process, so the next start may try again.
    resumed.end(FILL)
    return problem('history.failed', NOT_FILLED)
  }
  return fillStore(mirrored, logProgress(log)).finally(() => resumed.end(FILL))
}

const NOT_FILLED =
  'The gateway ended twice while it filled its embedded store. Give it more memory, or start it with --store oxigraph.'

/** True if a graph is a document of this application. */
const documentsOf =
  (application: DescribedApplication, { admin }: Pick<DescribedDataspace, 'admin'>) =>
  (graph: string): boolean =>
    isDocumentOf(application, admin.base, graph)

/** The applications that use the same store as this one. */
function sharersOf(
  { iri, service }: DescribedApplication,
  { dataspaces, endpointNames }: Pick<Surroundings, 'dataspaces' | 'endpointNames'>,
): Mirrored['sharers'] {
  const sharers = dataspaces.flatMap((dataspace) =>
    [dataspace.endUser, dataspace.admin]
      .filter((other) => other.iri === iri || (service.query !== undefined && other.service.query === service.query))
      .map((other) => ({ other, base: other.base, isDocument: documentsOf(other, dataspace) })),
  )
  const isDocument = (graph: string): boolean => sharers.some((sharer) => sharer.isDocument(graph))
  const endpoints = endpointNamesOf(
    sharers.map(({ other }) => other),
    endpointNames,
  )
  return {
    bases: sharers.map(({ base }) => base),
    isDocument,
    mayBecome: (graph) => isDocument(graph) && !endpoints.has(graph),
  }
}

const LOGGED_EVERY = 10_000
const logProgress =
  (log: Log): Report =>
  (event) => {
    if (event.event === 'difference')
      log.error(event, 'a document of the history is not in the store: it cannot be read')
    if (event.event !== 'progress' || event.of === 0) return
    if (event.documents < event.of && event.documents % LOGGED_EVERY !== 0) return
    log.info({ documents: event.documents, of: event.of }, 'filling the embedded store from its history')
  }

/** Decisions on a deleted document need its last facts. */
const factsIn = (document: string, nTriples: string): string => excerptOf(nTriples, document, 'facts')

interface OpenHistory extends Pick<Mirrored, 'history' | 'repository' | 'isLog' | 'pathOf' | 'documentOf'> {
  close(): Promise<void>
}

/** Undefined, with a line in the log, if the application is not versioned. */
async function openHistoryOf(
  application: DescribedApplication,
  { settings, log, now, existing, writeLog }: Surroundings,
  takesOthers: boolean,
): Promise<OpenHistory | undefined> {
  const { base, service } = application
  const place = historyPlaceOf(application, settings)
  if (!place) {
    if (isInMemory(service))
      log.warn(
        { base },
        'without a history the embedded store lives in memory only: its documents are lost at the next stop',
      )
    else log.info({ base }, 'versioning is off: no versions of documents are recorded')
    return undefined
  }
  const prefix = place.repository.pathPrefix
  const repository = place.isLog ? undefined : orStartFailure(await openRepository(place, now), base)
  if (place.folder !== undefined) await reportShared(place.folder, log)
  const opened =
    (repository && existing === 'documents' && !existsSync(place.journal)
      ? await whyNoDocuments(repository)
      : undefined) ??
    (await openHistory({
      ...{ folder: place.journal, repository: repository ?? 'newest', base, prefix, takesOthers, now, log },
      ...(repository && { excerptOf: factsIn }),
      ...(writeLog && { writeLog }),
      hasRules: application.kind === 'admin',
    }))
  if (isFailure(opened)) await repository?.close()
  const history = orStartFailure(opened, base)
  return {
    history,
    repository: history.repository,
    isLog: place.isLog === true,
    pathOf: (document) => graphPath(document, base, prefix),
    documentOf: (path) => graphOfPath(path, base, prefix),
    close: () => history.close().then(() => repository?.close()),
  }
}

/** Call it before a journal is created for the repository. */
async function whyNoDocuments(repository: Repository): Promise<Setback | undefined> {
  try {
    for await (const { path } of repository.files()) if (path.endsWith('.nt')) return undefined
  } catch (error) {
    return caughtSetback(error)
  }
  return { failure: 'missing', detail: `${repository.name} has no documents: there is nothing to rebuild from.` }
}

async function openRepository(
  { repository: { location, branch, pathPrefix, apiBase, token }, folder }: HistoryPlace,
  now: () => number,
): Promise<Repository | Setback> {
  if (folder !== undefined) return openLocalRepository({ folder, branch, pathPrefix, now })
  const api = apiBase === undefined ? {} : { apiBase }
  return openGitHubRepository({ location, branch, pathPrefix, ...api, token: token!, now })
}

function orStartFailure<T>(opened: T | Setback, base: string): T {
  if (isFailure(opened)) throw new StartFailure(`the history of ${base}: ${opened.detail}`)
  return opened
}

/** An application's store and history without a gateway; undefined if it is not versioned. Throws StartFailure. */
export async function openMirrored(
  application: DescribedApplication,
  dataspace: DescribedDataspace,
  { stores, ...surroundings }: Surroundings & { readonly stores: Stores },
): Promise<{ readonly mirrored: Mirrored; close(): Promise<void> } | undefined> {
  const store = await stores.open(application)
  await untilReady([store], surroundings.log)
  const { mirrored, close } = await openVersioned(application, dataspace, store, surroundings)
  return mirrored && { mirrored, close }
}
