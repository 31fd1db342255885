// Maintenance of Fuseki: its TDB2 datasets are compacted, since each write makes them grow (design 3).
import type { Settings } from '../../configuration/settings.js'
import type { GatewayFeature } from '../../feature.js'
import { membersOf, type Gateway } from '../../gateway.js'
import { openFusekiAdmin, type FusekiAdmin } from '../../stores/fuseki-admin.js'
import type { GraphStore } from '../../stores/store.js'
import { compactStore } from './compact-store.js'
import { runSchedule, type Outcome } from './schedule.js'

export const MAINTENANCE: GatewayFeature = {
  begin(gateway, { compact: when, fusekiFolder: folders, data }: Settings) {
    if (when === undefined) return undefined
    const { log, now } = gateway
    const stores = administered(gateway)
    const leaving = new AbortController()
    for (const { admin } of stores) void announce(admin, when, gateway)
    if (stores.length === 0) log.warn('--compact: no store is a dataset of Fuseki: nothing is compacted')
    const compactOne = async ({ store, admin }: Administered, measure: () => Promise<void>): Promise<Outcome> => {
      const from = performance.now()
      const compaction = await compactStore(store, admin, { signal: leaving.signal, measure })
      const about = { store: admin.dataset, milliseconds: Math.round(performance.now() - from) }
      if (compaction === 'done') {
        log.info(about, 'the store has been compacted')
        return 'done'
      }
      log.warn({ ...about, problem: compaction.problem }, 'the store was not compacted')
      return compaction.isBusy ? 'busy' : 'failed'
    }
    const ended =
      stores.length === 0 ? undefined : runSchedule({ when, folders, data, now }, stores, compactOne, leaving.signal)
    const stopped = ended?.catch((error: unknown) => {
      if (!leaving.signal.aborted) log.error({ err: error }, 'compaction has failed')
    })
    return async () => {
      leaving.abort()
      await stopped
      await Promise.all(stores.map(({ admin }) => admin.close()))
    }
  },
}

interface Administered {
  readonly store: GraphStore
  readonly admin: FusekiAdmin
}

/** Dataspaces may share a store. */
function administered({ dataspaces }: Gateway): Administered[] {
  const services = new Map(membersOf(dataspaces).map(({ application: { store, service } }) => [store, service]))
  return [...services].flatMap(([store, service]) => {
    const admin = store.pause && openFusekiAdmin(service)
    return admin ? [{ store, admin }] : []
  })
}

async function announce({ dataset: store, tasks }: FusekiAdmin, when: string, { log }: Gateway): Promise<void> {
  const found = await tasks()
  if (typeof found === 'string') log.warn({ store, problem: found }, '--compact: the store cannot be compacted')
  else log.info({ store, when }, 'the store will be compacted')
}
