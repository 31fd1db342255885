// The embedded store's replica: an Oxigraph thread that follows the graphs, and is filled again if it has stopped.
import type { Engine, GraphText, StoreJob, Reply, StoreWork } from './embedded-worker.js'
import { startThread, type LimitedThread } from './limited-thread.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { givenUp } from './connection-slots.js'

/** The bytes of a query's results, or the graphs that an update changed. */
export interface Effects {
  readonly pieces: Uint8Array[]
  readonly changes: readonly GraphText[]
}

export interface Replica {
  /** Call it when the graph has changed. */
  changed(graph: string): void
  /** One call at a time. Works on a snapshot taken after the call; the caller applies the changes. */
  run(work: StoreWork, signal?: AbortSignal): Promise<Effects | Problem>
  close(): Promise<void>
}

// The size of a batch of changes, small enough to block neither thread for long.
const BATCH_GRAPHS = 500
const BATCH_LENGTH = 512 * 1024
// Oxigraph keeps replaced triples and becomes slow. So a new thread is filled after this many more graphs than it
// holds.
const WEAR = 1000
const CLOSED = problem('store.failed', 'The embedded triplestore is closed.')
const BROKEN = problem(
  'store.failed',
  'The embedded triplestore broke off: the query or update is nested too deeply, or needs too much memory.',
)

type Thread = LimitedThread<StoreJob, Reply>

/**
 * Starts nothing yet: the first work starts the thread and fills it. `timeLimit`: in ms, not counting the filling.
 * @param engine describes a new thread
 */
export function makeReplica(graphs: ReadonlyMap<string, string>, engine: () => Engine, timeLimit: number): Replica {
  /** The graphs whose changes the thread does not have. */
  const stale = new Set<string>()
  const limits = { time: timeLimit, tooLong: tooLong(timeLimit) }
  let thread: Thread | undefined
  let followed = 0
  let closed = false

  async function currentThread(): Promise<Thread> {
    if (thread && followed > 2 * graphs.size + WEAR) await thread.end(CLOSED)
    if (thread && !thread.ended()) return thread
    const fresh = (thread = await startOxigraph(engine()))
    for (const graph of graphs.keys()) stale.add(graph)
    followed = -graphs.size
    if (closed) await fresh.end(CLOSED)
    return fresh
  }

  /** The thread, and the last batch that it lacks: after that batch it has exactly the current graphs. */
  async function upToDate(signal?: AbortSignal): Promise<{ current: Thread; changed: GraphText[] } | Problem> {
    const current = await currentThread()
    for (;;) {
      if (signal?.aborted) return givenUp(signal)
      const changed = takeBatch(stale, graphs)
      followed += changed.length
      if (stale.size === 0) return { current, changed }
      const outcome = await current.do({ kind: 'follow', changed }, limits)
      if (isFailure(outcome)) return outcome
    }
  }

  return {
    changed: (graph) => void stale.add(graph),
    async run(work, signal) {
      const ready = await upToDate(signal)
      if (isFailure(ready)) return ready
      const replies = await ready.current.do({ ...work, changed: ready.changed }, { ...limits, signal })
      const effects = isFailure(replies) ? replies : effectsOf(replies, work)
      if (!isFailure(effects)) followed += effects.changes.length
      return effects
    },
    async close() {
      closed = true
      await thread?.end(CLOSED)
    },
  }
}

/** Takes a batch of changes for the thread from the stale graphs. */
function takeBatch(stale: Set<string>, graphs: ReadonlyMap<string, string>): GraphText[] {
  const changes: GraphText[] = []
  let length = 0
  for (const graph of stale) {
    if (changes.length >= BATCH_GRAPHS || length >= BATCH_LENGTH) break
    const text = graphs.get(graph) ?? ''
    stale.delete(graph)
    changes.push([graph, text])
    length += text.length
  }
  return changes
}

const startOxigraph = (engine: Engine): Promise<Thread> =>
  startThread({
    script: new URL('./embedded-worker.js', import.meta.url),
    data: engine,
    memory: engine.memory,
    broken: () => BROKEN,
  })

const tooLong = (timeLimit: number): Problem =>
  problem(
    'store.time',
    `The embedded triplestore took longer than the limit of ${timeLimit / 1000} s (--store-timeout), and was stopped.`,
  )

function effectsOf(replies: readonly Reply[], { kind }: StoreWork): Effects | Problem {
  const changes: GraphText[] = []
  for (const reply of replies) {
    // The text is at fault, since the store accepts all of SPARQL.
    if (reply.kind === 'failed' && kind === 'query')
      return problem('query.syntax', `The SPARQL query cannot be run: ${reply.reason}.`)
    if (reply.kind === 'failed') return problem('update.syntax', `The SPARQL update cannot be run: ${reply.reason}.`)
    if (reply.kind === 'unwritable') return reply.problem
    if (reply.kind === 'results') return { pieces: reply.pieces, changes }
    if (reply.kind === 'changes') for (const change of reply.changes) changes.push(change)
  }
  return { pieces: [], changes }
}
