// The graphs of a store that are not documents. They have no URLs, and no history unless they are written through the
// gateway, so nothing restores them if the store is lost.
import { uriOf } from '../../versioning/memento/time-map.js'
import { documentMeant, isMeantFor } from '../documents/misspelt-urls.js'
import { isFailure, type Problem } from '../problem.js'
import { eachGraph } from '../stores/graph-names.js'
import { select } from '../stores/select.js'
import { type Call, type GraphStore } from '../stores/store.js'

export interface OtherGraphs {
  readonly count: number
  /** How many of them are under a base, or would be with the other scheme: these were meant to be documents. */
  readonly unreachable: number
  /** How many of these `triplegate adopt --names` renames; undefined in a file of an earlier version. */
  readonly renamable?: number
  /** The first ones: alternately those that can be renamed and the others under a base, then those elsewhere. */
  readonly graphs: readonly string[]
}

/** The state that a gateway found after its start. */
export interface KnownOtherGraphs extends OtherGraphs {
  /** An xsd:dateTime. */
  readonly at: string
}

const NAMED = 100
/** True if the default graph has its own triples, judging by its first ones: it may be the union of all graphs. */
const HAS_DEFAULT = `SELECT ?s WHERE { { SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 100 }
  FILTER NOT EXISTS { GRAPH ?g { ?s ?p ?o } } } LIMIT 1`

/** True if the default graph has its own triples. */
export async function hasDefaultGraph(store: Pick<GraphStore, 'query'>, call: Call): Promise<boolean | Problem> {
  const rows = await select(store, HAS_DEFAULT, ['s'], call)
  return isFailure(rows) ? rows : rows.length > 0
}

/**
 * Undefined if there are none.
 * @param isDocument true if a graph is a document of an application with this store
 * @param bases of these applications
 * @param mayBecome true if a graph may get this name
 */
export async function otherGraphsIn(
  store: Pick<GraphStore, 'query'>,
  isDocument: (graph: string) => boolean,
  bases: readonly string[],
  signal: AbortSignal | undefined,
  mayBecome = isDocument,
): Promise<OtherGraphs | undefined | Problem> {
  const call = signal ? { signal } : {}
  const [almost, under, elsewhere]: [string[], string[], string[]] = [[], [], []]
  let [count, unreachable, renamable] = [0, 0, 0]
  const hasDefault = await hasDefaultGraph(store, call)
  if (isFailure(hasDefault)) return hasDefault
  if (hasDefault) count = elsewhere.push('the default graph')
  const failed = await eachGraph(store, call, (graph) => {
    if (isDocument(graph)) return
    const isUnder = bases.some((base) => isMeantFor(graph, base))
    const meant = bases.map((base) => documentMeant(graph, base, mayBecome)).find((name) => name !== undefined)
    // If only the spelling differs (uriOf), the URL already means the graph.
    const isAlmost = meant !== undefined && meant !== uriOf(graph)
    const list = isAlmost ? almost : isUnder ? under : elsewhere
    if (list.length < NAMED) list.push(graph)
    count++
    if (isUnder) unreachable++
    if (isAlmost) renamable++
  })
  if (failed) return failed
  const inTurns = Array.from({ length: NAMED }, (_, i) => [almost[i], under[i]]).flat()
  const graphs = [...inTurns, ...elsewhere].filter((graph) => graph !== undefined).slice(0, NAMED)
  return count === 0 ? undefined : { count, unreachable, renamable, graphs }
}

/** Says how many graphs are not documents, and what to do about those under the base. */
export const otherGraphsText = ({ count, unreachable, renamable = 0 }: OtherGraphs): string =>
  [
    `Graphs of the store that are not documents: ${count}.`,
    'They have no URLs of their own, and a history only of writes through the gateway.',
    unreachable > 0 && `Under the base: ${unreachable}.`,
    renamable > 0 &&
      `triplegate adopt --names renames ${renamable} of these: their names have no slash at the end, are not normalised, or have http in place of https.`,
    unreachable > renamable &&
      `For ${unreachable - renamable} give new names with triplegate adopt --rename FROM=TO: their names cannot be URLs of documents.`,
    unreachable > 0 && '--dry-run shows what would change. See docs/fuseki.md#make-documents-of-other-graphs.',
  ]
    .filter((sentence) => sentence !== false)
    .join(' ')
