// The names of all graphs of a store, without reading their triples if the store has a list of them.
import { OWN_GRAPHS } from '../../policies/vocabulary.js'
import { isFailure, type Problem } from '../problem.js'
import { selectBatches } from './select.js'
import { StoreBreak, type Call, type GraphStore } from './store.js'

/** True for the gateway's own graphs: they are in no list and no copy of a dataset. */
export const isOwnGraph = (graph: string): boolean => graph.startsWith(OWN_GRAPHS)

/** SPARQL 1.1 §18.6: one solution for each named graph; stores may have empty ones. */
const LISTED = 'SELECT ?g WHERE { GRAPH ?g { } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }'
const FOUND = 'SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }'

/** Calls `take` with each name as it arrives. */
export async function eachGraph(
  store: Pick<GraphStore, 'query'>,
  call: Call,
  take: (graph: string) => void,
): Promise<undefined | Problem> {
  const listed = await each(store, LISTED, call, take)
  // Some stores evaluate an empty group differently: they give one solution without a name, or none.
  return listed === 'unlisted' ? ((await each(store, FOUND, call, take)) as undefined | Problem) : listed
}

async function each(
  store: Pick<GraphStore, 'query'>,
  query: string,
  call: Call,
  take: (graph: string) => void,
): Promise<undefined | 'unlisted' | Problem> {
  const batches = await selectBatches(store, query, ['g'], call)
  if (isFailure(batches)) return batches
  let isListed = query === FOUND
  try {
    for await (const batch of batches)
      for (const [graph] of batch) {
        if (!graph) return 'unlisted'
        isListed = true
        if (graph.termType === 'NamedNode' && !isOwnGraph(graph.value)) take(graph.value)
      }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  return isListed ? undefined : 'unlisted'
}
