// In charge of putting a gateway together from its settings and taking it apart again: stores, seeds, rules, listeners.
import { randomUUID } from 'node:crypto'
import { makeGraphVersions, type GraphVersions } from '../cache/graph-versions.js'
import { makeStoredResults } from '../cache/stored-results.js'
import { makeAddressMatcher, type AddressMatcher } from '../policies/address.js'
import { makeGuardedFetch } from '../policies/guarded-fetch.js'
import { makeWebIdVerifier } from '../policies/webid.js'
import { ensureCertificates, type Certificates } from './certificates.js'
import { makeAccess } from './compiled-access.js'
import { listenAddress, type Dataspace as Configured } from './dataspace.js'
import { makeDocuments } from './document.js'
import { openEvaluation } from './evaluation.js'
import type { ApplicationCache, Dataspace, Gateway } from './gateway.js'
import { handle } from './handle.js'
import { makeReadProfile } from './identify.js'
import { makeLocks } from './lock.js'
import { makeLoadContext } from './load-context.js'
import { makeLog, type Log } from './log.js'
import { makeManagement } from './management.js'
import { makeOntologies } from './ontologies.js'
import { backendsOf, makeStores, orFail, StartFailure, untilReady, type OpenStore, type Stores } from './open-stores.js'
import { startProbe } from './probe.js'
import { agentDocuments, strayAgents, type SeedAgent } from './seed.js'
import { seedDataspace } from './seeding.js'
import { listen, type Answer, type Listener } from './server.js'
import type { Settings } from './settings.js'
import type { GraphStore } from './store.js'
import { makeTargetParser, siteOf } from './target.js'

export interface Running {
  readonly gateway: Gateway
  readonly dataspaces: readonly Dataspace[]
  readonly certificates: Certificates
  readonly ports: { readonly https?: number; readonly http?: number; readonly management?: number }
  /** Stops taking requests, lets those under way finish for `grace` ms, and closes everything. */
  close(grace?: number): Promise<void>
}

export interface StartOptions {
  readonly settings: Settings
  readonly dataspaces: readonly Configured[]
  /** How a store is opened; tests give stores of their own. */
  readonly openStore?: OpenStore
  readonly log?: Log
}

const GRACE_MS = 8_000

export async function startGateway(options: StartOptions): Promise<Running> {
  const { settings, dataspaces: configured } = options
  const log = options.log ?? makeLog(settings.logLevel)
  const now = Date.now
  const certificates = await makeCertificates(settings, configured, now())
  const { owner, secretary, notices } = certificates
  for (const notice of notices) log.warn(notice)
  const stray = strayAgents(configured, [owner, secretary])
  if (stray.length > 0) throw new StartFailure(stray.join('\n'))
  for (const { endUser, admin } of configured) {
    // The embedded store lives in memory: documents that outlive their rules would be everybody's or nobody's.
    if (admin.service.embedded && !endUser.service.embedded && !options.openStore) {
      throw new StartFailure(`${admin.base}: the rules have no store that keeps them. Give --admin-backend URL.`)
    }
  }
  const stores = makeStores(settings, options.openStore)
  const evaluation = openEvaluation({ timeLimit: settings.patchTimeout })
  const validation = openEvaluation({ timeLimit: settings.patchTimeout })
  const fetcher = makeGuardedFetch({
    allow: matcherOf(settings.allowFetch),
    never: [...backendsOf(configured), ...ownPorts(settings)],
  })
  const closers: (() => Promise<unknown> | void)[] = [evaluation.close, validation.close, fetcher.close, stores.close]
  try {
    const cacheOf = makeCaches(settings, 2 * configured.length, now)
    const dataspaces: Dataspace[] = []
    for (const dataspace of configured) {
      const running = await openDataspace(dataspace, certificates, stores.open, cacheOf, log)
      dataspaces.push(running)
      closers.push(running.access.close)
    }
    const site = siteOf(dataspaces.flatMap(({ endUser, admin }) => [endUser, admin]))
    const webIds = makeWebIdVerifier({ readProfile: makeReadProfile(site, fetcher, now), now })
    const gateway: Gateway = {
      targetOf: makeTargetParser(site),
      webIds,
      evaluation,
      validation,
      locks: makeLocks(),
      log,
      now,
      uuid: randomUUID,
      loadContext: makeLoadContext(fetcher),
      settings: {
        maxBody: settings.maxBody,
        requirePreconditions: settings.requirePreconditions,
        allowService: settings.allowService,
      },
    }
    for (const dataspace of dataspaces) {
      const { endUser, admin, access } = dataspace
      const agents = { owner: ownerOf(endUser, certificates), secretary, now: now() }
      orFail(await seedDataspace(dataspace, agents, log), `the seeds of ${endUser.base}`)
      orFail(await access.reload(), `the authorizations of ${admin.base}`)
    }
    if (settings.probe !== 'off') closers.push(startProbe(dataspaces, gateway, settings.probe).close)
    const { ports, listeners } = await openListeners(options, gateway, dataspaces, certificates)
    return {
      gateway,
      dataspaces,
      certificates,
      ports,
      async close(grace = GRACE_MS) {
        await Promise.all(listeners.map((listener) => listener.close(grace)))
        await Promise.all(closers.map((close) => close()))
      },
    }
  } catch (error) {
    await Promise.all(closers.map((close) => close()))
    throw error
  }
}

