// In charge of putting a gateway together from its settings and taking it apart again: stores, seeds, rules, listeners.
import { randomUUID } from 'node:crypto'
import { makeAddressMatcher, type AddressMatcher } from '../../policies/fetch/address.js'
import { makeGuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { makeWebIdVerifier, type WebIdVerifier } from '../../policies/identity/webid.js'
import { ensureCertificates, type Certificates } from './certificates.js'
import { listenAddress, type DescribedDataspace } from '../configuration/dataspace.js'
import { openEvaluation } from '../evaluation/evaluation.js'
import { membersOf, type Dataspace, type Gateway } from '../gateway.js'
import { handle, handleNow } from '../handle.js'
import { makeReadProfile } from '../request/identify.js'
import { makeLinkedDataProxy, ownUrls, proxyLimits } from '../proxy/linked-data-proxy.js'
import { makeLocks } from '../documents/lock.js'
import { makeLoadContext } from '../rdf/json-ld-contexts.js'
import { makeLog, type Log } from '../log.js'
import { makeMail } from '../agents/mail.js'
import { makeManagement } from '../operators/management.js'
import { makeCaches, openDataspace, ownerOf } from './open-dataspace.js'
import type { Identities } from '../identity/identities.js'
import { openIdentities } from './open-identities.js'
import { backendsOf, makeStores, orFail, type OpenStore } from './open-stores.js'
import { StartFailure } from '../configuration/start-failure.js'
import { startProbe } from '../operators/probe.js'
import { strayAgents } from './seed.js'
import { seedDataspace } from './seeding.js'
import { listen, type Answer, type Listener } from '../http/listener.js'
import type { Settings } from '../configuration/settings.js'
import { makeTargetParser, siteOf } from '../http/target.js'

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
  readonly dataspaces: readonly DescribedDataspace[]
  /** How a store is opened; tests give stores of their own. */
  readonly openStore?: OpenStore
  readonly log?: Log
}

const GRACE_MS = 8_000

export const NOT_ENFORCED =
  'ACCESS CONTROL IS NOT ENFORCED (--enforce=false): what it would refuse is logged and let pass, but in the admin application'

export async function startGateway(options: StartOptions): Promise<Running> {
  const { settings, dataspaces: configured } = options
  const log = options.log ?? makeLog(settings.logLevel)
  const now = Date.now
  const certificates = await makeCertificates(settings, configured, now())
  const { owner, secretary, notices } = certificates
  for (const notice of notices) log.warn(notice)
  if (!settings.enforce) log.warn(NOT_ENFORCED)
  const stray = strayAgents(configured, [owner, secretary])
  if (stray.length > 0) throw new StartFailure(stray.join('\n'))
  for (const { endUser, admin } of configured) {
    // Documents that outlive their rules would be everybody's or nobody's.
    if (admin.service.embedded && admin.versioning === 'off' && !endUser.service.embedded && !options.openStore) {
      throw new StartFailure(`${admin.base}: the rules have no store that keeps them. Give --admin-history local.`)
    }
  }
  const mail = makeMail(settings)
  const stores = makeStores(settings, options.openStore)
  const evaluation = openEvaluation({ timeLimit: settings.patchTimeout })
  const validation = openEvaluation({ timeLimit: settings.patchTimeout })
  const bases = configured.flatMap(({ endUser, admin }) => [endUser.base, admin.base])
  const destinations = {
    allow: matcherOf(settings.allowFetch),
    never: [...backendsOf(configured), ...ownPorts(settings)],
    isOwn: ownUrls(bases),
  }
  const fetcher = makeGuardedFetch(destinations)
  const proxied = makeGuardedFetch({ ...destinations, ...proxyLimits(settings.proxyTimeout) })
  const closers: (() => Promise<unknown> | void)[] = [
    evaluation.close,
    validation.close,
    fetcher.close,
    proxied.close,
    stores.close,
  ]
  try {
    const cacheOf = makeCaches(settings, 2 * configured.length, now)
    const locks = makeLocks()
    const dataspaces: Dataspace[] = []
    for (const each of configured) {
      const surroundings = { settings, certificates, open: stores.open, cacheOf, locks, log, now }
      const { dataspace, close } = await openDataspace(each, surroundings)
      dataspaces.push(dataspace)
      closers.push(close)
    }
    const site = siteOf(membersOf(dataspaces))
    const readProfile = makeReadProfile(site, fetcher, now)
    const { identities, close: closeIdentities } = await openIdentities(settings, destinations, {
      readProfile,
      log,
      now,
    })
    closers.push(closeIdentities)
    const webIds = withIdentities(makeWebIdVerifier({ readProfile, now }), identities)
    const gateway: Gateway = {
      dataspaces,
      targetOf: makeTargetParser(site),
      webIds,
      identities,
      evaluation,
      validation,
      locks,
      log,
      now,
      uuid: randomUUID,
      loadContext: makeLoadContext(fetcher),
      proxy: makeLinkedDataProxy({ use: settings.proxy, bases, fetcher: proxied }),
      ...(mail && { mail }),
      answered: new Map(),
      settings: {
        maxBody: settings.maxBody,
        requirePreconditions: settings.requirePreconditions,
        enforce: settings.enforce,
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
        await closeAll(closers)
      },
    }
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

/** What was opened last is closed first: histories and rules before the stores that they rest on. */
async function closeAll(closers: readonly (() => Promise<unknown> | void)[]): Promise<void> {
  for (const close of [...closers].reverse()) await close()
}

async function makeCertificates(
  settings: Settings,
  dataspaces: readonly DescribedDataspace[],
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

/** What rests on a document is forgotten together. */
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

const hostOf = (base: string): string => new URL(base).hostname

function matcherOf(cidrs: readonly string[]): AddressMatcher {
  const matcher = makeAddressMatcher(cidrs)
  if ('faults' in matcher) throw new TypeError('settings let a malformed address through')
  return matcher
}

// On loopback the gateway's own listeners believe more than they would from outside.
const ownPorts = ({ https, http, management }: Settings): string[] =>
  [https, http, management].filter((port) => port !== 'off').map((port) => `localhost:${port}`)

async function openListeners(
  { settings, dataspaces: configured }: StartOptions,
  gateway: Gateway,
  dataspaces: readonly Dataspace[],
  { server }: Certificates,
): Promise<{ ports: Running['ports']; listeners: Listener[] }> {
  const host = settings.host ?? listenAddress(configured)
  const trusted = matcherOf(settings.trustedProxy)
  const answer: Answer = {
    now: (request) => handleNow(request, gateway),
    later: (request) => handle(request, gateway),
  }
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
  const operators = { later: makeManagement(dataspaces, gateway) }
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
