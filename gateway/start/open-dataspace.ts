// Opens a dataspace: its stores with their caches, its histories, its rules.
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { makeWriteLog, type WriteLog } from '../../versioning/log/write-log.js'
import { makeGraphVersions, type GraphVersions } from '../../cache/graph-versions.js'
import { makeStoredResults } from '../../cache/stored-results.js'
import { agentDocuments } from '../agents/agent-documents.js'
import type { Certificates } from './certificates.js'
import { makeRuleChanges } from '../rules/rule-changes.js'
import { makeAccess, type RulesAge } from '../rules/compiled-rules.js'
import { type DescribedApplication, type DescribedDataspace, isInMemory } from '../configuration/dataspace.js'
import { openOwnDescription } from '../configuration/own-description.js'
import type { Reading } from '../evaluation/reading.js'
import { makeDocuments } from '../documents/stored-documents.js'
import { makeFacts } from '../documents/facts.js'
import type { Access, Application, ApplicationCache, Dataspace } from '../gateway.js'
import type { Locks } from '../documents/locks.js'
import type { Log } from '../log.js'
import { makeFiles } from '../files/files.js'
import { filesFolder, SWEEP_MS, sweepFiles } from '../files/sweep-files.js'
import { makeOntologies, type Ontologies } from '../ontologies/ontologies.js'
import { makeImports } from '../ontologies/read-import.js'
import { historyPlaceOf } from '../configuration/history-place.js'
import { makeAlignment } from '../mirror/alignment.js'
import { makeHistoryShares, type HistoryShares } from '../mirror/history-shares.js'
import { openVersioned, type OpenVersioned } from './open-history.js'
import type { Stores } from './open-stores.js'
import type { SeedAgent } from './seed.js'
import type { Settings } from '../configuration/settings.js'
import { makeDatasetPrefixes } from '../stores/dataset-prefixes.js'
import type { GraphStore } from '../stores/store.js'

export type CacheOf = (application: DescribedApplication, store: GraphStore) => ApplicationCache

export interface CacheSurroundings {
  readonly applications: number
  readonly reading: Reading
  /** The secret of the entity-tags (cache/entity-tag.ts). */
  readonly tagKey: string
  readonly now: () => number
}

/**
 * Divides the bytes among the documents and results of all applications. Applications with the same store share the
 * versions of its graphs.
 */
export function makeCaches(settings: Settings, { applications, reading, tagKey, now }: CacheSurroundings): CacheOf {
  const versionsOf = new Map<GraphStore, GraphVersions>()
  // A quarter is for the caches that belong to no application (caches.ts).
  const maxBytes = settings.cache === 'off' ? 0 : Math.floor((0.75 * settings.cache) / (2 * applications))
  return ({ base }, store) => {
    const versions = versionsOf.get(store) ?? makeGraphVersions()
    versionsOf.set(store, versions)
    const { cacheMaxAge } = settings
    const staleIfError = settings.staleIfError === 'off' ? 0 : settings.staleIfError
    const maxAge = cacheMaxAge === 'off' ? undefined : cacheMaxAge
    const shared = { maxAge, staleIfError, versions, now }
    return {
      versions,
      tagKey,
      documents: makeDocuments(store, base, { ...shared, reading, tagKey, maxBytes: Math.floor(0.9 * maxBytes) }),
      facts: makeFacts(store, base, { ...shared, maxBytes: Math.floor(0.1 * maxBytes) }),
      results: makeStoredResults({ ...shared, maxBytes }),
      graphRights: new Map(),
      decisions: new Map(),
      reach: undefined,
    }
  }
}

/**
 * Rules may be as old as cached documents, and are not cached if documents are not. Nobody else changes those of an
 * embedded store.
 */
function rulesAge({ cache, cacheMaxAge, staleIfError }: Settings, { service }: DescribedApplication): RulesAge {
  const ifError = staleIfError === 'off' ? 0 : staleIfError
  return { max: cache === 'off' ? 0 : service.embedded || cacheMaxAge === 'off' ? Infinity : cacheMaxAge, ifError }
}

/** Each dataspace may have its own owner. */
export const ownerOf = ({ owner }: Pick<DescribedApplication, 'owner'>, certificates: Certificates): SeedAgent =>
  owner === undefined ? certificates.owner : { webId: owner }

export interface Surroundings {
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  readonly certificates: Certificates
  readonly open: Stores['open']
  /** For ontologies elsewhere. */
  readonly fetcher: GuardedFetch
  readonly reading: Reading
  readonly cacheOf: CacheOf
  readonly locks: Locks
  readonly log: Log
  readonly endpointNames: readonly string[]
  readonly now: () => number
}

export interface OpenDataspace {
  readonly dataspace: Dataspace
  close(): Promise<void>
}

