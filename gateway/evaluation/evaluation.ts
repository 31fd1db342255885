// In charge of work that a client or an ontology defines, done in threads with limits on time and memory: updates are read
// and run (PATCH), constraints are checked.
import type { Job, Limits, Reply, Validation } from './worker.js'
import { startThread, type Thread } from './thread.js'
import type { Patch } from '../sparql/patch.js'
import { problem, type Problem } from '../problem.js'
import type { DatasetDescription, QueryAnalysis, UpdateAnalysis } from '../sparql/analysis.js'

export type { Validation } from './worker.js'

/** Any of them may be `update.time` (over a limit), `server.overloaded`, `server.closing` or `internal`. */
export interface Evaluation {
  /** `analysePatch` with a time limit, off the main thread. */
  analyse(update: string, base: string): Promise<Patch | Problem>
  /** `analyseQuery` or `analyseUpdate` with a time limit, off the main thread. */
  analyseSparql(
    form: 'query' | 'update',
    text: string,
    base: string,
    dataset: DatasetDescription | undefined,
  ): Promise<QueryAnalysis | UpdateAnalysis | Problem>
  /**
   * The document after the update: N-Triples in no order, '' when nothing is left. `nTriples` must be canonical. Any
   * problem of `analyse`, `update.syntax` where only the run shows it, `content.too-large` for too large a result.
   */
  patch(nTriples: string, update: string, base: string): Promise<string | Problem>
  /**
   * SHACL. `shapes`: the ontologies as N-Triples, with a version that names exactly this text; `data`: the document.
   * `constraint.unusable` where the shapes cannot be evaluated, which must not let the document pass.
   */
  validate(input: { shapes: string; shapesVersion: string; data: string }): Promise<Validation | Problem>
  close(): Promise<void>
}

export interface EvaluationOptions {
  /** ms that one job may run. */
  readonly timeLimit?: number
  readonly workers?: number
  /** How many jobs may wait, and for how many ms. */
  readonly queue?: number
  readonly patience?: number
  readonly limits?: Partial<Limits>
}

interface Waiting {
  readonly job: Job
  settle(answer: Reply['answer']): void
}

const DEFAULT_LIMITS: Limits = { memory: 256 * 2 ** 20, growth: 16 * 2 ** 20 }
const OVERLOADED = problem('server.overloaded', 'Too many updates wait to be evaluated.', {
  fields: [['Retry-After', '1']],
})
const CLOSING = problem('server.closing', 'The server is closing.')

/** Starts the threads and keeps them warm. Jobs wait in order of arrival. */
export function openEvaluation(options: EvaluationOptions = {}): Evaluation {
  const { timeLimit = 5000, workers = 1, queue = 100, patience = 2 * timeLimit } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const waiting = new Set<Waiting>()
  const threads = new Set<Thread>()
  let closed = false
  let wake: (() => void)[] = []

  async function start(ended?: Thread): Promise<Thread> {
    if (ended) threads.delete(ended)
    const thread = await startThread(limits)
    if (closed) await thread.end(CLOSING)
    else threads.add(thread)
    return thread
  }

  /** One thread's work: the jobs in turn. A thread that has ended is replaced at once, so that the next job finds it warm. */
  async function serve(): Promise<void> {
    let thread = await start()
    while (!closed) {
      const [next] = waiting
      if (!next) {
        await new Promise<void>((resolve) => wake.push(resolve))
        continue
      }
      if (thread.ended()) thread = await start(thread)
      // Gone when it has waited too long meanwhile, or another thread has taken it.
      if (!waiting.delete(next)) continue
      next.settle(await thread.do(next.job, timeLimit))
      if (thread.ended()) thread = await start(thread)
    }
  }

  function send(job: Job): Promise<Reply['answer']> {
    if (closed) return Promise.resolve(CLOSING)
    if (waiting.size >= queue) return Promise.resolve(OVERLOADED)
    return new Promise((resolve) => {
      const entry: Waiting = {
        job,
        settle(answer) {
          clearTimeout(timer)
          resolve(answer)
        },
      }
      const timer = setTimeout(() => {
        if (waiting.delete(entry)) resolve(OVERLOADED)
      }, patience)
      waiting.add(entry)
      wakeAll()
    })
  }

  function wakeAll(): void {
    const sleepers = wake
    wake = []
    for (const awake of sleepers) awake()
  }

  const served = Promise.all(Array.from({ length: workers }, serve))
  return {
    analyse: (update, base) => send({ kind: 'analyse', update, base }) as Promise<Patch | Problem>,
    analyseSparql: (form, text, base, dataset) =>
      send({ kind: 'analyseSparql', form, text, base, dataset }) as Promise<QueryAnalysis | UpdateAnalysis | Problem>,
    patch: (nTriples, update, base) => send({ kind: 'patch', nTriples, update, base }) as Promise<string | Problem>,
    validate: (input) => send({ kind: 'validate', ...input }) as Promise<Validation | Problem>,
    async close() {
      closed = true
      for (const { settle } of waiting) settle(CLOSING)
      waiting.clear()
      wakeAll()
      await Promise.all([...threads].map((thread) => thread.end(CLOSING)))
      await served
    },
  }
}
