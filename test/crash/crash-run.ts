// One run of crashes: agents write, while the gateway is killed at random moments and started again. At the end, the
// responses that the agents received are compared with the store and the history.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { collectCertificates } from '../support/certificates.js'
import type { Client } from '../support/client.js'
import { releasePort } from '../support/ports.js'
import { A_MINUTE } from '../support/wait.js'
import { documentPath } from '../../versioning/git/document-path.js'
import { commitsOf, differences, indexFaults, PREFIX, unsoundness, type ReadDocuments } from './evidence.js'
import {
  historyFolder,
  makeSite,
  startGateway,
  untilSettled,
  type GatewayProcess,
  type Site,
} from './gateway-process.js'
import { openPlace, type Kind, type Place } from './places.js'
import { makeRandom, type Random } from './random.js'
import { faultsOf } from './replay.js'
import { clientOf, isExpected, makeAgents, ownerOf, writeUntil, type Agents, type Write } from './writers.js'

export interface CrashOptions {
  readonly kind: Kind
  /** How often to kill the gateway. */
  readonly kills: number
  readonly seed: number
  /** The URL of a Fuseki that creates datasets on demand, for the kinds that need one. */
  readonly fuseki?: string
  /** When to stop killing, ms since the epoch. */
  readonly deadline?: number
  readonly progress?: (line: string) => void
}

export interface CrashReport {
  /** Kills of the gateway. */
  readonly kills: number
  /** The kills that came before the gateway served requests. */
  readonly atStart: number
  /** Kills of git or of the store. */
  readonly others: number
  /** Kills of the gateway and the store at the same moment; they count in `kills` too. */
  readonly both: number
  readonly writes: Readonly<Record<Write['outcome'], number>>
  readonly commits: number
  /** How many updates of the store changed several documents, if the place can count them. */
  readonly sharedUpdates: number | undefined
  readonly faults: readonly string[]
  /** The folder with the data of the run. It is kept if there are faults. */
  readonly folder: string
}

/** The share of kills that come before the gateway serves. */
const AT_START = 0.25
/** The share of the other kills that end the store at the same moment, if the place has one of its own. */
const OF_BOTH = 0.25

export async function runCrashes(options: CrashOptions): Promise<CrashReport> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-crash-'))
  const [data, stores] = [join(folder, 'data'), join(folder, 'stores')]
  for (const each of [data, stores]) mkdirSync(each)
  const place = await openPlace(options.kind, stores, options.fuseki)
  const site = await makeSite(data, place.flags)
  let report: CrashReport
  try {
    report = await crashesIn(place, site, options, folder)
    // The next run uses these ports, and the certificates that contain them.
    collectCertificates(site.port, data)
    for (const port of [site.port, site.management]) releasePort(port)
  } finally {
    await place.close()
  }
  if (report.faults.length === 0) rmSync(folder, { recursive: true, force: true })
  return report
}

async function crashesIn(
  place: Place,
  site: Site,
  { kills, seed, deadline = Infinity, progress = () => undefined }: CrashOptions,
  folder: string,
): Promise<CrashReport> {
  const random = makeRandom(seed)
  const writes: Write[] = []
  const faults: string[] = []
  const counts = { kills: 0, atStart: 0, others: 0, both: 0 }
  const documents = Array.from({ length: 2 * place.agents }, (_, n) => `${site.base}d${n}/`)
  let agents: Agents | undefined
  let startMs = 1500
  while (counts.kills < kills && Date.now() < deadline && faults.length === 0) {
    const began = Date.now()
    const gateway = startGateway(site)
    // The first gateway is not killed before a write has succeeded.
    const isEarly = agents !== undefined && random.chance(AT_START)
    if (isEarly) await Promise.race([sleep(random.between(0, startMs)), gateway.ready])
    else {
      const failed = await readiness(gateway, place.failing)
      if (failed !== undefined) faults.push(...failed)
      if (failed) continue
      startMs = Date.now() - began
      agents ??= await inTime(makeAgents(site, place.agents), 'the owner gets no responses in time')
      const killBoth = place.killStore !== undefined && random.chance(OF_BOTH)
      if (killBoth) counts.both++
      const life = { gateway, site, place, random, agents, documents, writes }
      counts.others += await serveUntilKilled(life, killBoth)
    }
    await gateway.kill()
    counts.kills++
    if (isEarly) counts.atStart++
    progress(`${counts.kills} kills of the gateway, ${counts.others} others, ${writes.length} writes`)
  }
  faults.push(...writes.filter((write) => !isExpected(write)).map((write) => `unexpected: ${JSON.stringify(write)}`))
  if (faults.length === 0) faults.push(...(await finalFaults(site, place, writes)))
  const count = (outcome: Write['outcome']): number => writes.filter((write) => write.outcome === outcome).length
  return {
    ...counts,
    writes: { done: count('done'), refused: count('refused'), unknown: count('unknown') },
    commits: commitsOf(join(historyFolder(site, site.base), 'repository.git')).length,
    sharedUpdates: place.sharedUpdates?.(),
    faults,
    folder,
  }
}