export async function openDataspace(
  configured: DescribedDataspace,
  surroundings: Surroundings,
): Promise<OpenDataspace> {
  const { certificates, open, log, now } = surroundings
  const [endUserStore, adminStore] = await Promise.all([open(configured.endUser), open(configured.admin)])
  const agents = [ownerOf(configured.endUser, certificates), certificates.secretary]
  const documents = agents.flatMap(({ webId }) => {
    const known = agentDocuments(configured.admin.base, webId)
    // Include the document of the key: without it the agent cannot be identified.
    return known ? [known.agent, known.publicKey] : [webId.split('#', 1)[0]!]
  })
  const opened: OpenApplication[] = []
  let access: Access | undefined
  const close = async (): Promise<void> => {
    await access?.close()
    await Promise.all(opened.map((application) => application.close()))
  }
  try {
    const shares = sharesOf(configured, agents, surroundings)
    const writeLog = makeWriteLog(`${configured.admin.base}#log`)
    const openOne = async (described: DescribedApplication, store: GraphStore): Promise<OpenApplication> => {
      const application = await openApplication(described, store, configured, {
        ...surroundings,
        shares,
        writeLog,
      })
      opened.push(application)
      return application
    }
    const { application: endUser } = await openOne(configured.endUser, endUserStore)
    const { application: admin, snapshot } = await openOne(configured.admin, adminStore)
    access = makeAccess(adminStore, admin.base, log, now, rulesAge(surroundings.settings, admin), snapshot) // prettier-ignore
    const ontologies = ontologiesOf({ endUser, admin }, surroundings)
    const dataspace: Dataspace = {
      endUser,
      admin,
      access,
      ruleChanges: makeRuleChanges(),
      ontologies,
      owner: ownerOf(configured.endUser, certificates).webId,
      secretary: certificates.secretary.webId,
      protectedDocuments: new Set(documents),
      origins: [configured.endUser.origin, configured.admin.origin],
    }
    for (const { application } of opened) application.alignment?.begin()
    return { dataspace, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The application whose base is below that of the other comes first. */
function ontologiesOf(
  { endUser, admin }: Pick<Dataspace, 'endUser' | 'admin'>,
  { fetcher, reading, now, log }: Surroundings,
): Ontologies {
  return makeOntologies({
    store: admin.store,
    adminBase: admin.base,
    root: endUser.ontology ?? `${endUser.base}ns#`,
    imports: makeImports({ fetcher, reading, applications: [admin, endUser] }),
    now,
    log,
  })
}

function sharesOf(
  { endUser, admin }: DescribedDataspace,
  agents: readonly SeedAgent[],
  { settings, now }: Surroundings,
): HistoryShares {
  const repositories = [endUser, admin].flatMap((application) => historyPlaceOf(application, settings)?.folder ?? [])
  return makeHistoryShares({
    folders: [settings.data, ...repositories],
    daily: settings.dailyHistory,
    exempt: agents.map(({ webId }) => webId),
    now,
  })
}

interface OpenApplication extends Pick<OpenVersioned, 'snapshot'> {
  readonly application: Application
  close(): Promise<void>
}

async function openApplication(
  described: DescribedApplication,
  store: GraphStore,
  configured: DescribedDataspace,
  surroundings: Surroundings & { readonly shares: HistoryShares; readonly writeLog: WriteLog },
): Promise<OpenApplication> {
  const { mirrored, journalled, snapshot, traits, names, checkNames, isDocument, isRecorded, close } =
    await openVersioned(described, configured, store, {
      ...surroundings,
      namesMayBeOld: !surroundings.settings.rebuild,
    })
  // A store in memory is filled from its history.
  const alignment = mirrored && !isInMemory(described.service) && makeAlignment(mirrored, surroundings.log)
  const { settings, now } = surroundings
  const own = openOwnDescription(described, settings.data)
  const files = makeFiles(filesFolder(settings.data, described.base), now)
  const sweep = setInterval(
    () => void sweepFiles({ store, isDocument, files, base: described.base }, surroundings.log),
    SWEEP_MS,
  ).unref()
  const application: Application = {
    ...described,
    get allowRead() {
      return own.current().allowRead
    },
    own,
    store,
    traits,
    prefixes: makeDatasetPrefixes(store),
    files,
    ...(mirrored && { mirrored }),
    ...(mirrored && !mirrored.isLog && { history: mirrored.history, shares: surroundings.shares }),
    ...(alignment && { alignment }),
    journalled,
    names,
    ...(checkNames && { checkNames }),
    isDocument,
    isRecorded,
    cache: surroundings.cacheOf(described, store),
  }
  return {
    application,
    ...(snapshot && { snapshot }),
    close() {
      clearInterval(sweep)
      application.alignment?.close()
      return close()
    },
  }
}
