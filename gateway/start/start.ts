// Starts and stops a gateway: checks, certificates, the gateway value, seeds, probe, listeners.
import type { GatewayCaches } from '../caches.js'
import { sharedStores } from '../configuration/conflicts.js'
import { type DescribedDataspace, isInMemory } from '../configuration/dataspace.js'
import { faultLine } from '../configuration/faults.js'
import type { Settings } from '../configuration/settings.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Closer, GatewayFeature } from '../feature.js'
import type { Dataspace, Gateway } from '../gateway.js'
import type { Listener } from '../http/listener.js'
import { writePrivate } from '../identity/private-file.js'
import { type Log, makeLog } from '../log.js'
import { isFailure } from '../problem.js'
import type { Holder } from '../stores/holder.js'
import { prepareParser } from '../sparql/language/parse.js'
import {
  type Certificates,
  type CertificatesWanted,
  ensureCertificates,
  readServerCertificate,
} from './certificates.js'
import { forget } from '../methods/changed-graphs.js'
import { reportOtherGraphs } from './known-other-graphs.js'
import { type Ports, type TakenPorts, closePorts, openListeners, portsOf, takePorts } from './listeners.js'
import { type MakingParts, makeGateway } from './make-gateway.js'
import { ownerOf } from './open-dataspace.js'
import { type OpenStore, orFail } from './open-stores.js'
import { ownData } from './own-data.js'
import { makePrivate } from './private-folder.js'
import { strayAgents } from './seed.js'
import { type Seeded, openSeeded, refuseMoved } from './seeded.js'
import { seedDataspace } from './seeding.js'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * @returns the function that writes the prefixes. A crash loses those since the start, which only costs convenience.
 */
export async function keepPrefixes(
  folder: string,
  prefixes: GatewayCaches['prefixes'],
  log: Log,
): Promise<() => Promise<void>> {
  const file = join(folder, 'prefixes.json')
  const failed = (err: unknown): void =>
    log.warn({ file, err }, 'the prefixes typed on the query page cannot be stored')
  const stored = await readFile(file, 'utf8').catch(() => '{}')
  try {
    for (const [document, text] of Object.entries(JSON.parse(stored) as object))
      prefixes.set(document, { text: String(text) })
  } catch (error) {
    failed(error)
  }
  return async () => {
    const entries = prefixes.entries().map(([document, { text }]) => [document, text] as const)
    if (entries.length > 0) await writePrivate(file, JSON.stringify(Object.fromEntries(entries))).catch(failed)
  }
}

export interface RunningGateway {
  readonly gateway: Gateway
  readonly dataspaces: readonly Dataspace[]
  readonly certificates: Certificates
  readonly ports: Ports
  /** Reads the server certificate again, for new connections. If the new one cannot be used, the old one stays. */
  renew(): Promise<void>
  /** Accepts no more requests, lets running ones finish for `grace` ms, and closes everything. */
  close(grace?: number): Promise<void>
}

export interface StartOptions {
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  readonly features: readonly GatewayFeature[]
  /** Opens a store; tests give stores of their own. */
  readonly openStore?: OpenStore
  readonly log?: Log
  /** The clock, in ms since the epoch; tests give one of their own. */
  readonly now?: () => number
  /** Tests on slow machines wait longer for commits, and for jobs of threads (by the clock, in ms). */
  readonly commitsWait?: number
  readonly jobsTime?: number
  /** Called with a message when another gateway has taken a store: then this one must stop. */
  readonly lost?: (why: string) => void
}

const GRACE_MS = 8_000

export const NOT_ENFORCED =
  'ACCESS CONTROL IS NOT ENFORCED (--enforce=false): refusals are only logged, except in the admin application'