async function makeCertificates(
  settings: Settings,
  dataspaces: readonly Configured[],
  now: number,
): Promise<Certificates> {
  const agents = `${dataspaces[0]!.admin.base}acl/agents/`
  const { owner } = dataspaces[0]!.endUser
  const certificates = await ensureCertificates({
    folder: settings.data,
    hostNames: [...new Set(dataspaces.flatMap(({ endUser, admin }) => [hostOf(endUser.base), hostOf(admin.base)]))],
    ownerWebId: `${agents}${randomUUID()}/#this`,
    secretaryWebId: `${agents}${randomUUID()}/#this`,
    ...(owner !== undefined && { externalOwner: owner }),
    now: () => now,
  })
  if ('faults' in certificates) throw new StartFailure(certificates.faults.join('\n'))
  return certificates
}

type CacheOf = (application: Configured['endUser'], store: GraphStore) => ApplicationCache

/** Each application's documents and results have their part of the bytes; versions belong to the store, which several may have in common. */
function makeCaches(settings: Settings, applications: number, now: () => number): CacheOf {
  const versionsOf = new Map<GraphStore, GraphVersions>()
  const maxBytes = settings.cache === 'off' ? 0 : Math.floor(settings.cache / (2 * applications))
  return ({ base }, store) => {
    const versions = versionsOf.get(store) ?? makeGraphVersions()
    versionsOf.set(store, versions)
    const { cacheMaxAge } = settings
    const staleIfError = settings.staleIfError === 'off' ? 0 : settings.staleIfError
    const maxAge = cacheMaxAge === 'off' ? undefined : cacheMaxAge
    return {
      versions,
      documents: makeDocuments(store, base, { maxBytes, maxAge, staleIfError, versions, now }),
      results: makeStoredResults({ maxBytes, maxAge, versions, now }),
    }
  }
}

/** Each dataspace may have an owner of its own. */
const ownerOf = ({ owner }: Configured['endUser'], certificates: Certificates): SeedAgent =>
  owner === undefined ? certificates.owner : { webId: owner }

const hostOf = (base: string): string => new URL(base).hostname

async function openDataspace(
  configured: Configured,
  certificates: Certificates,
  open: Stores['open'],
  cacheOf: CacheOf,
  log: Log,
): Promise<Dataspace> {
  const [endUserStore, adminStore] = await Promise.all([open(configured.endUser), open(configured.admin)])
  await untilReady([endUserStore, adminStore], log)
  const agents = [ownerOf(configured.endUser, certificates), certificates.secretary]
  const documents = agents.flatMap(({ webId }) => {
    const known = agentDocuments(configured.admin.base, webId)
    // The document of the key is the agent's too: without it nobody can be that agent.
    return known ? [known.agent, known.publicKey] : [webId.split('#', 1)[0]!]
  })
  // The applications and their dataspace know each other: the one place where a value is completed after it was made.
  const dataspace = {
    access: makeAccess(adminStore, configured.admin.base, log, Date.now),
    ontologies: makeOntologies(adminStore, configured.admin.base, Date.now),
    protectedDocuments: new Set(documents),
    origins: [configured.endUser.origin, configured.admin.origin],
  } as unknown as { -readonly [Name in keyof Dataspace]: Dataspace[Name] }
  dataspace.endUser = {
    ...configured.endUser,
    store: endUserStore,
    cache: cacheOf(configured.endUser, endUserStore),
    dataspace,
  }
  dataspace.admin = { ...configured.admin, store: adminStore, cache: cacheOf(configured.admin, adminStore), dataspace }
  return dataspace
}

function matcherOf(cidrs: readonly string[]): AddressMatcher {
  const matcher = makeAddressMatcher(cidrs)
  if ('faults' in matcher) throw new TypeError('settings let a malformed address through')
  return matcher
}

// On loopback the gateway's own listeners believe more than they would from outside.
const ownPorts = ({ http, management }: Settings): string[] =>
  [http, management].filter((port) => port !== 'off').map((port) => `localhost:${port}`)

async function openListeners(
  { settings, dataspaces: configured }: StartOptions,
  gateway: Gateway,
  dataspaces: readonly Dataspace[],
  { server }: Certificates,
): Promise<{ ports: Running['ports']; listeners: Listener[] }> {
  const host = settings.host ?? listenAddress(configured)
  const trusted = matcherOf(settings.trustedProxy)
  const answer: Answer = (request) => handle(request, gateway)
  const started = gateway.now().toString(36)
  let count = 0
  const common = { now: gateway.now, nextId: () => `${started}-${++count}` }
  const listeners: Listener[] = []
  const open = async (name: string, port: number | 'off', make: (port: number) => Promise<Listener>) => {
    if (port === 'off') return undefined
    try {
      const listener = await make(port)
      listeners.push(listener)
      return listener.port
    } catch (error) {
      await Promise.all(listeners.map((listener) => listener.close(0)))
      throw new StartFailure(portFailure(name, port, error))
    }
  }
  const https = await open('https', settings.https, (port) => listen({ ...common, port, host, tls: server }, answer))
  const isTrustedProxy = trusted.matches
  const http = await open('http', settings.http, (port) => listen({ ...common, port, host, isTrustedProxy }, answer))
  const operators = makeManagement(dataspaces, gateway)
  const management = await open('management', settings.management, (port) =>
    listen({ ...common, port, host: '127.0.0.1' }, operators),
  )
  const ports = {
    ...(https !== undefined && { https }),
    ...(http !== undefined && { http }),
    ...(management !== undefined && { management }),
  }
  return { ports, listeners }
}

function portFailure(name: string, port: number, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const why =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'may not be used by this account' : `failed: ${message}`
  return `--${name}: port ${port} ${why}. Choose another one, or end what is using it.`
}
