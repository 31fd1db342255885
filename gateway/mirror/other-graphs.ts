// In charge of the graphs of a store that are no documents: they have no URLs of their own, and no history as long as nobody has
// written them through the gateway, so that nothing brings them back when the store is lost.
import { isFailure, type Problem } from '../problem.js'
import { select, selectBatches } from '../stores/select.js'
import { StoreBreak, type Call, type GraphStore } from '../stores/store.js'

export interface OtherGraphs {
  readonly count: number
  /** How many of them are under a base: by their names they were meant to be documents. */
  readonly unreachable: number
  /** The first of them, those under a base before others. */
  readonly graphs: readonly string[]
}

/** As a gateway found them when it had started. */
export interface KnownOtherGraphs extends OtherGraphs {
  /** An xsd:dateTime. */
  readonly at: string
}

const NAMED = 100
const NAMES = 'SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }'
/** True where the default graph has triples of its own, by its first ones: it may be the union of all graphs. */
const HAS_DEFAULT = `SELECT ?s WHERE { { SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 100 }
  FILTER NOT EXISTS { GRAPH ?g { ?s ?p ?o } } } LIMIT 1`

/** True where it has triples of its own. */
export async function hasDefaultGraph(store: Pick<GraphStore, 'query'>, call: Call): Promise<boolean | Problem> {
  const rows = await select(store, HAS_DEFAULT, ['s'], call)
  return isFailure(rows) ? rows : rows.length > 0
}

/**
 * Undefined where there are none.
 * @param isDocument of any application that has this store
 * @param bases of these applications
 */
export async function otherGraphsIn(
  store: Pick<GraphStore, 'query'>,
  isDocument: (graph: string) => boolean,
  bases: readonly string[],
  signal: AbortSignal | undefined,
): Promise<OtherGraphs | undefined | Problem> {
  const call = signal ? { signal } : {}
  const [under, elsewhere]: [string[], string[]] = [[], []]
  let [count, unreachable] = [0, 0]
  const hasDefault = await hasDefaultGraph(store, call)
  if (isFailure(hasDefault)) return hasDefault
  if (hasDefault) count = elsewhere.push('the default graph')
  try {
    const batches = await selectBatches(store, NAMES, ['g'], call)
    if (isFailure(batches)) return batches
    for await (const batch of batches) {
      for (const [graph] of batch) {
        if (!graph || isDocument(graph.value)) continue
        const isUnder = bases.some((base) => graph.value.startsWith(base))
        const list = isUnder ? under : elsewhere
        if (list.length < NAMED) list.push(graph.value)
        count++
        if (isUnder) unreachable++
      }
    }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  return count === 0 ? undefined : { count, unreachable, graphs: [...under, ...elsewhere].slice(0, NAMED) }
}

export const otherGraphsText = ({ count, unreachable }: OtherGraphs): string =>
  `Graphs of the store that are no documents: ${count}. They have no URLs of their own, and only those that were written through the gateway have a history.` +
  (unreachable === 0
    ? ''
    : ` Under the base: ${unreachable}. Their names are no URLs of documents, which are normalised and percent-encoded, end ` +
      'with a slash, and lead to no endpoint and to no other application. triplegate adopt --names --dry-run says which of them ' +
      'it would rename, with the references to them.')
