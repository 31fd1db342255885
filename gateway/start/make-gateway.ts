// The gateway value: opens everything that answers requests, each with a way to close it.
import { randomUUID } from 'node:crypto'
import { makeWebIdVerifier, type WebIdVerifier } from '../../policies/identity/webid.js'
import { makeMail } from '../agents/mail.js'
import { makeGatewayCaches } from '../caches.js'
import type { Certificates } from './certificates.js'
import type { DescribedDataspace } from '../configuration/dataspace.js'
import { doorsOf } from '../configuration/doors.js'
import type { Settings } from '../configuration/settings.js'
import { makeLocks, type Locks } from '../documents/locks.js'
import { openPool } from '../evaluation/pool.js'
import { openReading } from '../evaluation/reading.js'
import { membersOf, type Dataspace, type Gateway } from '../gateway.js'
import { handle } from '../handle.js'
import { makeTargetParser, siteOf } from '../http/target.js'
import type { Identities } from '../identity/identities.js'
import type { Log } from '../log.js'
import { isFailure } from '../problem.js'
import { makeCaches, openDataspace, type Surroundings } from './open-dataspace.js'
import { openIdentities } from './open-identities.js'
import { makeStores, untilReady, type OpenStore } from './open-stores.js'
import { StartFailure } from '../configuration/start-failure.js'
import { readOrMakeTagKey } from './tag-key.js'
import { OPEN_UPDATES } from '../sparql/updates/carry-out.js'
import { COPIES } from '../sparql/queries/ask-over-copy.js'
import { LISTINGS } from '../methods/children-shown.js'
import type { Holder } from '../stores/holder.js'
import type { GraphStore } from '../stores/store.js'
import { makeTurns } from '../stores/connection-slots.js'
import { CASCADES } from '../methods/cascade.js'
import { readLook, type Look } from '../pages/theme.js'
import { makePlaces, makeSharedPlaces } from '../places.js'
import { makeLoadContext } from '../rdf/json-ld-contexts.js'
import { makeReadProfile, PROFILE_MAX_AGE_MS, REMOTE_PROFILES } from '../request/identify.js'
import { graphsChanged } from '../methods/changed-graphs.js'
import { makeRoutes, ROUTES } from '../routes.js'
import type { OpenPart } from '../part.js'
import type { Closer, GatewayFeature } from '../feature.js'
import { openFetchers } from './fetchers.js'
import { makeRecent } from '../recent-failures.js'
import { startWatchdog } from '../watchdog.js'

export interface MakingParts {
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  readonly features: readonly GatewayFeature[]
  readonly certificates: Certificates
  /** The name of this gateway for other gateways. */
  readonly me: Holder
  /** Called with a message if this gateway must stop. */
  readonly lost: (why: string) => void
  /** The ports of the gateway's own listeners. */
  readonly ports: readonly number[]
  readonly openStore?: OpenStore
  readonly log: Log
  readonly now: () => number
  readonly commitsWait?: number
  readonly jobsTime?: number
}

const COMMITS_WAIT_MS = 3_000

/** Adds a closer for everything that it opens, so that it can be closed if a later part fails. Throws StartFailure. */
export async function makeGateway(parts: MakingParts, closers: Closer[]): Promise<Gateway> {
  const { settings, features, dataspaces: described, ports, log, now } = parts
  const watchdog = startWatchdog(log)
  closers.push(watchdog.close)
  const mail = makeMail(settings)
  const doors = doorsOf(settings, described)
  const { destinations, own, fetcher, loads } = openFetchers(settings, described, ports, closers)
  const threads = openThreads(parts, closers)
  const locks = makeLocks()
  const routes = makeRoutes(features)
  const dataspaces = await openDataspaces(
    parts,
    locks,
    { reading: threads.reading, fetcher, endpointNames: routes.endpointNames },
    closers,
  )
  const site = siteOf(membersOf(dataspaces), routes.endpointsOf)
  const readProfile = makeReadProfile(site, own, threads.reading, makePlaces(REMOTE_PROFILES))
  const { isOwn } = destinations
  const verifier = makeWebIdVerifier({ readProfile, isOwn, now, lifetime: PROFILE_MAX_AGE_MS })
  const about = { readProfile, signUp: doors.signUp, log, now }
  const { identities, close } = await openIdentities(settings, destinations, about)
  closers.push(close)
  const opening = { settings, described, dataspaces, doors, destinations, fetcher, reading: threads.reading, log, now, closers } // prettier-ignore
  const opened: OpenPart[] = [ROUTES.with(routes)]
  for (const feature of features) opened.push(...((await feature.open?.(opening)) ?? []))
  const gateway: Gateway = {
    dataspaces,
    ...makeTargetParser(site),
    webIds: withIdentities(verifier, identities),
    identities,
    ...threads,
    locks,
    log,
    watchdog,
    now,
    commitsWait: parts.commitsWait ?? COMMITS_WAIT_MS,
    uuid: randomUUID,
    loadContext: makeLoadContext(own),
    fetcher,
    loads,
    parts: new Map(opened),
    isOwn,
    inside: (request, known) => handle(request, gateway, known),
    takeCascade: makeSharedPlaces(CASCADES),
    takeCopy: makeSharedPlaces(COPIES),
    takeOpenUpdate: makeSharedPlaces(OPEN_UPDATES),
    listings: makeTurns(LISTINGS.atOnce, LISTINGS.waiting, LISTINGS),
    look: look(settings),
    caches: makeGatewayCaches(settings.cache === 'off' ? 0 : settings.cache / 4),
    ...(mail && { mail }),
    answered: new Map(),
    recent: makeRecent(),
    settings,
  }
  for (const { application } of membersOf(dataspaces))
    application.journalled.onRecovered(() => graphsChanged({ application, gateway }, 'dataset', undefined))
  return gateway
}

function look({ look: folder }: Settings): Look {
  const read = readLook(folder)
  if (isFailure(read)) throw new StartFailure(read.detail)
  return read
}

function openThreads(
  { settings, jobsTime: clockTime }: MakingParts,
  closers: Closer[],
): Pick<Gateway, 'evaluation' | 'reading'> {
  const evaluation = openPool({ timeLimit: settings.patchTimeout, clockTime })
  const reading = openReading({ timeLimit: settings.readingTimeout, clockTime })
  closers.push(evaluation.close, reading.close)
  return { evaluation, reading }
}

async function openDataspaces(
  { settings, dataspaces, certificates, openStore, me, lost, log, now }: MakingParts,
  locks: Locks,
  shared: Pick<Surroundings, 'reading' | 'fetcher' | 'endpointNames'>,
  closers: Closer[],
): Promise<readonly Dataspace[]> {
  const tagKey = readOrMakeTagKey(settings.data)
  if (isFailure(tagKey)) throw new StartFailure(tagKey.detail)
  const stores = makeStores(settings, openStore, log)
  closers.push(stores.close)
  const cacheOf = makeCaches(settings, {
    applications: 2 * dataspaces.length,
    reading: shared.reading,
    tagKey,
    now,
  })
  const all: GraphStore[] = []
  for (const { endUser, admin } of dataspaces)
    all.push(...(await Promise.all([stores.open(endUser), stores.open(admin)])))
  await untilReady(all, log)
  await stores.hold(all, { me, lost, log })
  const opened: Dataspace[] = []
  for (const each of dataspaces) {
    const surroundings = {
      settings,
      dataspaces,
      certificates,
      open: stores.open,
      cacheOf,
      ...shared,
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

/** When a document changes, both verifiers forget what they have derived from it. */
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
