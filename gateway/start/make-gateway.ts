// In charge of the gateway value: opens everything that answers requests, each with a way to close it.
import { randomUUID } from 'node:crypto'
import { makeAddressMatcher, type AddressMatcher } from '../../policies/fetch/address.js'
import { makeGuardedFetch, type GuardedFetch, type GuardedFetchSettings } from '../../policies/fetch/guarded-fetch.js'
import { makeWebIdVerifier, type WebIdVerifier } from '../../policies/identity/webid.js'
import { makeMail } from '../agents/mail.js'
import { makeGatewayCaches } from '../caches.js'
import type { Certificates } from './certificates.js'
import type { DescribedDataspace } from '../configuration/dataspace.js'
import { doorsOf } from '../configuration/doors.js'
import type { Settings } from '../configuration/settings.js'
import { makeLocks, type Locks } from '../documents/locks.js'
import { makeOpenDoor, makeSignUps } from '../request/anonymous-quota.js'
import { openPool } from '../evaluation/pool.js'
import { openReading, type Reading } from '../evaluation/reading.js'
import { membersOf, type Dataspace, type Gateway } from '../gateway.js'
import { handle } from '../handle.js'
import { makeTargetParser, siteOf } from '../http/target.js'
import type { Identities } from '../identity/identities.js'
import type { Log } from '../log.js'
import { isFailure } from '../problem.js'
import { makeCaches, openDataspace } from './open-dataspace.js'
import { openIdentities, openTokens } from './open-identities.js'
import { backendsOf, makeStores, type OpenStore } from './open-stores.js'
import { StartFailure } from '../configuration/start-failure.js'
import { readOrMakeTagKey } from './tag-key.js'
import { OPEN_UPDATES } from '../sparql/updates/carry-out.js'
import { COPIES } from '../sparql/queries/ask-over-copy.js'
import { LISTINGS } from '../methods/children-shown.js'
import { makeTurns } from '../stores/connection-slots.js'
import { CASCADES } from '../methods/cascade.js'
import { UPLOADS, uploadsOfDay } from '../features/files/read-upload.js'
import { readLook, type Look } from '../pages/theme.js'
import { makeSharedDaily, makePlaces, makeSharedPlaces } from '../places.js'
import { makeProxying, ownUrls, proxyLimits } from '../features/proxy/linked-data-proxy.js'
import { openImporting } from '../features/imports/importing.js'
import { makeLoadContext } from '../rdf/json-ld-contexts.js'
import { makeReadProfile, REMOTE_PROFILES } from '../request/identify.js'
import { endpointsOf } from '../routes.js'
import { makeRecent } from '../recent-failures.js'
import { startWatchdog } from '../watchdog.js'

export interface Parts {
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  readonly certificates: Certificates
  /** Of the gateway's own listeners. */
  readonly ports: readonly number[]
  readonly openStore?: OpenStore
  readonly log: Log
  readonly now: () => number
  readonly commitsWait?: number
}

const COMMITS_WAIT_MS = 3_000

export type Closer = () => Promise<unknown> | void

/** Everything that it opens adds its closer, also if a later part fails. Throws StartFailure. */
export async function makeGateway(parts: Parts, closers: Closer[]): Promise<Gateway> {
  const { settings, dataspaces: described, ports, log, now } = parts
  const watchdog = startWatchdog(log)
  closers.push(watchdog.close)
  const mail = makeMail(settings)
  const doors = doorsOf(settings, described)
  const { destinations, fetcher, proxied, ...importing } = openFetchers(settings, described, ports, closers)
  const threads = openThreads(settings, closers)
  const locks = makeLocks()
  const dataspaces = await openDataspaces(parts, locks, { reading: threads.reading, fetcher: proxied }, closers)
  const site = siteOf(membersOf(dataspaces), endpointsOf)
  const readProfile = makeReadProfile(site, fetcher, threads.reading, makePlaces(REMOTE_PROFILES))
  const about = { readProfile, signUp: doors.signUp, log, now }
  const { identities, close } = await openIdentities(settings, destinations, about)
  closers.push(close)
  const gateway: Gateway = {
    dataspaces,
    targetOf: makeTargetParser(site),
    webIds: withIdentities(makeWebIdVerifier({ readProfile, now, lifetime: settings.profileMaxAge }), identities),
    identities,
    ...(await openTokens(settings, { log, now })),
    ...threads,
    locks,
    log,
    watchdog,
    now,
    commitsWait: parts.commitsWait ?? COMMITS_WAIT_MS,
    uuid: randomUUID,
    loadContext: makeLoadContext(fetcher),
    proxying: makeProxying(doors.proxy, basesOf(described), proxied, (request, known) =>
      handle(request, gateway, known),
    ),
    importing: openImporting(settings, { fetcher: importing.sources, loads: importing.loads }),
    signUps: makeSignUps(settings.dailySignUps, doors.signUp, now),
    accessRequests: makeOpenDoor(settings.dailyAccessRequests, now),
    takeCascade: makeSharedPlaces(CASCADES),
    takeCopy: makeSharedPlaces(COPIES),
    takeUpload: makeSharedPlaces(UPLOADS),
    takeUploadBytes: makeSharedDaily(uploadsOfDay(settings), now),
    takeOpenUpdate: makeSharedPlaces(OPEN_UPDATES),
    listings: makeTurns(LISTINGS.atOnce, LISTINGS.waiting),
    look: look(settings),
    caches: makeGatewayCaches(settings.cache === 'off' ? 0 : settings.cache / 4),
    ...(mail && { mail }),
    answered: new Map(),
    recent: makeRecent(),
    settings: settingsOfRequests(settings),
  }
  return gateway
}

