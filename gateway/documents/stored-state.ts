// The stored states of documents as canonical N-Triples. Large ones are read and compared in a thread: that takes
// seconds, and requests are answered meanwhile (design 7).
import type { ReadingJob, ReadingReply } from '../evaluation/reading-worker.js'
import { stateIn, type StateForm } from '../evaluation/state.js'
import { openThreads } from '../evaluation/threads.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { areSame } from '../rdf/same-graph.js'
import { readMany } from '../stores/many-graphs.js'
import { makeSliceTurns } from '../stores/slices.js'
import type { GraphStore } from '../stores/store.js'

export interface States {
  /** The stored document in canonical N-Triples; undefined if it does not exist. */
  stored(store: GraphStore, document: string): Promise<string | undefined | Problem>
  /** The states of many documents in order, or their Git ids. Lets other work run in between. */
  each(store: GraphStore, documents: readonly string[], form: StateForm): AsyncGenerator<StoredState>
  /** Undefined for an empty graph. */
  canonical(nTriples: string): Promise<string | undefined | Problem>
  /** `areSame` of rdf/same-graph.ts. */
  areSame(a: string | undefined, b: string | undefined): Promise<boolean | Problem>
  close(): Promise<void>
}

export interface StoredState {
  readonly document: string
  readonly state: string | undefined | Problem
}

/** In characters: this much can be read within a few milliseconds. */
const SHORT = 64 * 1024
const MEMORY = 2 ** 30
/** In ms: more than the largest graph that is read whole needs. */
const TIME_LIMIT = 120_000
const TOO_LARGE = problem('store.too-large', 'The document is too large to be compared with its history.')
/** The thread does not work for a client. */
const ASKER = 'the gateway'

/** The thread is started when the first large state is read. */
export function openStates(): States {
  const settings = {
    script: new URL('../evaluation/reading-worker.js', import.meta.url),
    data: undefined,
    memory: MEMORY,
    broken: (outOfMemory: boolean) =>
      outOfMemory ? TOO_LARGE : problem('internal', 'The thread that reads states of documents stopped.'),
  }
  const limits = { workers: 1, timeLimit: TIME_LIMIT }
  const threads = openThreads<ReadingJob, ReadingReply>(settings, () => TOO_LARGE, limits)

  async function stateOf(nTriples: string, form: StateForm): Promise<string | undefined | Problem> {
    if (nTriples.length <= SHORT) return stateIn(nTriples, form)
    const state = (await threads.do(ASKER, { kind: 'state', nTriples, form })) as string | Problem
    return state === '' ? undefined : state
  }
  return {
    async stored(store, document) {
      const stored = await store.read(document)
      return stored === undefined || isFailure(stored) ? stored : stateOf(stored, 'text')
    },
    async *each(store, documents, form) {
      const turn = makeSliceTurns()
      for await (const [document, stored] of readMany(store, documents)) {
        const state = stored === undefined || isFailure(stored) ? stored : await stateOf(stored, form)
        yield { document, state }
        await turn()
      }
    },
    canonical: (nTriples) => stateOf(nTriples, 'text'),
    async areSame(a, b) {
      if (a === undefined || b === undefined || a === b || a.length + b.length <= SHORT) return areSame(a, b)
      const compared = await threads.do(ASKER, { kind: 'compare', a, b })
      return isFailure(compared) ? compared : compared === 'same'
    },
    close: threads.close,
  }
}