/** Throws StartFailure. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const { settings, dataspaces } = options
  refuseLostRules(options)
  prepareParser()
  const closers: Closer[] = []
  try {
    const { log = makeLog(settings.logLevel) } = options
    const waited = settings.standby ? await ownData(settings.data, log) : undefined
    if (waited) closers.push(waited.release)
    // Design 2: before anything is written to the data folder or a store.
    const taken = await takePorts(options)
    closers.push(() => closePorts(taken))
    const seeded = openSeeded(settings.data)
    refuseMoved(seeded, settings, dataspaces)
    const owned = waited ?? (await ownData(settings.data))
    if (!waited) closers.push(owned.release)
    return await startOn(taken, seeded, owned.me, { ...options, log }, closers)
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

async function startOn(
  taken: TakenPorts,
  seeded: Seeded,
  me: Holder,
  options: StartOptions & { readonly log: Log },
  closers: Closer[],
): Promise<RunningGateway> {
  const { settings, log, now = Date.now } = options
  const lost = options.lost ?? ((why) => log.error(why))
  await makePrivate(settings.data, log)
  const wanted = certificatesWanted(settings, options.dataspaces, now)
  const certificates = await ensureCertificates(wanted)
  if (isFailure(certificates)) throw new StartFailure(certificates.detail)
  for (const notice of certificates.notices) log.warn(notice)
  if (!settings.enforce) log.warn(NOT_ENFORCED)
  for (const sharing of sharedStores(options.dataspaces)) log.warn(faultLine(sharing))
  const stray = strayAgents(options.dataspaces, [certificates.owner, certificates.secretary])
  if (stray.length > 0) throw new StartFailure(stray.join('\n'))
  const ports = portsOf(taken)
  const parts: MakingParts = { ...options, certificates, me, lost, ports: Object.values(ports), log, now }
  const gateway = await makeGateway(parts, closers)
  const { dataspaces } = gateway
  closers.push(await keepPrefixes(settings.data, gateway.caches.prefixes, log))
  for (const dataspace of dataspaces) await seedAndLoadRules(dataspace, seeded, parts)
  const listeners = await openListeners(gateway, options, taken, certificates.server)
  gateway.watchdog.serves()
  for (const feature of options.features) closers.push(feature.begin?.(gateway, settings) ?? (() => undefined))
  const leaving = new AbortController()
  closers.push(() => leaving.abort())
  void exploreStores(gateway, settings.data, leaving.signal).catch((error: unknown) =>
    log.error({ err: error }, 'the stores could not be explored'),
  )
  return {
    gateway,
    dataspaces,
    certificates,
    ports,
    renew: () => renew(listeners, wanted, log),
    async close(grace = GRACE_MS) {
      await Promise.all(listeners.map((listener) => listener.close(grace)))
      await closeAll(closers)
    },
  }
}

/** Runs in the background after the start. */
async function exploreStores(gateway: Gateway, data: string, signal: AbortSignal): Promise<void> {
  const { dataspaces } = gateway
  for (const dataspace of dataspaces) {
    for (const application of [dataspace.endUser, dataspace.admin]) {
      const { traits, prefixes, checkNames } = application
      if (await checkNames?.(signal)) {
        gateway.forgetTargets()
        await forget(dataspace, undefined, gateway)
      }
      await traits.current(signal)
      await prefixes.find(gateway.now())
    }
  }
  await reportOtherGraphs(dataspaces, gateway, data, signal)
}

/** Closes in the reverse order of opening: histories and rules before the stores that they use. */
async function closeAll(closers: readonly Closer[]): Promise<void> {
  for (const close of [...closers].reverse()) await close()
}

/** Documents must not outlive the rules about them. */
function refuseLostRules({ dataspaces, openStore }: StartOptions): void {
  for (const { endUser, admin } of dataspaces) {
    if (!isInMemory(admin.service) || admin.versioning !== 'off' || endUser.service.embedded || openStore) continue
    const problem = 'the access control would be lost at each stop, because its embedded store has no history'
    throw new StartFailure(`${admin.base}: ${problem}. Give --admin-history local.`, 'configuration.wrong')
  }
}

async function renew(listeners: readonly Listener[], wanted: CertificatesWanted, log: Log): Promise<void> {
  const renewed = listeners.filter((one) => one.renew !== undefined)
  if (renewed.length === 0) return
  const server = await readServerCertificate(wanted)
  if (isFailure(server)) {
    log.error({ faults: server.faults }, 'the server certificate cannot be read again: the old one stays in use')
    return
  }
  for (const notice of server.notices) log.warn(notice)
  for (const listener of renewed) listener.renew!({ cert: server.cert, key: server.key })
  log.info('the server certificate was read again, for new connections')
}

function certificatesWanted(
  settings: Settings,
  dataspaces: readonly DescribedDataspace[],
  now: () => number,
): CertificatesWanted {
  const agents = `${dataspaces[0]!.admin.base}acl/agents/`
  const { owner } = dataspaces[0]!.endUser
  const hosts = dataspaces.flatMap(({ endUser, admin }) => [endUser.base, admin.base].map((base) => new URL(base)))
  const { tlsCert, tlsKey } = settings
  return {
    folder: settings.data,
    hostNames: [...new Set(hosts.map(({ hostname }) => hostname))],
    ownerWebId: `${agents}${randomUUID()}/#this`,
    secretaryWebId: `${agents}${randomUUID()}/#this`,
    ...(owner !== undefined && { externalOwner: owner }),
    ...(tlsCert !== undefined && tlsKey !== undefined && { serverFiles: { cert: tlsCert, key: tlsKey } }),
    now,
  }
}

async function seedAndLoadRules(
  dataspace: Dataspace,
  seeded: Seeded,
  { certificates, log, now }: MakingParts,
): Promise<void> {
  const { endUser, admin, access } = dataspace
  const { secretary } = certificates
  const agents = { owner: ownerOf(endUser, certificates), secretary, now: now() }
  orFail(await seedDataspace(dataspace, agents, seeded, log), `the seeds of ${endUser.base}`)
  for (const { iri, base } of [endUser, admin]) seeded.recordApplication(base, iri)
  orFail(await access.start(), `the authorizations of ${admin.base}`)
}
