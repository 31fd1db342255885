// `GET /metrics`: the state of the gateway in the text format of Prometheus. Values are read on demand; each request
// costs only one addition.
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { HistoryStatus } from '../../../versioning/history.js'
import type { Application, Dataspace, Gateway } from '../../gateway.js'

export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
}

export function makeMetrics(dataspaces: readonly Dataspace[], { answered, caches, watchdog, now }: Gateway): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Counter({
    name: 'triplegate_requests_total',
    help: 'Requests answered, by status.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      answered.forEach((count, status) => this.inc({ status }, count))
    },
  })
  new Gauge({
    name: 'triplegate_cache_bytes',
    help: 'Bytes of the caches that all applications share.',
    labelNames: ['cache'],
    registers: [registry],
    collect() {
      for (const [cache, { bytes }] of Object.entries(caches)) this.set({ cache }, bytes())
    },
  })
  addHolds(registry, watchdog)
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  for (const row of [...CACHE_GAUGES, ...historyGauges(now)]) addGauge(registry, applications, row)
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

/**
 * How long work has blocked the event loop (design 7). Quantiles of its delay are among the default metrics:
 * `nodejs_eventloop_lag_…`.
 */
function addHolds(registry: Registry, watchdog: Gateway['watchdog']): void {
  new Gauge({
    name: 'triplegate_event_loop_longest_hold_seconds',
    help: 'The longest time that the event loop was blocked, since the start and in the last minute.',
    labelNames: ['since'],
    registers: [registry],
    collect() {
      const { longest, lastMinute } = watchdog.holds()
      this.set({ since: 'start' }, longest)
      this.set({ since: 'minute' }, lastMinute)
    },
  })
  new Counter({
    name: 'triplegate_event_loop_holds_total',
    help: 'How often the event loop was blocked for more than 0.2 s; the log names each case.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(watchdog.holds().count)
    },
  })
}

type GaugeRow = readonly [name: string, help: string, value: (application: Application) => number | undefined]

/** A gauge with a value for each application that has one. */
function addGauge(registry: Registry, applications: readonly Application[], [name, help, value]: GaugeRow): void {
  new Gauge({
    name: `triplegate_${name}`,
    help,
    labelNames: ['application'],
    registers: [registry],
    collect() {
      this.reset()
      for (const application of applications) {
        const current = value(application)
        if (current !== undefined) this.set({ application: application.base }, current)
      }
    },
  })
}

const CACHE_GAUGES: readonly GaugeRow[] = [
  ['cache_documents_bytes', 'Bytes of cached documents.', ({ cache }) => cache.documents.bytes() + cache.facts.bytes()],
  ['cache_results_bytes', 'Bytes of cached query results.', ({ cache }) => cache.results.bytes()],
]

function historyGauges(now: () => number): GaugeRow[] {
  const age = (oldest: number | undefined): number => (oldest === undefined ? 0 : Math.max(0, (now() - oldest) / 1000))
  // prettier-ignore
  const rows: readonly (readonly [name: string, help: string, value: (status: HistoryStatus) => number])[] = [
    ['journal_entries', 'Writes that are not committed yet.', ({ depth }) => depth],
    ['journal_in_doubt', 'Writes whose outcome is unknown.', ({ inDoubt }) => inDoubt],
    ['journal_bytes', 'Bytes of the writes that are not committed yet.', ({ bytes }) => bytes],
    ['journal_oldest_seconds', 'Age of the oldest write that is not committed yet.', ({ oldest }) => age(oldest)],
    ['history_commits', 'Known commits of the repository.', ({ commits }) => commits],
    ['history_parked', '1 while commits wait for an operator to act.', ({ parked }) => (parked ? 1 : 0)],
    ['history_blocked_documents', 'Documents whose writes the repository refuses.', ({ blocked }) => blocked.length],
  ]
  return rows.map(([name, help, value]) => [name, help, ({ mirrored }) => mirrored && value(mirrored.history.status())])
}
