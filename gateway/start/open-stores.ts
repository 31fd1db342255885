// Opening the stores of a configuration, and of waiting until they answer.
import { StartFailure } from '../configuration/start-failure.js'
import type { DescribedApplication, DescribedDataspace, ServiceDescription } from '../configuration/dataspace.js'
import { openEmbeddedStore } from '../stores/embedded-store.js'
import { groupedStore } from '../stores/grouped-store.js'
import { openHttpStore } from '../stores/http-store.js'
import type { Log } from '../log.js'
import type { Problem } from '../problem.js'
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
  close(): Promise<void>
}

/** Dataspaces may share a store: those with the same endpoints are opened once. */
export function makeStores(settings: Settings, openStore?: OpenStore): Stores {
  const opened = new Map<string, GraphStore>()
  return {
    async open(application) {
      const { service } = application
      const key = openStore || service.embedded ? application.iri : `${service.query} ${service.graphStore}`
      const store = opened.get(key) ?? (await (openStore ?? openConfigured)(service, application, settings))
      opened.set(key, store)
      return store
    },
    close: async () => void (await Promise.all([...opened.values()].map((store) => store.close()))),
  }
}

async function openConfigured(
  { query, update, graphStore, credentials, embedded }: ServiceDescription,
  { kind }: DescribedApplication,
  { storeTimeout }: Settings,
): Promise<GraphStore> {
  if (embedded) return openEmbeddedStore(`embedded store, ${kind}`, { queryTimeout: storeTimeout })
  const settings = { query: query!, update: update!, graphStore: graphStore!, headersTimeout: storeTimeout }
  return groupedStore(openHttpStore({ ...settings, ...(credentials && { credentials }) }))
}

/** Waits until every store answers. Gives up at once if a store refuses, which waiting does not change. */
export async function untilReady(stores: readonly GraphStore[], log: Log): Promise<void> {
  const deadline = performance.now() + STORE_PATIENCE_MS
  const waitFor = async (store: GraphStore): Promise<string | undefined> => {
    for (let tries = 0; ; tries++) {
      const failed = await store.ready({ signal: AbortSignal.timeout(STORE_PATIENCE_MS) })
      if (!failed) return undefined
      if (performance.now() > deadline || failed.failure === 'store.refused') {
        return `the triplestore ${store.name}: ${failed.detail} Check that it runs and that its URL is right.`
      }
      if (tries === 0) log.warn({ store: store.name, problem: failed.detail }, 'waiting for the triplestore')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  const failures = (await Promise.all([...new Set(stores)].map(waitFor))).filter((failed) => failed !== undefined)
  if (failures.length > 0) throw new StartFailure(failures.join('\n'))
}

export function orFail(failed: Problem | undefined, what: string): void {
  if (failed) throw new StartFailure(`${what}: ${failed.detail} Check that the store runs and that its URL is right.`)
}

/** The stores, as `host:port`: a fetch on behalf of an agent must not reach them. */
export const backendsOf = (dataspaces: readonly DescribedDataspace[]): string[] =>
  dataspaces
    .flatMap(({ endUser, admin }) => [endUser.service, admin.service])
    .flatMap(({ query, update, graphStore }) => [query, update, graphStore])
    .filter((url) => url !== undefined)
    .map((url) => new URL(url))
    .map(({ hostname, port, protocol }) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`)