/** Undefined once the gateway serves requests; otherwise the faults. There are none if the store may be the reason. */
async function readiness(gateway: GatewayProcess, failing: boolean): Promise<readonly string[] | undefined> {
  if (await inTime(gateway.ready, 'the gateway does not start in time')) return undefined
  return failing && gateway.exitCode() === 2 ? [] : [`the gateway stopped: ${gateway.output()}`]
}

/** Only a gateway that hangs takes that long: a busy machine makes a start many times slower. */
const PATIENCE_MS = 5 * A_MINUTE

const inTime = <T>(work: Promise<T>, otherwise: string): Promise<T> =>
  Promise.race([
    work,
    sleep(PATIENCE_MS, undefined, { ref: false }).then(() => {
      throw new Error(otherwise)
    }),
  ])

interface Life {
  readonly gateway: GatewayProcess
  readonly site: Site
  readonly place: Place
  readonly random: Random
  readonly agents: Agents
  readonly documents: readonly string[]
  readonly writes: Write[]
}

/** Agents write until the gateway is killed. Returns how many other processes were killed meanwhile. */
async function serveUntilKilled(
  { gateway, site, place, random, agents, documents, writes }: Life,
  killBoth: boolean,
): Promise<number> {
  const over = new AbortController()
  const clients: Client[] = []
  const nextMark = (): string => `w${++marks}`
  const writing = [...agents].map(([agent, pem]) => {
    const client = clientOf(site, pem)
    clients.push(client)
    return writeUntil(over.signal, { client, agent, documents }, { random, nextMark, writes })
  })
  const disturbing = killBoth ? 0 : place.disturb(gateway.pid, over.signal, random)
  await inTime(untilBegun(writes, place), 'no write gets a 2xx response in time')
  await sleep(random.between(...place.life))
  const store = killBoth && place.killStore?.(gateway.pid)
  await gateway.kill()
  over.abort()
  await store
  await Promise.all(writing)
  for (const client of clients) client.close()
  return disturbing
}

let marks = 0

/** A write has succeeded and, if the place shares updates, several writes have shared one. */
async function untilBegun(writes: readonly Write[], { sharedUpdates = () => 1 }: Place): Promise<void> {
  while (!writes.some(({ outcome }) => outcome === 'done') || sharedUpdates() === 0) await sleep(5)
}

async function finalFaults(site: Site, place: Place, writes: readonly Write[]): Promise<string[]> {
  const gateway = startGateway(site)
  const faults = [...((await readiness(gateway, false)) ?? [])]
  if (faults.length > 0) return faults
  const unsettled = await untilSettled(site)
  const bases = [site.base, site.admin]
  const repositories = bases.map((base) => join(historyFolder(site, base), 'repository.git'))
  const owner = ownerOf(site)
  const read: ReadDocuments = place.documents(owner)
  for (const [n, base] of bases.entries()) faults.push(...(await differences(repositories[n]!, base, read)))
  owner.close()
  await gateway.stop()
  if (unsettled !== undefined) faults.push(unsettled)
  faults.push(...faultsOf(commitsOf(repositories[0]!), writes, (document) => documentPath(document, site.base, PREFIX)))
  // Only the owner writes in the admin application, so its commits are checked separately.
  faults.push(...faultsOf(commitsOf(repositories[1]!), [], (document) => documentPath(document, site.admin, PREFIX)))
  for (const [n, base] of bases.entries()) {
    faults.push(...unsoundness(repositories[n]!), ...(await indexFaults(site, base)))
  }
  return faults
}
