// Opens the stores of a configuration, waits until they answer, and becomes the only writer of each.
import { StartFailure } from '../configuration/start-failure.js'
import type { DescribedApplication, DescribedDataspace, ServiceDescription } from '../configuration/dataspace.js'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  DATABASE,
  findOxigraph,
  installedOxigraph,
  isForbiddenOxigraph,
  isUntouched,
  openChildStore,
} from '../stores/child-store.js'
import { storeAdvice } from '../stores/connection-problem.js'
import { mostQuadsOf } from '../stores/embedded-limits.js'
import { openEmbeddedStore } from '../stores/embedded-store.js'
import { groupedStore } from '../stores/grouped-store.js'
import { heldStore, holderText, holdPlace, type Holder, type Place, type PlaceSettings } from '../stores/holder.js'
import { openHttpStore } from '../stores/http-store.js'
import { makeLog, type Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import type { Settings } from '../configuration/settings.js'
import type { GraphStore } from '../stores/store.js'

const STORE_PATIENCE_MS = 10_000

export type OpenStore = (
  service: ServiceDescription,
  application: DescribedApplication,
  settings: Settings,
) => Promise<GraphStore>

export interface Stores {
  open(application: DescribedApplication): Promise<GraphStore>
  /** Design 2: no other gateway writes to the stores from now on. Throws StartFailure. */
  hold(stores: readonly GraphStore[], settings: HoldSettings): Promise<void>
  close(): Promise<void>
}

export interface HoldSettings {
  readonly me: Holder
  readonly log: Log
  /** Called with a message if this gateway must stop. */
  readonly lost: (why: string) => void
}

/** Dataspaces may share a store: stores with the same endpoints are opened once. @param log of a gateway */
export function makeStores(settings: Settings, openStore?: OpenStore, log?: Log): Stores {
  const opened = new Map<string, GraphStore>()
  const held = new Map<GraphStore, Held>()
  return {
    async open(application) {
      const { service } = application
      const isOwn = openStore !== undefined || service.embedded
      const key = isOwn ? application.iri : `${service.query} ${service.graphStore}`
      const known = opened.get(key)
      if (known) return known
      const inner = await (openStore ?? openConfigured(log))(service, application, settings)
      // Nobody else writes to an embedded store: it is in this process, or has its own lock on disk.
      if (isOwn) {
        opened.set(key, inner)
        return inner
      }
      const place: Held = { inner, place: undefined }
      const store = heldStore(inner, () => place.place)
      held.set(store, place)
      opened.set(key, store)
      return store
    },
    async hold(stores, hold) {
      // All places are asked for at the same time, since a gateway that was killed lets each wait for four seconds. They
      // are taken in turn, so that of several gateways one gets all.
      const taking: Promise<void>[] = []
      for (const one of new Set(stores.map((store) => held.get(store)))) {
        if (one && !one.place) taking.push(takeAt(one, { ...hold, turn: taking.at(-1) }, settings))
      }
      await Promise.allSettled(taking)
      await Promise.all(taking)
    },
    async close() {
      await Promise.all([...held.values()].map(({ place }) => place?.leave()))
      await Promise.all([...opened.values()].map((store) => store.close()))
    },
  }
}

interface Held {
  readonly inner: GraphStore
  place: Place | undefined
}

async function takeAt(
  held: Held,
  { me, log, lost, turn }: HoldSettings & Pick<PlaceSettings, 'turn'>,
  { standby }: Settings,
): Promise<void> {
  const { inner: store } = held
  const lostTo = (other: Holder): void => lost(`${store.name}: ${TAKEN} (${holderText(other)}).`)
  const place = await holdPlace(store, { me, lost: lostTo, turn })
  if (isFailure(place)) {
    if (place.failure !== 'store.refused') orFail(place, `the triplestore ${store.name}`)
    // Nobody writes to a store that accepts no updates.
    log.warn({ store: store.name, problem: place.detail }, 'whether another gateway writes to this store is not known')
    return
  }
  if ('heldBy' in place) {
    const why = `${store.name}: another gateway writes to this triplestore (${holderText(place.heldBy)}).`
    throw new StartFailure(`${why} ${standby ? STANDBY : 'Stop that one, or give each a store of its own.'}`)
  }
  held.place = place
}

const STANDBY = 'A standby needs the same data folder (--data) as the running gateway, since the log is in it.'
const TAKEN = 'another gateway has replaced this one as the writer of the triplestore'

const openConfigured =
  (log?: Log): OpenStore =>
  async (service, { kind }, settings) => {
    const { query, update, graphStore, credentials, embedded, onDisk } = service
    const queryTimeout = settings.storeTimeout
    if (onDisk) return openOnDisk(kind, settings, log ?? makeLog(settings.logLevel))
    if (embedded) {
      refuseOlderState(kind, settings)
      return openEmbeddedStore(`embedded store, ${kind}`, {
        queryTimeout,
        mostQuads: mostQuadsOf(),
        ...(log && { log }),
      })
    }
    const given = { query: query!, update: update!, graphStore: graphStore!, headersTimeout: queryTimeout }
    return groupedStore(openHttpStore({ ...given, ...(credentials && { credentials }) }))
  }

/** The folder of an embedded store that is on disk. */
export const storeFolder = (data: string, kind: DescribedApplication['kind']): string =>
  join(data, 'store', kind === 'admin' ? 'rules' : 'documents')

/** The file of that folder with the compiled rules (rules/rules-snapshot.ts). */
export const rulesSnapshot = (data: string): string => join(storeFolder(data, 'admin'), 'rules.snapshot')

/** A file of that folder: the store has been filled from its history. */
export const filledMark = (data: string, kind: DescribedApplication['kind']): string =>
  join(storeFolder(data, kind), 'filled')

/** The store on disk would miss writes made meanwhile, and its next start would undo them. */
function refuseOlderState(kind: DescribedApplication['kind'], { data }: Settings): void {
  const folder = storeFolder(data, kind)
  if (!existsSync(folder)) return
  const fix = 'Give --store oxigraph, or remove the folder if the history has all documents.'
  throw new StartFailure(`${folder} has the store of this data folder. ${fix}`, 'configuration.wrong')
}

async function openOnDisk(
  kind: DescribedApplication['kind'],
  { data, rebuild, storeTimeout: queryTimeout }: Settings,
  log: Log,
): Promise<GraphStore> {
  const executable = findOxigraph(data)
  if (executable === undefined)
    throw new StartFailure(
      isForbiddenOxigraph(data)
        ? `${installedOxigraph(data)}: this account may not run it. Correct the owner of its files (chown -R).`
        : '--store oxigraph: there is no executable oxigraph. Run triplegate store install, or put it on the PATH.',
      'configuration.wrong',
    )
  const name = `embedded store on disk, ${kind}`
  const folder = storeFolder(data, kind)
  if (existsSync(filledMark(data, kind)) && !existsSync(join(folder, DATABASE))) {
    log.warn(
      { store: name, folder },
      'the database of the store is missing: the store is filled from its history again',
    )
    rmSync(filledMark(data, kind))
  }
  // The rules are not those of the file if the store is filled again, or another program has changed them.
  const isSame = !rebuild && existsSync(filledMark(data, kind)) && isUntouched(folder)
  if (kind === 'admin' && !isSame) rmSync(rulesSnapshot(data), { force: true })
  const opened = await openChildStore({ name, folder, executable, queryTimeout, log })
  if (!isFailure(opened)) return groupedStore(opened)
  throw new StartFailure(`${name}: it does not start: ${opened.detail}`)
}

const STORE_CHECK = 'Check that the store runs and that its URL is right.'

/** Waits until every store answers. Gives up at once if a store refuses, which waiting does not change. */
export async function untilReady(stores: readonly GraphStore[], log: Log): Promise<void> {
  const deadline = performance.now() + STORE_PATIENCE_MS
  const waitFor = async (store: GraphStore): Promise<string | undefined> => {
    for (let tries = 0; ; tries++) {
      const failed = await store.ready({ signal: AbortSignal.timeout(STORE_PATIENCE_MS) })
      if (!failed) return undefined
      if (performance.now() > deadline || failed.failure === 'store.refused') {
        return `the triplestore ${store.name}: ${failed.detail} ${storeAdvice(failed, STORE_CHECK)}`
      }
      if (tries === 0) log.warn({ store: store.name, problem: failed.detail }, 'waiting for the triplestore')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  const failures = (await Promise.all([...new Set(stores)].map(waitFor))).filter((failed) => failed !== undefined)
  if (failures.length > 0) throw new StartFailure(failures.join('\n'))
}

export function orFail(failed: Problem | undefined, what: string): void {
  if (failed) throw new StartFailure(`${what}: ${failed.detail} ${storeAdvice(failed, STORE_CHECK)}`)
}

/** The stores, as `host:port`: a fetch on behalf of an agent must not reach them. */
export const backendsOf = (dataspaces: readonly DescribedDataspace[]): string[] =>
  dataspaces
    .flatMap(({ endUser, admin }) => [endUser.service, admin.service])
    .flatMap(({ query, update, graphStore }) => [query, update, graphStore])
    .filter((url) => url !== undefined)
    .map((url) => new URL(url))
    .map(({ hostname, port, protocol }) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`)