/** Those that requests rest on. */
function settingsOfRequests(settings: Settings): Gateway['settings'] {
  const {
    maxBody,
    maxImport,
    maxUpload,
    requirePreconditions,
    compress,
    enforce,
    allowService,
    allowOrigin,
    sharedCache,
    allowFunction,
    sparqlSyntax,
  } = settings
  return {
    maxBody,
    maxImport,
    maxUpload,
    requirePreconditions,
    compress,
    enforce,
    allowService,
    allowOrigin,
    sharedCache,
    allowFunction,
    sparqlSyntax,
  }
}

function look({ look: folder }: Settings): Look {
  const read = readLook(folder)
  if (isFailure(read)) throw new StartFailure(read.detail)
  return read
}

function openThreads(settings: Settings, closers: Closer[]): Pick<Gateway, 'evaluation' | 'reading'> {
  const evaluation = openPool({ timeLimit: settings.patchTimeout })
  const reading = openReading({ timeLimit: settings.readingTimeout })
  closers.push(evaluation.close, reading.close)
  return { evaluation, reading }
}

/** ms for a large source. */
const SOURCE_MS = 10 * 60_000

interface Fetchers {
  readonly destinations: GuardedFetchSettings
  /** For what the gateway itself needs from other servers. */
  readonly fetcher: GuardedFetch
  /** For the Linked Data proxy. */
  readonly proxied: GuardedFetch
  /** For the sources of imports. */
  readonly sources: GuardedFetch
  /** For LOAD. */
  readonly loads: GuardedFetch
}

function openFetchers(
  settings: Settings,
  described: readonly DescribedDataspace[],
  ports: readonly number[],
  closers: Closer[],
): Fetchers {
  const destinations = {
    allow: matcherOf(settings.allowFetch),
    never: [...backendsOf(described), ...ports.map(ownPort)],
    isOwn: ownUrls(basesOf(described)),
  }
  const fetcher = makeGuardedFetch(destinations)
  const proxied = makeGuardedFetch({ ...destinations, ...proxyLimits(settings.proxyTimeout) })
  const limits = { ...proxyLimits(settings.proxyTimeout), maxBytes: settings.maxImport, totalTimeout: SOURCE_MS }
  const sources = makeGuardedFetch({ ...destinations, ...limits })
  const allowed = new Set(settings.allowService.map((url) => new URL(url).href))
  const isTrusted = (url: URL): boolean => allowed.has(url.href)
  const loads = makeGuardedFetch({ ...destinations, ...proxyLimits(settings.proxyTimeout), isTrusted })
  closers.push(fetcher.close, proxied.close, sources.close, loads.close)
  return { destinations, fetcher, proxied, sources, loads }
}

async function openDataspaces(
  { settings, dataspaces, certificates, openStore, log, now }: Parts,
  locks: Locks,
  { reading, fetcher }: { readonly reading: Reading; readonly fetcher: GuardedFetch },
  closers: Closer[],
): Promise<readonly Dataspace[]> {
  const tagKey = readOrMakeTagKey(settings.data)
  if (isFailure(tagKey)) throw new StartFailure(tagKey.detail)
  const stores = makeStores(settings, openStore)
  closers.push(stores.close)
  const cacheOf = makeCaches(settings, {
    applications: 2 * dataspaces.length,
    reading,
    tagKey,
    now,
  })
  const opened: Dataspace[] = []
  for (const each of dataspaces) {
    const surroundings = {
      settings,
      dataspaces,
      certificates,
      open: stores.open,
      cacheOf,
      fetcher,
      reading,
      locks,
      log,
      now,
    }
    const { dataspace, close } = await openDataspace(each, surroundings)
    opened.push(dataspace)
    closers.push(close)
  }
  return opened
}

/** When a document changes, both forget what they have derived from it. */
const withIdentities = (webIds: WebIdVerifier, identities: Identities): WebIdVerifier => ({
  ...webIds,
  forget(document) {
    webIds.forget(document)
    identities.forget(document)
  },
  clear() {
    webIds.clear()
    identities.clear()
  },
})

const basesOf = (described: readonly DescribedDataspace[]): string[] =>
  described.flatMap(({ endUser, admin }) => [endUser.base, admin.base])

export function matcherOf(cidrs: readonly string[]): AddressMatcher {
  const matcher = makeAddressMatcher(cidrs)
  if (isFailure(matcher)) throw new TypeError('settings let a malformed address through')
  return matcher
}

// On loopback the gateway's own listeners believe more than they would from outside.
const ownPort = (port: number): string => `localhost:${port}`
