// Finds out whether a store runs a request with several operations as one transaction: if the last operation fails, the
// ones before must leave nothing. It writes only into the graph of the positions, and removes its triples again.
import { isFailure, type Problem } from '../problem.js'
import { fencedUpdate, LOG_GRAPH, positionQuery, setPosition } from './fenced-update.js'
import { select } from './select.js'
import type { Call, GraphStore } from './store.js'

/** Operations that fail while they run: no store has this source, nor this graph. */
const FAILING = [
  `LOAD <${LOG_GRAPH}:nothing> INTO GRAPH <${LOG_GRAPH}>`,
  `MOVE <${LOG_GRAPH}:nothing> TO <${LOG_GRAPH}>`,
]

/**
 * `whole`: a request takes effect completely or not at all, and each operation sees the effects of those before;
 * `part`: a request that fails leaves the effects of its first operations; `unclear`: the store accepts even the
 * operations in FAILING.
 * @param log an IRI that no log has
 */
export async function transactionsOf(
  store: Pick<GraphStore, 'update' | 'query'>,
  log: string,
  call: Call = {},
): Promise<'whole' | 'part' | 'unclear' | Problem> {
  const found = await tried(store, log, call)
  const left = await store.update(`DELETE WHERE { GRAPH <${LOG_GRAPH}> { <${log}> ?p ?o } }`, call)
  return isFailure(found) ? found : (left ?? found)
}

async function tried(
  store: Pick<GraphStore, 'update' | 'query'>,
  log: string,
  call: Call,
): Promise<'whole' | 'part' | 'unclear' | Problem> {
  const position = async (): Promise<string | undefined | Problem> => {
    const rows = await select(store, positionQuery(log), ['at', 'turn'], call)
    return isFailure(rows) ? rows : rows.map(([at]) => at?.value).join(' ')
  }
  const refused = await store.update(setPosition(log, 1, 'a'), call)
  if (refused) return refused
  let failures = 0
  for (const failing of FAILING) {
    const update = fencedUpdate({ log, turn: 'a', next: 'b', at: 2 }, [])
    if (isFailure(update)) return update
    // A failure is expected here. If the store is gone, the next query fails too.
    const failed = await store.update(`${update} ;\n${failing}`, call)
    const at = await position()
    if (isFailure(at)) return at
    if (failed && at !== '1') return 'part'
    if (failed) failures++
    const back = await store.update(setPosition(log, 1, 'a'), call)
    if (back) return back
  }
  // The first request has the expected turn.
  for (const [at, turn] of [
    [2, 'a'],
    [3, 'a'],
    [4, 'c'],
  ] as const) {
    const update = fencedUpdate({ log, turn, next: 'b', at }, [])
    const failed = isFailure(update) ? update : await store.update(update, call)
    if (failed) return failed
  }
  const at = await position()
  if (isFailure(at)) return at
  return at === '2' && failures > 0 ? 'whole' : 'unclear'
}
