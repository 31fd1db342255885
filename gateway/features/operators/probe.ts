// Detects writes behind the gateway: asks each store at intervals for a summary of its graphs, and clears the caches
// for those that have changed.
import { randomBytes } from 'node:crypto'
import type { GraphVersions } from '../../../cache/graph-versions.js'
import { everyWrite, underLocks } from '../../documents/locks.js'
import { sharersOf, type Dataspace, type Gateway, type Member } from '../../gateway.js'
import { forget } from '../../methods/changed-graphs.js'
import { isFailure, type Problem } from '../../problem.js'
import { digestsOfAuthorizations } from '../../rules/authorization-lines.js'
import { DEFAULT_GRAPH } from '../../sparql/language/graph-sets.js'
import { isOwnGraph } from '../../stores/graph-names.js'
import type { GraphStore } from '../../stores/store.js'
import { select } from '../../stores/select.js'

// One row for each graph: its number of triples, the length of their objects, and its latest date of change. A write
// that changes none of them is missed until cached answers are too old (`--cache-max-age`), unless it changes rules.
const QUESTION = `SELECT ?g (COUNT(*) AS ?triples) (SUM(COALESCE(STRLEN(STR(?o)), 0)) AS ?length) (MAX(?changed) AS ?latest)
  WHERE { { GRAPH ?g { ?s ?p ?o } } UNION { ?s ?p ?o }
    BIND(IF(?p = <http://purl.org/dc/terms/modified>, STR(?o), "") AS ?changed) }
  GROUP BY ?g`
const LIMIT = 64 * 1024 * 1024
const DIGEST_KEY = randomBytes(16).toString('hex')
/** The most changed graphs that a log line names. */
const NAMED = 10

/** A summary of each graph, by its name. */
type Looks = ReadonlyMap<string, string>

/** For authorizations, the content itself is compared. */
async function looksOf(store: GraphStore, sharers: readonly Member[]): Promise<Looks | Problem> {
  const rows = await select(store, QUESTION, ['g', 'triples', 'length', 'latest'], { maxBytes: LIMIT })
  if (isFailure(rows)) return rows
  const looks = new Map<string, string>()
  for (const [graph, ...look] of rows) {
    if (graph && isOwnGraph(graph.value)) continue
    looks.set(graph?.value ?? DEFAULT_GRAPH, look.map((term) => term?.value).join(' '))
  }
  for (const { application } of sharers) {
    if (application.kind !== 'admin') continue
    const digests = await digestsOfAuthorizations(store, { adminBase: application.base, digestKey: DIGEST_KEY })
    if (isFailure(digests)) return digests
    for (const [graph, digest] of digests) looks.set(graph, `${looks.get(graph)} ${digest}`)
  }
  return looks
}

/** The result of one probe of a store, and the state of the gateway at that time. */
interface Look {
  readonly looks: Looks
  /** The version of the dataset before the store was queried. */
  readonly version: number
  /** Versions of graphs that this probe has raised itself; no write through the gateway has. */
  readonly raised: ReadonlySet<number>
}

/** Probes immediately, then every `interval` ms. */
export function startProbe(
  dataspaces: readonly Dataspace[],
  gateway: Pick<Gateway, 'webIds' | 'log' | 'locks'>,
  interval: number,
): { look(): Promise<void>; close(): void } {
  const last = new Map<GraphStore, Look>()
  const stores = new Set(dataspaces.flatMap(({ endUser, admin }) => [endUser.store, admin.store]))
  let looking = Promise.resolve()
  // One probe at a time: each is compared with the one before.
  const look = (): Promise<void> => {
    const looked = looking.then(async () => {
      for (const store of stores) {
        const found = await lookAt(store, sharersOf(store, { dataspaces }), last.get(store), gateway)
        if (found) last.set(store, found)
      }
    })
    looking = looked.catch(() => undefined)
    return looked
  }

  let timer: NodeJS.Timeout
  let closed = false
  const again = (): void => {
    look()
      .catch((error: unknown) => gateway.log.error({ err: error }, 'the probe failed'))
      .finally(() => {
        if (!closed) timer = setTimeout(again, interval).unref()
      })
  }
  again()
  return {
    look,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** Undefined if the store cannot be read. */
async function lookAt(
  store: GraphStore,
  sharers: readonly Member[],
  before: Look | undefined,
  gateway: Pick<Gateway, 'webIds' | 'log' | 'locks'>,
): Promise<Look | undefined> {
  const { base, cache } = sharers[0]!.application
  const { versions } = cache
  const version = versions.dataset()
  const looks = await looksOf(store, sharers)
  if (isFailure(looks)) {
    gateway.log.warn({ base, store: store.name, problem: looks.detail }, 'the probe cannot read the store')
    return undefined
  }
  const { changed, written } = before ? await compared(sharers, before, looks, gateway) : NOTHING_KNOWN
  if (changed.length > 0) {
    const names = changed.slice(0, NAMED).map((graph) => (graph === DEFAULT_GRAPH ? 'the default graph' : graph))
    const about = { base, store: store.name, graphs: names, count: changed.length }
    gateway.log.warn(about, 'the store was changed behind the gateway: clearing its caches')
  }
  // The probe may or may not have seen these writes, so they count as written at the next probe too.
  const late = versions.since(version)
  const raised = new Set<number>()
  // Answers cached before the first probe may already be outdated.
  if (!before || changed.length > 0) {
    const forgotten = [...new Set(sharers.map(({ dataspace }) => dataspace))].map((dataspace) =>
      forget(dataspace, undefined, gateway),
    )
    if (late) raised.add(versions.dataset())
    for (const graph of late ?? []) versions.changed(graph)
    await Promise.all(forgotten)
  } else if (written.length > 0) {
    readAgain(written, versions, gateway, late && new Set(late), raised)
    for (const { application, dataspace } of sharers) {
      if (application.kind !== 'admin') continue
      dataspace.ontologies.changed(`${application.base}ontologies/`)
      await dataspace.access.reload()
    }
  }
  return { looks, version, raised }
}

/** Graphs written through the gateway may also have been written behind it. */
function readAgain(
  written: readonly string[],
  versions: GraphVersions,
  { webIds }: Pick<Gateway, 'webIds'>,
  late: ReadonlySet<string> | undefined,
  raised: Set<number>,
): void {
  for (const graph of written) {
    versions.changed(graph)
    webIds.forget(graph)
    if (late && !late.has(graph)) raised.add(versions.of(graph))
  }
  // The default graph may be the union of all graphs.
  if (late?.size === 0) raised.add(versions.dataset())
}

/** Graphs that differ from the last probe: `written` through the gateway since then, or `changed` behind it. */
interface Differences {
  readonly changed: readonly string[]
  readonly written: readonly string[]
}

const NOTHING_KNOWN: Differences = { changed: [], written: [] }

/** A running write may already be in the store although it has not ended. It is not a change behind the gateway. */
async function compared(
  sharers: readonly Member[],
  before: Look,
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

function compare(before: Look, looks: Looks, versions: GraphVersions): Differences {
  const changed: string[] = []
  const written: string[] = []
  for (const graph of new Set([...before.looks.keys(), ...looks.keys()])) {
    // The default graph may be the union of all graphs: then every write changes it.
    const version = graph === DEFAULT_GRAPH ? versions.dataset() : versions.of(graph)
    if (version > before.version && !before.raised.has(version)) written.push(graph)
    else if (looks.get(graph) !== before.looks.get(graph)) changed.push(graph)
  }
  return { changed, written }
}
