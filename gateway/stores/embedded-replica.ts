// In charge of the embedded store's replica: an Oxigraph thread that follows the graphs, and is filled again where it ended.
import type { GraphText, Work } from './embedded-worker.js'
import { startThread, type Outcome, type Thread } from './embedded-thread.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { givenUp } from './turns.js'

export interface Replica {
  /** The graph is not any more what it was. */
  changed(graph: string): void
  /** One at a time. The work is done on exactly the graphs of a moment after the call; its own changes are the caller's. */
  run(work: Work, signal?: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

// What a thread takes over at once: so little that neither side is held up by it.
const BATCH_GRAPHS = 500
const BATCH_LENGTH = 512 * 1024
// Oxigraph keeps what is replaced, and slows down with it: after so many graphs more than it holds, a fresh one is filled.
const WEAR = 1000
const CLOSED = problem('store.failed', 'The embedded triplestore is closed.')

/** Starts nothing yet: the thread is started and filled for the first work. `timeLimit`: ms, without the filling. */
export function makeReplica(graphs: ReadonlyMap<string, string>, memory: number, timeLimit: number): Replica {
  /** The graphs that the thread does not have as they are. */
  const stale = new Set<string>()
  let thread: Thread | undefined
  let followed = 0
  let closed = false

  /** A batch of what the replica has to take over. */
  function nextChanges(): GraphText[] {
    const changes: GraphText[] = []
    let length = 0
    for (const graph of stale) {
      if (changes.length >= BATCH_GRAPHS || length >= BATCH_LENGTH) break
      const text = graphs.get(graph) ?? ''
      stale.delete(graph)
      changes.push([graph, text])
      length += text.length
    }
    followed += changes.length
    return changes
  }

  async function currentThread(): Promise<Thread> {
    if (thread && followed > 2 * graphs.size + WEAR) await thread.end(CLOSED)
    if (thread && !thread.ended()) return thread
    const fresh = (thread = await startThread(memory))
    for (const graph of graphs.keys()) stale.add(graph)
    followed = -graphs.size
    if (closed) await fresh.end(CLOSED)
    return fresh
  }

  /** The thread, and the last batch that it lacks: with that it has exactly the graphs of now. */
  async function upToDate(signal?: AbortSignal): Promise<{ current: Thread; changed: GraphText[] } | Problem> {
    const current = await currentThread()
    for (;;) {
      if (signal?.aborted) return givenUp(signal)
      const changed = nextChanges()
      if (stale.size === 0) return { current, changed }
      const outcome = await current.do({ kind: 'follow', changed }, timeLimit)
      if (isFailure(outcome)) return outcome
    }
  }

  return {
    changed: (graph) => void stale.add(graph),
    async run(work, signal) {
      const ready = await upToDate(signal)
      if (isFailure(ready)) return ready
      const outcome = await ready.current.do({ ...work, changed: ready.changed }, timeLimit, signal)
      if (!isFailure(outcome)) followed += outcome.changes.length
      return outcome
    },
    async close() {
      closed = true
      await thread?.end(CLOSED)
    },
  }
}
