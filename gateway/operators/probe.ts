// In charge of noticing writes behind the gateway: it asks each store at intervals for a summary of its graphs, and forgets
// the graphs that have changed.
import type { GraphVersions } from '../../cache/graph-versions.js'
import { everyWrite, underLocks } from '../documents/locks.js'
import { sharersOf, type Dataspace, type Gateway, type Member } from '../gateway.js'
import { forget } from './management.js'
import { isFailure, type Problem } from '../problem.js'
import { digestsOfAuthorizations } from '../rules/authorization-digests.js'
import type { GraphStore } from '../stores/store.js'
import { select } from '../stores/select.js'

// A row for each named graph: its number of triples, the length of their objects, and its latest date of change. A write that
// changes none of the three goes unnoticed until the cached answers are too old (`--cache-max-age`), unless it changes rules.
const QUESTION = `SELECT ?g (COUNT(*) AS ?triples) (SUM(STRLEN(STR(?o))) AS ?length) (MAX(?changed) AS ?latest) WHERE {
  GRAPH ?g { ?s ?p ?o } OPTIONAL { FILTER(?p = <http://purl.org/dc/terms/modified>) BIND(STR(?o) AS ?changed) } }
  GROUP BY ?g`
const LIMIT = 64 * 1024 * 1024
/** The number of changed graphs that a log line names. */
const NAMED = 10

/** A summary of each graph, by its name. */
type Looks = ReadonlyMap<string, string>

/** Of the authorizations that it has, the contents are compared. */
async function looksOf(store: GraphStore, sharers: readonly Member[]): Promise<Looks | Problem> {
  const rows = await select(store, QUESTION, ['g', 'triples', 'length', 'latest'], { maxBytes: LIMIT })
  if (isFailure(rows)) return rows
  const looks = new Map<string, string>()
  for (const [graph, ...look] of rows) {
    if (graph) looks.set(graph.value, look.map((term) => term?.value).join(' '))
  }
  for (const { application } of sharers) {
    if (application.kind !== 'admin') continue
    const digests = await digestsOfAuthorizations(store, application.base)
    if (isFailure(digests)) return digests
    for (const [graph, digest] of digests) looks.set(graph, `${looks.get(graph)} ${digest}`)
  }
  return looks
}

/** One look at a store, and the state of the gateway then. */
interface Look {
  readonly looks: Looks
  /** The version of the dataset before the store was asked. */
  readonly version: number
  /** The versions of graphs that this look has raised: the gateway has not written them. */
  readonly raised: ReadonlySet<number>
}

/** Looks every `interval` ms; the first time after one interval. */
export function startProbe(
  dataspaces: readonly Dataspace[],
  gateway: Pick<Gateway, 'webIds' | 'log' | 'locks'>,
  interval: number,
): { look(): Promise<void>; close(): void } {
  const last = new Map<GraphStore, Look>()

  async function lookAt(store: GraphStore): Promise<void> {
    const sharers = sharersOf(store, { dataspaces })
    const { base, cache } = sharers[0]!.application
    const version = cache.versions.dataset()
    const looks = await looksOf(store, sharers)
    if (isFailure(looks)) {
      gateway.log.warn({ base, store: store.name, problem: looks.detail }, 'the probe cannot read the store')
      return
    }
    const { changed, written } = await compared(sharers, last.get(store), looks, gateway)
    const raised = new Set<number>()
    if (changed.length > 0) {
      const about = { base, store: store.name, graphs: changed.slice(0, NAMED), count: changed.length }
      gateway.log.warn(about, 'the store has changed behind the gateway: clearing its caches')
      for (const { dataspace } of sharers) {
        await forget(dataspace, undefined, gateway)
        raised.add(cache.versions.dataset())
      }
    } else if (written.length > 0) {
      // A graph that the gateway has written may have been written behind it too: read it again.
      for (const graph of written) {
        cache.versions.changed(graph)
        gateway.webIds.forget(graph)
        raised.add(cache.versions.of(graph))
      }
      for (const {
        application: { kind, base },
        dataspace,
      } of sharers) {
        if (kind !== 'admin') continue
        dataspace.ontologies.changed(`${base}ontologies/`)
        await dataspace.access.reload()
      }
    }
    last.set(store, { looks, version, raised })
  }

  async function look(): Promise<void> {
    const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
    for (const store of new Set(applications.map(({ store }) => store))) await lookAt(store)
  }

  let timer: NodeJS.Timeout
  const again = (): void => {
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) => gateway.log.error({ err: error }, 'the probe has failed'))
        .finally(again)
    }, interval).unref()
  }
  again()
  return { look, close: () => clearTimeout(timer) }
}

/** The graphs that differ from the last look: `written` through the gateway since, or `changed` behind it. */
interface Differences {
  readonly changed: readonly string[]
  readonly written: readonly string[]
}

/** A write under way may be in the store already, and be known only when it ends: it is no change behind the gateway. */
async function compared(
  sharers: readonly Member[],
  before: Look | undefined,
  looks: Looks,
  gateway: Pick<Gateway, 'locks'>,
): Promise<Differences> {
  const { versions } = sharers[0]!.application.cache
  const differences = compare(before, looks, versions)
  if (differences.changed.length === 0) return differences
  const writes = sharers.map(({ application }) => everyWrite(application, 'exclusive'))
  const again = await underLocks(gateway, writes, () => Promise.resolve(compare(before, looks, versions)))
  return isFailure(again) ? differences : again
}

function compare(before: Look | undefined, looks: Looks, versions: GraphVersions): Differences {
  const changed: string[] = []
  const written: string[] = []
  if (!before) return { changed, written }
  for (const graph of new Set([...before.looks.keys(), ...looks.keys()])) {
    const version = versions.of(graph)
    if (version > before.version && !before.raised.has(version)) written.push(graph)
    else if (looks.get(graph) !== before.looks.get(graph)) changed.push(graph)
  }
  return { changed, written }
}
